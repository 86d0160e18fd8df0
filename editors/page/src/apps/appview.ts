// One open view: the two frames that isolate it, the texts that it shows to the person, and how it is closed. This
// file, and the files that only it imports, are loaded when somebody opens a view.

import { h, replace, setText, show } from '../elements/dom.js';
import { nativeParse } from '../words/jsontext.js';
import { readPart, readResult } from '../results/read.js';
import { originWord, shortName, visible } from '../words/text.js';
import { openBridge, Refusal } from './bridge.js';
import { bucket } from './bucket.js';
import { callTool, listTools, mostResult, readResource, tooLong, whyUnread } from './calls.js';
import { guarded } from './guarded.js';
import { keepKeyboard } from './keyboard.js';
import { hostContext, styleVariables, themeNow } from './hostcontext.js';
import { openOuter } from './outerframe.js';
import { outside, policyOf } from './policy.js';
import { readView } from './resource.js';
import { aboutUrl } from '../questions/cardurl.js';
import { t } from '../words/t.js';
import type { Page, ViewOf } from '../page.js';
import type { Ended } from '../hub/ended.js';
import type { Resource } from './resource.js';
import type { Changed } from '../hub/state.js';
import type { Named } from './policy.js';

const leastHeight = 40;
const mostHeight = 1200;
const firstHeight = 240;
const mostArguments = 4 << 20;
const mostLines = 100;
/** The shortest time between two changes of the size that a view asks for, in milliseconds. */
const sizePause = 100;
/** How many bytes of tool lists a view may get: at once, and additionally each second. */
const mostOfLists = 2 * mostResult;
const ofListsPerSecond = 256 << 10;

/** What the page does for a view. */
export interface Around {
  /** is called after the view was closed; message: why, if nobody here closed it */
  gone: (message?: string) => void;
  /** makes an element fill the page; without one, the view leaves the full page */
  fill: (whole?: HTMLElement) => void;
  moves: Pick<typeof import('../elements/moves.js'), 'watchMoves' | 'forgetMoves'>;
}

