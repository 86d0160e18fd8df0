// The guide of the demo server. Each step needs one click: a call that the user cancels, and a question that the server
// withdraws. The guide is shown only while the demo is the only server, so that it bothers nobody later.

import { h, replace, setText, show } from '../elements/dom.js';
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
      'This call takes a minute. Press Cancel beside it: the server is told at once, with a reason if you give one.',
    ),
    button: t('Run a Slow Tool'),
    testid: 'demo-slow',
    tool: 'sleep',
    given: { seconds: 60, steps: 60 },
    shows: ({ outcome, about }) => outcome === 'cancelled' && about.tool === 'sleep',
    seen: t('Seen: the call ended, and the server was told.'),
  },
  {
    title: t('2. See a question withdrawn'),
    text: t(
      'The server asks you something. Do not answer: after eight seconds it takes the question back, and the card says why.',
    ),
    button: t('Let the Server Ask'),
    testid: 'demo-ask',
    tool: 'ask_then_withdraw',
    given: { after_ms: 8_000, reason: t('the demo has no more use for an answer') },
    shows: ({ outcome }) => outcome === 'withdrawn',
    seen: t('Seen: the question went, and nothing was sent.'),
  },
];

export function demoGuide(page: Page): { element: HTMLElement; update: () => void; ended: () => void } {
  const { surface, state, call, announce } = page;
  const problem = h('p', { class: 'problem', role: 'alert' });
  const rows = steps.map((step) => {
    const seen = h('p', { class: 'seen', hidden: true, dataset: { testid: `${step.testid}-seen` } });
    replace(seen, icon('check'), h('span', { text: step.seen }));
    const button = h('button', {
      text: step.button,
      dataset: { testid: step.testid },
      onclick: () => run(step),
    });
    const row = h('li', {}, h('h4', { text: step.title }), h('p', { text: step.text }), seen, button);
    return { step, seen, row };
  });
  const element = h(
    'div',
    { class: 'begin', role: 'group', hidden: true, dataset: { testid: 'demo-guide' } },
    h('h3', { text: t('The demo server') }),
    h('ol', { class: 'ways' }, ...rows.map(({ row }) => row)),
    problem,
    h('div', { class: 'actions' }, leave()),
  );

  async function run({ tool, given }: Step) {
    setText(problem, '');
    const requestId = crypto.randomUUID();
    const argumentsJson = JSON.stringify(given);
    const { error } = await call('CallTool', { requestId, server: surface.demo?.server ?? '', tool, argumentsJson });
    // A call that has begun shows its end in the history. To be cancelled is its purpose, so that is no problem.
    const began = state.history.some((ended) => ended.requestId === requestId);
    setText(problem, began ? '' : visible(error?.message));
  }

  function leave() {
    const text = t('Remove the demo server');
    const server = surface.demo?.server ?? '';
    return (
      commandLink(surface, 'mcphub.removeDemoServer', [], text)
      ?? h('button', {
        class: 'link',
        text,
        dataset: { testid: 'remove-demo' },
        onclick: async () => {
          const { error } = await call('RemoveServer', { server });
          setText(problem, visible(error?.message));
        },
      })
    );
  }

  return {
    element,
    update: () => {
      const servers = [...state.servers.values()];
      show(element, servers.length === 1 && servers.every((server) => isDemo(surface, server)));
    },
    ended: () => {
      if (element.hidden) return;
      for (const { step, seen } of rows) {
        const found = state.history.some((ended) => ended.about.server === surface.demo?.server && step.shows(ended));
        if (found && seen.hidden) announce(step.seen);
        show(seen, found);
      }
    },
  };
}
