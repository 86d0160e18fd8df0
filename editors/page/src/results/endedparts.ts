// The arguments and the result of an ended request, with the actions for them.

import { h, replace, show } from '../elements/dom.js';
import { titleOf } from '../hub/requestwords.js';
import { bytes, pretty, shortName, visible } from '../words/text.js';
import { commandItem, copyPart, download, partItems } from './actions.js';
import { canAgain, requestAgain } from './again.js';
import { differenceView } from './difference.js';
import { jsonBlock } from './jsonblock.js';
import { note } from './media.js';
import { hasResult, isKept, readPart, readResult, Unread } from './read.js';
import { plainText, resultView } from './resultview.js';
import { t } from '../words/t.js';
import type { MenuItem } from '../elements/menu.js';
import type { Page } from '../page.js';
import type { Ended } from '../hub/ended.js';
import type { Part } from './actions.js';
import type { ViewItems } from './resultview.js';

/** Maximum size of results that are compared on the page, in bytes. */
const mostCompared = 1 << 20;

/** Returns a name for a file or a document. */
const nameOf = ({ about }: Ended, part: string) =>
  `${[about.server, about.tool ?? about.subject]
    .map((name) => (name ?? '').slice(0, 40))
    .filter(Boolean)
    .join('-')}-${part}`;

const isTooLarge = (error: unknown): error is Unread => error instanceof Unread && error.size > 0;

const wordsOf = (error: unknown) =>
  isTooLarge(error)
    ? t('It is too large to be shown here ({0}).', bytes(error.size))
    : error instanceof Error
      ? visible(error.message)
      : t('It could not be read.');

/** Returns what can be done with a result that is not shown, beside the reason. */
const links = (items: readonly MenuItem[]) =>
  h(
    'p',
    { class: 'links' },
    ...items.map(({ text, href, act }) =>
      href ? h('a', { href, text }) : h('button', { class: 'link', text, onclick: act }),
    ),
  );

/** What is shown of a result or of arguments, and what can be done with them. */
export interface PartView {
  element: HTMLElement;
  copy: HTMLElement | undefined;
  items: () => MenuItem[];
}

/** Returns the arguments: their preview, and as soon as they are read, the whole. */
export function argumentsPart(page: Page, entry: Ended, say: (text: string) => void): PartView | undefined {
  const { argumentsPreview = '' } = entry.about;
  if (argumentsPreview === '') return undefined;
  const place = h('div', {}, h('pre', { class: 'code', text: visible(argumentsPreview) }));
  const element = h(
    'div',
    { class: 'stack arguments', dataset: { testid: 'arguments' } },
    h('h3', { text: t('Arguments') }),
    place,
  );
  if (!isKept(entry)) return { element, copy: undefined, items: () => [] };
  readPart(page.call, entry.requestId, 'REQUEST_PART_ARGUMENTS')
    .then((json) => jsonBlock(json, t('Arguments')))
    .then(
      (view) => replace(place, view),
      () => undefined, // the preview stays
    );
  const part: Part = {
    requestId: entry.requestId,
    part: 'REQUEST_PART_ARGUMENTS',
    name: nameOf(entry, 'arguments'),
    failed: (error) => say(wordsOf(error)),
  };
  const words = {
    open: t('Open arguments in editor'),
    save: t('Save arguments as…'),
    download: t('Download arguments'),
  };
  return { element, copy: undefined, items: () => partItems(page, part, words) };
}

/** Returns the result, which is read and shown at once. */
export function resultPart(page: Page, entry: Ended, say: (text: string) => void): PartView | undefined {
  if (!hasResult(entry)) return undefined;
  const place = h('div', {}, note(t('Reading…')));
  const compared = h('div', {});
  const failed = (error: unknown) => say(wordsOf(error));
  const requestId = isKept(entry) ? entry.requestId : undefined;
  let views: ViewItems = () => [];
  const fill = async () => {
    try {
      const json = await readResult(page, entry);
      const shown = await resultView({ page, server: entry.about.server ?? '', requestId }, json);
      views = shown.items;
      replace(place, shown.element);
    } catch (error) {
      replace(place, note(wordsOf(error)), ...(isTooLarge(error) ? [links(kept())] : []));
    }
  };
  const part: Part = {
    requestId: entry.requestId,
    part: 'REQUEST_PART_RESULT',
    name: nameOf(entry, 'result'),
    failed,
  };
  const words = { open: t('Open result in editor'), save: t('Save result as…'), download: t('Download result') };
  /** What can be done with the result that the hub keeps. */
  const kept = () => (requestId === undefined ? [] : partItems(page, part, words));
  void fill();
  return {
    // A group and no landmark: several results may be on the page, and a list of landmarks would not tell them apart.
    element: h(
      'div',
      {
        'class': 'result',
        'role': 'group',
        'aria-label': t('Result of {0}', titleOf(entry.about)),
        'dataset': { testid: 'result' },
      },
      compared,
      place,
    ),
    copy: requestId === undefined ? undefined : copyPart(page, part, t('Copy result')),
    items: () => [...views(), ...kept(), ...comparison(page, entry, compared, failed)],
  };
}

