// The guide of the demo server. Each step needs one click: a call that the user cancels, and a question that the server
// withdraws. The guide is shown only while the demo is the only server, so that it bothers nobody later.

import { h, setText, show } from '../elements/dom.js';
import { icon } from '../elements/icon.js';
import { commandLink } from '../surface.js';
import { visible } from '../words/text.js';
import { isDemo } from './demo.js';
import { t } from '../words/t.js';
import type { Ended } from '../hub/ended.js';
import type { Page } from '../page.js';

export interface Step {
  title: string;
  /** says what to do, and what to look at */
  text: string;
  button: string;
  testid: string;
  tool: string;
  given: Record<string, unknown>;
  /** reports whether an ended request shows that the step was done */
  shows: (ended: Ended) => boolean;
  seen: string;
}

const steps: Step[] = [
  {
    title: t('1. Cancel a call'),
    text: t(
      'This call takes a minute. Select Cancel next to it. The server is told at once, with any reason you give.',
    ),
    button: t('Run a slow tool'),
    testid: 'demo-slow',
    tool: 'sleep',
    given: { seconds: 60, steps: 60 },
    shows: ({ outcome, about }) => outcome === 'cancelled' && about.tool === 'sleep',
    seen: t('Done: the call ended, and the server was told.'),
  },
  {
    title: t('2. See a question withdrawn'),
    text: t(
      'The server asks you something. Do not answer. After eight seconds it withdraws the question, and the card says why.',
    ),
    button: t('Let the server ask'),
    testid: 'demo-ask',
    tool: 'ask_then_withdraw',
    given: { after_ms: 8_000, reason: t('the demo has no more use for an answer') },
    shows: ({ outcome }) => outcome === 'withdrawn',
    seen: t('Done: the question was withdrawn, and nothing was sent.'),
  },
];

export const demoGuide = (page: Page): { element: HTMLElement; update: () => void; ended: () => void } =>
  new DemoGuide(page);

class DemoGuide {
  readonly element: HTMLElement;
  readonly #page: Page;
  readonly #problem = h('p', { class: 'problem', role: 'alert' });
  /** The notes that say that a step was done. */
  readonly #seen: Map<Step, HTMLElement>;

  constructor(page: Page) {
    this.#page = page;
    this.#seen = new Map(steps.map((step) => [step, seenNote(step)]));
    const rows = [...this.#seen].map(([step, seen]) => {
      const button = h('button', {
        text: step.button,
        dataset: { testid: step.testid },
        onclick: () => void this.#run(step),
      });
      return h('li', {}, h('h4', { text: step.title }), h('p', { text: step.text }), seen, button);
    });
    this.element = h(
      'div',
      { class: 'begin', role: 'group', hidden: true, dataset: { testid: 'demo-guide' } },
      h('h3', { text: t('The demo server') }),
      h('ol', { class: 'ways' }, ...rows),
      this.#problem,
      h('div', { class: 'actions' }, this.#leave()),
    );
  }

  /** Is called when the servers have changed. */
  update() {
    const { surface, state } = this.#page;
    const servers = [...state.servers.values()];
    show(this.element, servers.length === 1 && servers.every((server) => isDemo(surface, server)));
  }

  /** Is called when requests have ended. */
  ended() {
    if (this.element.hidden) return;
    for (const [step, seen] of this.#seen) {
      const found = this.#page.state.history.some((one) => one.about.server === this.#server && step.shows(one));
      if (found && seen.hidden) this.#page.announce(step.seen);
      show(seen, found);
    }
  }

  get #server() {
    return this.#page.surface.demo?.server ?? '';
  }

  async #run({ tool, given }: Step) {
    const { call, state } = this.#page;
    setText(this.#problem, '');
    const requestId = crypto.randomUUID();
    const argumentsJson = JSON.stringify(given);
    const { error } = await call('CallTool', { requestId, server: this.#server, tool, argumentsJson });
    // A call that has begun shows its end in the history. To be cancelled is its purpose, so that is no problem.
    const began = state.history.some((ended) => ended.requestId === requestId);
    setText(this.#problem, began ? '' : visible(error?.message));
  }

  /** Returns what removes the demo server: the command of an editor, or a button. */
  #leave() {
    const { surface, call } = this.#page;
    const text = t('Remove the demo server');
    const remove = async () => {
      const { error } = await call('RemoveServer', { server: this.#server });
      setText(this.#problem, visible(error?.message));
    };
    return (
      commandLink(surface, 'mcphub.removeDemoServer', [], text)
      ?? h('button', { class: 'link', text, dataset: { testid: 'remove-demo' }, onclick: remove })
    );
  }
}

const seenNote = ({ testid, seen }: Step) =>
  h(
    'p',
    { class: 'seen', hidden: true, dataset: { testid: `${testid}-seen` } },
    icon('check'),
    h('span', { text: seen }),
  );