/** @param of the call */
export function openView(page: Page, of: ViewOf, { gone, fill, moves }: Around) {
  const { surface, state } = page;
  const name = shortName(of.title || of.tool);
  const about = t('{0} of {1}', name, shortName(of.server));
  const status = h('p', { class: 'muted', role: 'status', text: t('Reading the view…') });
  const problem = h('p', { class: 'problem', role: 'alert' });
  const place = h('div', { class: 'view-frame' });
  const asks = h('div', { class: 'view-asks', role: 'group', hidden: true });
  const said = h('div', { class: 'view-said' });
  const grow = button(t('Fill the page'), t('Fill the page with {0}', about), 'view-grow', () =>
    bridge?.show(bridge.mode === 'inline' ? 'fullscreen' : 'inline'),
  );
  const close = button(
    t('Close'),
    t('Close the view of {0}', about),
    'view-close',
    () => void end(t('The user has closed it.')),
  );
  show(grow, false);
  const element = h(
    'article',
    {
      'class': 'view-of-call',
      'tabindex': -1,
      'aria-label': t('View of {0}', about),
      'dataset': { testid: `view-${of.requestId}` },
      'onkeydown': (event: KeyboardEvent) => {
        if (event.key === 'Escape' && bridge?.mode === 'fullscreen') bridge.show('inline');
      },
    },
    h(
      'div',
      { class: 'row-head' },
      h(
        'div',
        { class: 'line' },
        h('span', { class: 'name', text: name }),
        h('span', { class: 'of', text: shortName(of.server) }),
      ),
      h('span', { class: 'actions' }, grow, close),
    ),
    status,
    problem,
    asks,
    place,
    said,
  );
  let bridge: ReturnType<typeof openBridge> | undefined;
  let unlisten: (() => void) | undefined;
  /** Stops the requests that read something for the view. */
  const stop = new AbortController();
  /** The tools of its server, until they change. */
  let tools: ReturnType<typeof listTools> | undefined;
  const fitsLists = bucket(mostOfLists, ofListsPerSecond);
  let over = false;
  let told = false;
  let telling = false;

  void start();

  async function start() {
    try {
      const resource = await readView(page, of, stop.signal);
      if (over) return;
      const policy = policyOf(resource.named);
      const places = outside(resource.named);
      const { refused } = resource.named;
      const notTaken = refused.length === 0 ? '' : ` ${t('Not allowed: {0}.', visible(refused.join(', ')))}`;
      if (places.length === 0) {
        setText(
          status,
          t('Drawn by {0}, apart from this page, without access to anything else.', shortName(of.server)) + notTaken,
        );
        await frame(resource, policy);
        return;
      }
      setText(status, t('This view reaches places outside: {0}.', places.join(', ')) + notTaken);
      const go = button(t('Show it all the same'), t('Show it all the same: {0}', about), 'view-consent', (event) => {
        if (!meant(event)) return;
        show(asks, false);
        frame(resource, policy).catch(fail);
        element.focus();
      });
      const meant = guarded(go, moves);
      replace(asks, h('span', { text: t('What it learns of the call can be sent there.') }), go);
      show(asks, true);
    } catch (error) {
      fail(error);
    }
  }

  function fail(error: unknown) {
    if (over) return;
    show(status, false);
    setText(problem, visible(whyUnread(error, t('The view could not be read.'))));
  }

  let lastListed = 0;
  async function toolList() {
    if (!fitsLists(lastListed)) throw new Refusal(-32000, 'It has asked for its tools too often.');
    const listed = await (tools ??= listTools(page, of).catch((error: unknown) => {
      tools = undefined;
      throw error;
    }));
    lastListed = Math.min(mostResult, listed.size);
    if (!listed.list) throw new Refusal(-32000, tooLong(listed.size));
    return listed.list;
  }

  async function frame(resource: Resource, policy: string) {
    const looks = { title: t('View of {0}', about), bordered: resource.border };
    const outer = await openOuter(place, surface.apps ?? [], policy, looks, stop.signal);
    if (over) {
      outer.close();
      return;
    }
    const opened = openBridge({
      send: outer.send,
      hostInfo: { name: 'McpHub', version: page.state.hubVersion || '0' },
      capabilities: {
        openLinks: {},
        serverTools: {},
        serverResources: {},
        logging: {},
        sandbox: { permissions: {}, csp: granted(resource.named) },
      },
      context: () => ({
        ...hostContext(Math.max(1, place.clientWidth), mostHeight, opened.mode),
        toolInfo: { tool: nativeParse(of.definitionJson) },
      }),
      asked: {
        callTool: (params, signal) => callTool(page, of, params, signal),
        readResource: (params, signal) => readResource(page, of, params, signal),
        listTools: toolList,
        openLink,
        message: (text) => tell(t('For the chat'), text),
        modelContext: (text) => tell(t('For the model'), text),
        log: (level, text) => tell(level === '' ? t('Log') : t('Log, {0}', level), text),
        displayMode: (mode) => {
          if (over) return;
          const whole = mode === 'fullscreen';
          element.classList.toggle('whole', whole);
          fill(whole ? element : undefined);
          const words = whole ? t('Back into the page') : t('Fill the page');
          setText(grow, words);
          grow.setAttribute('aria-label', `${words}: ${about}`);
        },
        resized: (height) => resize(outer.element, height),
        ended: (reason) => void end(reason === '' ? t('The view has asked for it.') : reason, reason),
      },
    });
    bridge = opened;
    const ended = (reason: unknown) => {
      const why = endings[String(reason)] ?? t('It has ended itself.');
      void end(why, why);
    };
    /** Ends a view that gets no time for it. */
    const endNow = (reason: string) => {
      unlisten?.();
      ended(reason);
    };
    outer.listen(
      (data) => {
        const { method, params } = (data ?? {}) as { method?: unknown; params?: { reason?: unknown } };
        if (method === 'ui/notifications/sandbox-ended') ended(params?.reason);
        else opened.receive(data);
      },
      () => endNow('flood'),
    );
    const keyboard = keepKeyboard(outer.element, t('Use the view of {0}', about), () => endNow('keyboard'));
    place.append(keyboard.cover);
    const themed = () => opened.contextChanged({ theme: themeNow(), styles: { variables: styleVariables() } });
    const follow = new MutationObserver(themed);
    follow.observe(document.body, { attributes: true, attributeFilter: ['class'] });
    const scheme = matchMedia('(prefers-color-scheme: light)'); // the theme of a plain browser
    scheme.addEventListener('change', themed);
    const sizes = new ResizeObserver(() =>
      opened.contextChanged({ containerDimensions: { width: Math.max(1, place.clientWidth), maxHeight: mostHeight } }),
    );
    sizes.observe(place);
    unlisten = () => {
      outer.close();
      keyboard.stop();
      follow.disconnect();
      scheme.removeEventListener('change', themed);
      sizes.disconnect();
    };
    outer.element.style.setProperty('height', `${firstHeight}px`);
    outer.send({
      jsonrpc: '2.0',
      method: 'ui/notifications/sandbox-resource-ready',
      params: { html: resource.html },
    });
    show(grow, true);
    painted();
    void give();
  }

  let sizeDue = 0;
  let sized = 0;
  function resize(outer: HTMLIFrameElement, height: number) {
    const bounded = Math.round(Math.min(mostHeight, Math.max(leastHeight, height)));
    clearTimeout(sizeDue);
    const wait = Math.max(0, sized + sizePause - performance.now());
    sizeDue = window.setTimeout(() => {
      sized = performance.now();
      outer.style.setProperty('height', `${bounded}px`);
    }, wait);
  }

  async function give() {
    try {
      const text = await readPart(page.call, of.requestId, 'REQUEST_PART_ARGUMENTS', mostArguments);
      bridge?.given((text === '' ? {} : nativeParse(text)) as Record<string, unknown>);
    } catch (error) {
      tell(t('The view has no arguments'), whyUnread(error, t('They could not be read.')));
      bridge?.given(undefined);
    }
  }

  /** Is called after changes of the state. Reports the end of the call to the view, once. */
  function painted(changed?: Changed) {
    if (changed?.tools.has(of.server)) tools = undefined;
    if (changed && !changed.requestList && !changed.history) return;
    if (!bridge || told || telling || state.requests.has(of.requestId)) return;
    const entry = state.history.findLast((one) => one.requestId === of.requestId);
    if (!entry) return;
    telling = true;
    void tellEnd(entry);
  }

  async function tellEnd(entry: Ended) {
    const why = whyNone(entry);
    try {
      if (why === undefined) bridge?.result(nativeParse(await readResult(page, entry, mostResult)));
      else bridge?.cancelled(why);
    } catch (error) {
      const unread = whyUnread(error, t('The result is not kept any more.'));
      tell(t('The view has no result'), unread);
      bridge?.cancelled(unread);
    }
    told = true;
  }

  function openLink(url: string): Promise<boolean> {
    if (!asks.hidden) return Promise.resolve(false); // one question at a time
    return new Promise((resolve) => {
      const done = (yes: boolean) => {
        show(asks, false);
        replace(asks);
        resolve(yes);
      };
      const click = (event: MouseEvent) => {
        if (meant(event))
          setTimeout(() => done(true)); // after the browser has followed the link
        else event.preventDefault();
      };
      const open = h('a', {
        href: url,
        target: '_blank',
        rel: 'noopener noreferrer',
        text: t('Open it'),
        dataset: { testid: 'view-open-link' },
        onclick: click,
        onauxclick: click,
      });
      const meant = guarded(open, moves);
      replace(
        asks,
        h('span', { dir: 'auto', text: t('The view wants to open {0}', visible(new URL(url).href)) }),
        ...aboutUrl(url).warnings.map((text) => h('span', { class: 'warning', text: visible(text) })),
        open,
        button(t('Do not open'), t('Do not open the address'), 'view-refuse-link', () => done(false)),
      );
      show(asks, true);
      page.announce(t('The view of {0} wants to open a page.', about));
    });
  }

  /** Shows what the view has said to others than its server, the latest first. */
  function tell(whom: string, text: string) {
    if (text === '') return;
    said.prepend(
      h(
        'p',
        { class: 'muted', dir: 'auto' },
        h('span', { class: 'of', text: `${visible(whom.slice(0, 40))}: ` }),
        visible(text.slice(0, 4000)),
      ),
    );
    while (said.childElementCount > mostLines) said.lastElementChild?.remove();
  }

  /**
   * Closes the view.
   * @param reason is sent to the view
   * @param message is shown to the person
   */
  async function end(reason: string, message: string = '') {
    if (over) return;
    over = true;
    stop.abort(reason);
    if (element.classList.contains('whole')) {
      element.classList.remove('whole');
      fill();
    }
    await bridge?.teardown(reason);
    clearTimeout(sizeDue);
    unlisten?.();
    const had = element.contains(document.activeElement); // the focus may have moved during the teardown
    replace(place);
    gone(message === '' ? undefined : t('The view of {0} was closed: {1}', about, message));
    if (had) (document.getElementById(`request-${of.requestId}`) ?? document.getElementById('title'))?.focus();
  }

  return { element, painted, end, focus: () => element.focus(), shrink: () => bridge?.show('inline') };
}

/** The texts for the reasons for which the outer frame ends a view. */
const endings: Record<string, string> = {
  flood: t('It sent more messages than this page takes.'),
  size: t('It sent a message that is too long.'),
  navigated: t('It tried to become another page.'),
  keyboard: t('It took the keyboard from what you were doing.'),
};

const granted = ({ domains }: Named) =>
  Object.fromEntries(Object.entries(domains).filter(([, list]) => list.length > 0));

/** Returns why there is no result, in words for the view, or undefined if there is one. */
function whyNone(entry: Ended) {
  const { cancelled, finished } = entry;
  if (cancelled) {
    const { origin, reason } = cancelled.cancellation ?? {};
    return reason || cancelled.error?.message || t('It was cancelled by {0}.', originWord(origin));
  }
  if (!finished) return t('The hub has ended.');
  if (finished.state === 'REQUEST_STATE_DONE') return undefined;
  return (finished.hubError?.message ?? finished.mcpError?.message) || t('It has failed.');
}

const button = (text: string, label: string, testid: string, onclick: (event: MouseEvent) => void) =>
  h('button', { 'class': 'secondary', text, 'aria-label': label, 'dataset': { testid }, onclick });