/** Returns the previous request for the same tool or subject that has a result. */
function before(page: Page, entry: Ended) {
  const at = page.state.history.findIndex(({ key }) => key === entry.key);
  return page.state.history
    .slice(0, Math.max(0, at))
    .findLast(
      (one) =>
        one.about.server === entry.about.server
        && one.about.tool === entry.about.tool
        && one.about.subject === entry.about.subject
        && hasResult(one),
    );
}

function comparison(page: Page, entry: Ended, place: HTMLElement, failed: (error: unknown) => void): MenuItem[] {
  const earlier = before(page, entry);
  if (!earlier) return [];
  const text = t('Compare with previous');
  if (page.surface.commands?.includes('mcphub.compareResults')) {
    const args = [earlier.requestId, entry.requestId, nameOf(entry, 'result')];
    return isKept(entry) && isKept(earlier) ? commandItem(page, 'mcphub.compareResults', args, text) : [];
  }
  const compare = async () => {
    const [was, is] = await Promise.all([readResult(page, earlier), readResult(page, entry)]);
    if (was.length + is.length > 2 * mostCompared) throw new Unread(t('They are too large to be compared here.'));
    replace(place, differenceView(pretty(was), pretty(is)));
  };
  return [{ text, act: () => void compare().catch(failed) }];
}

/**
 * Returns a button that makes the request once more with the same arguments, or undefined if the page cannot make it.
 * @param say shows what went wrong; '' removes it
 */
export function againButton(page: Page, entry: Ended, say: (text: string) => void) {
  const { tool = '', subject: uri = '', method } = entry.about;
  if (!canAgain(page, entry)) return undefined;
  const verb = { 'resources/read': t('Read again'), 'prompts/get': t('Get again') }[method ?? ''] ?? t('Call again');
  let requestId = '';
  let busy = false;
  const name = shortName(tool || uri);
  const again = h('button', {
    'class': 'secondary',
    'text': verb,
    'aria-label': t('{0}: {1}, with the same arguments', verb, name),
    'dataset': { testid: 'again' },
    'onclick': async () => {
      if (busy) return;
      busy = true;
      say('');
      try {
        const { error } = await requestAgain(page, entry, (id) => {
          requestId = id;
          page.announce(called);
          show(runs, true);
        });
        say(visible(error?.message));
      } catch (error) {
        say(wordsOf(error));
      }
      busy = false;
      if (document.activeElement === where) again.focus();
      show(runs, false);
    },
  });
  const called = t('Called again.');
  const where = h('button', {
    'class': 'link',
    'text': t('Show'),
    'aria-label': t('Show the running request for {0}', name),
    'onclick': () => page.goTo(requestId),
  });
  const runs = h('span', { class: 'muted', hidden: true }, `${called} `, where);
  return h('span', { class: 'actions' }, again, runs);
}

/**
 * Returns the item of a menu that saves a file for a bug report. The file has the trace of the request and the state of
 * the hub, without arguments, results and secrets.
 */
export function reportItem(page: Page, entry: Ended, say: (text: string) => void): MenuItem[] {
  const { earlier, requestId } = entry;
  if (earlier) return [];
  const text = t('Save bug report…');
  if (page.surface.kind === 'vscode') return commandItem(page, 'mcphub.saveReport', [requestId], text);
  const save = async () => {
    const { error, response } = await page.call('GetTrace', { requestId, bundle: true });
    say(visible(error?.message));
    if (response) download(`mcphub-report-${requestId}.json`, [pretty(response.bundleJson)]);
  };
  return [{ text, act: () => void save() }];
}

/** Returns an element with the data of a server's error. */
export function errorData(json: string) {
  const place = h('div', {}, plainText(pretty(json), t('Error data')));
  jsonBlock(json, t('Error data')).then(
    (view) => replace(place, view),
    () => undefined, // it stays as text
  );
  return place;
}
