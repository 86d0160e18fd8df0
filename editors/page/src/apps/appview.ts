// One open view: the two frames that isolate it, the texts that it shows to the person, and how it is closed. This
// file, and the files that only it imports, are loaded when somebody opens a view.

import { h, replace, setText, show } from '../elements/dom.js';
import { nativeParse } from '../words/jsontext.js';
import { readPart, readResult } from '../results/read.js';
import { originWord, shortName, visible } from '../words/text.js';
import { callTool, mostResult, readResource, ToolLists, whyUnread } from './calls.js';
import { openOuter } from './outerframe.js';
import { outside, policyOf } from './policy.js';
import { readView } from './resource.js';
import { button, ViewAsks } from './viewasks.js';
import { ViewFrame } from './viewframe.js';
import { t } from '../words/t.js';
import type { Page, ViewOf } from '../page.js';
import type { Ended } from '../hub/ended.js';
import type { Asked, DisplayMode } from './bridge.js';
import type { Resource } from './resource.js';
import type { Changed } from '../hub/state.js';
import type { Moves } from './viewasks.js';

const mostArguments = 4 << 20;
const mostLines = 100;

/** What the page does for a view. */
export interface Around {
  /** is called after the view was closed; message: why, if nobody here closed it */
  gone: (message?: string) => void;
  /** makes an element fill the page; without one, the view leaves the full page */
  fill: (whole?: HTMLElement) => void;
  moves: Moves;
}

export class AppView {
  readonly element: HTMLElement;
  readonly #page: Page;
  /** The call that the view is of. */
  readonly #of: ViewOf;
  readonly #around: Around;
  readonly #about: string;
  readonly #status = h('p', { class: 'muted', role: 'status', text: t('Reading the view…') });
  readonly #problem = h('p', { class: 'problem', role: 'alert' });
  readonly #place = h('div', { class: 'view-frame' });
  readonly #said = h('div', { class: 'view-said' });
  readonly #asks: ViewAsks;
  readonly #grow: HTMLButtonElement;
  readonly #tools: ToolLists;
  /** Stops the requests that read something for the view. */
  readonly #stop = new AbortController();
  #frame: ViewFrame | undefined;
  #over = false;
  /** The view was told the end of the call, or is being told it. */
  #told = false;

  constructor(page: Page, of: ViewOf, around: Around) {
    const name = shortName(of.title || of.tool);
    this.#page = page;
    this.#of = of;
    this.#around = around;
    this.#about = t('{0} of {1}', name, shortName(of.server));
    this.#asks = new ViewAsks(this.#about, around.moves);
    this.#tools = new ToolLists(page, of);
    this.#grow = button(t('Fill the page'), t('Fill the page with {0}', this.#about), 'view-grow', () =>
      this.#frame?.bridge.show(this.#frame.bridge.mode === 'inline' ? 'fullscreen' : 'inline'),
    );
    show(this.#grow, false);
    this.element = this.#draw(name);
    void this.#start();
  }

  focus() {
    this.element.focus();
  }

  /** Makes the view leave the full page. */
  shrink() {
    this.#frame?.bridge.show('inline');
  }

  /** Is called after changes of the state. Reports the end of the call to the view, once. */
  painted(changed?: Changed) {
    const { state } = this.#page;
    const { server, requestId } = this.#of;
    if (changed?.tools.has(server)) this.#tools.forget();
    if (changed && !changed.requestList && !changed.history) return;
    if (!this.#frame || this.#told || state.requests.has(requestId)) return;
    const entry = state.history.findLast((one) => one.requestId === requestId);
    if (!entry) return;
    this.#told = true;
    void this.#tellEnd(entry);
  }

  #draw(name: string) {
    const server = shortName(this.#of.server);
    const close = button(
      t('Close'),
      t('Close the view of {0}', this.#about),
      'view-close',
      () => void this.#end(t('The user closed it.')),
    );
    const title = h(
      'div',
      { class: 'line' },
      h('span', { class: 'name', text: name }),
      h('span', { class: 'of', text: server }),
    );
    return h(
      'article',
      {
        'class': 'view-of-call',
        'tabindex': -1,
        'aria-label': t('View of {0}', this.#about),
        'dataset': { testid: `view-${this.#of.requestId}` },
        'onkeydown': (event: KeyboardEvent) => {
          if (event.key === 'Escape' && this.#frame?.bridge.mode === 'fullscreen') this.shrink();
        },
      },
      h('div', { class: 'row-head' }, title, h('span', { class: 'actions' }, this.#grow, close)),
      this.#status,
      this.#problem,
      this.#asks.element,
      this.#place,
      this.#said,
    );
  }

  async #start() {
    try {
      const resource = await readView(this.#page, this.#of, this.#stop.signal);
      if (this.#over) return;
      const policy = policyOf(resource.named);
      setText(this.#status, reaches(resource, shortName(this.#of.server)));
      if (outside(resource.named).length === 0) await this.#open(resource, policy);
      else
        this.#asks.consent(() => {
          this.#open(resource, policy).catch((error: unknown) => this.#fail(error));
          this.focus();
        });
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown) {
    if (this.#over) return;
    show(this.#status, false);
    setText(this.#problem, visible(whyUnread(error, t('The view could not be read.'))));
  }

  async #open(resource: Resource, policy: string) {
    const { surface, state } = this.#page;
    const looks = { title: t('View of {0}', this.#about), bordered: resource.border };
    const outer = await openOuter(this.#place, surface.apps ?? [], policy, looks, this.#stop.signal);
    if (this.#over) {
      outer.close();
      return;
    }
    this.#frame = new ViewFrame(outer, this.#place, {
      about: this.#about,
      resource,
      definitionJson: this.#of.definitionJson,
      hubVersion: state.hubVersion,
      asked: this.#asked(),
    });
    show(this.#grow, true);
    this.painted();
    void this.#give();
  }

  #asked(): Omit<Asked, 'resized'> {
    return {
      callTool: (params, signal) => callTool(this.#page, this.#of, params, signal),
      readResource: (params, signal) => readResource(this.#page, this.#of, params, signal),
      listTools: () => this.#tools.get(),
      openLink: (url) => this.#openLink(url),
      message: (text) => this.#tell(t('For the chat'), text),
      modelContext: (text) => this.#tell(t('For the model'), text),
      log: (level, text) => this.#tell(level === '' ? t('Log') : t('Log, {0}', level), text),
      displayMode: (mode) => this.#displayMode(mode),
      ended: (reason) => void this.#end(reason === '' ? t('The view has asked for it.') : reason, reason),
    };
  }

  async #openLink(url: string) {
    const answer = this.#asks.link(url);
    if (!answer) return false;
    this.#page.announce(t('The view of {0} wants to open a page.', this.#about));
    return answer;
  }

  #displayMode(mode: DisplayMode) {
    if (this.#over) return;
    const whole = mode === 'fullscreen';
    this.element.classList.toggle('whole', whole);
    this.#around.fill(whole ? this.element : undefined);
    const words = whole ? t('Back to the page') : t('Fill the page');
    setText(this.#grow, words);
    this.#grow.setAttribute('aria-label', `${words}: ${this.#about}`);
  }

  /** Gives the view the arguments of the call. */
  async #give() {
    const { call } = this.#page;
    try {
      const text = await readPart(call, this.#of.requestId, 'REQUEST_PART_ARGUMENTS', mostArguments);
      this.#frame?.bridge.given((text === '' ? {} : nativeParse(text)) as Record<string, unknown>);
    } catch (error) {
      this.#tell(t('The view has no arguments'), whyUnread(error, t('They could not be read.')));
      this.#frame?.bridge.given(undefined);
    }
  }

  async #tellEnd(entry: Ended) {
    const bridge = this.#frame?.bridge;
    const why = whyNone(entry);
    try {
      if (why === undefined) bridge?.result(nativeParse(await readResult(this.#page, entry, mostResult)));
      else bridge?.cancelled(why);
    } catch (error) {
      const unread = whyUnread(error, t('The result is no longer kept.'));
      this.#tell(t('The view has no result'), unread);
      bridge?.cancelled(unread);
    }
  }

  /** Shows what the view has said to others than its server, the latest first. */
  #tell(whom: string, text: string) {
    if (text === '') return;
    const by = h('span', { class: 'of', text: `${visible(whom.slice(0, 40))}: ` });
    this.#said.prepend(h('p', { class: 'muted', dir: 'auto' }, by, visible(text.slice(0, 4000))));
    while (this.#said.childElementCount > mostLines) this.#said.lastElementChild?.remove();
  }

  /**
   * Closes the view.
   * @param reason is sent to the view
   * @param message is shown to the person
   */
  async #end(reason: string, message: string = '') {
    if (this.#over) return;
    this.#over = true;
    this.#stop.abort(reason);
    if (this.element.classList.contains('whole')) {
      this.element.classList.remove('whole');
      this.#around.fill();
    }
    await this.#frame?.bridge.teardown(reason);
    this.#frame?.close();
    const had = this.element.contains(document.activeElement); // the focus may have moved during the teardown
    replace(this.#place);
    this.#around.gone(message === '' ? undefined : t('The view of {0} was closed: {1}', this.#about, message));
    if (had) (document.getElementById(`request-${this.#of.requestId}`) ?? document.getElementById('title'))?.focus();
  }
}

/** Returns what a view can reach, in words. */
function reaches({ named }: Resource, server: string) {
  const places = outside(named).join(', ');
  const reached = places
    ? t('This view connects to {0}.', places)
    : t('Provided by {0}, isolated from this page and the network.', server);
  return named.refused.length === 0
    ? reached
    : `${reached} ${t('Not allowed: {0}.', visible(named.refused.join(', ')))}`;
}

/** Returns why there is no result, in words for the view, or undefined if there is one. */
function whyNone(entry: Ended) {
  const { cancelled, finished } = entry;
  if (cancelled) {
    const { origin, reason } = cancelled.cancellation ?? {};
    return reason || cancelled.error?.message || t('It was cancelled by {0}.', originWord(origin));
  }
  if (!finished) return t('The hub has ended.');
  if (finished.state === 'REQUEST_STATE_DONE') return undefined;
  return (finished.hubError?.message ?? finished.mcpError?.message) || t('It failed.');
}
