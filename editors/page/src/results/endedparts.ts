// The arguments and the result of an ended request, with the actions for them.

import { h, replace, setText, show } from '../elements/dom.js';
import { goToRequest } from '../running/requestrow.js';
import { commandLink } from '../surface.js';
import { indexJson } from '../words/jsonindex.js';
import { objectOf, parse, stringOf } from '../words/jsontext.js';
import { bytes, pretty, shortName, visible } from '../words/text.js';
import { download, partActions } from './actions.js';
import { differenceView } from './difference.js';
import { jsonTree } from './jsontree.js';
import { note } from './media.js';
import { hasResult, readPart, readResult, Unread } from './read.js';
import { plainText, resultView } from './resultview.js';
import { t } from '../words/t.js';
import type { Page } from '../page.js';
import type { Ended } from '../hub/ended.js';

/** Maximum size of results that are compared on the page, and of arguments that are sent again, in bytes. */
const mostAgain = 1 << 20;

/** Reports whether the hub may still have the arguments and the result of a request. */
const isKept = ({ earlier, about }: Ended) =>
  !earlier
  && about.direction !== 'REQUEST_DIRECTION_INCOMING'
  && ['tools/call', 'resources/read', 'prompts/get'].includes(about.method ?? '');

/** Returns a name for a file or a document. */
const nameOf = ({ about }: Ended, part: string) =>
  `${[about.server, about.tool ?? about.subject]
    .map((name) => (name ?? '').slice(0, 40))
    .filter(Boolean)
    .join('-')}-${part}`;

const wordsOf = (error: unknown) =>
  error instanceof Unread && error.size > 0
    ? t('It is too large to be shown here ({0}).', bytes(error.size))
    : error instanceof Error
      ? visible(error.message)
      : t('It could not be read.');

/** Returns the arguments, which are read when they are unfolded. */
export function argumentsPart(page: Page, entry: Ended) {
  if (!isKept(entry) || !entry.about.argumentsPreview) return undefined;
  const place = h('div', {});
  const problem = h('p', { class: 'problem', role: 'alert' });
  const details = h(
    'details',
    { dataset: { testid: 'arguments' } },
    h('summary', { text: t('Arguments') }),
    h(
      'div',
      { class: 'actions' },
      ...partActions(page, {
        requestId: entry.requestId,
        part: 'REQUEST_PART_ARGUMENTS',
        name: nameOf(entry, 'arguments'),
        what: t('arguments'),
        failed: (error) => setText(problem, wordsOf(error)),
      }),
    ),
    problem,
    place,
  );
  const fill = async () => {
    try {
      replace(
        place,
        jsonTree(await indexJson(await readPart(page.call, entry.requestId, 'REQUEST_PART_ARGUMENTS')), t('Arguments')),
      );
    } catch (error) {
      replace(place, note(wordsOf(error)));
    }
  };
  details.addEventListener('toggle', () => void fill(), { once: true });
  return details;
}

/** Returns the result, which is read and shown at once. */
export function resultPart(page: Page, entry: Ended) {
  if (!hasResult(entry)) return undefined;
  const place = h('div', {}, note(t('Reading…')));
  const compared = h('div', {});
  const problem = h('p', { class: 'problem', role: 'alert' });
  const failed = (error: unknown) => setText(problem, wordsOf(error));
  const fill = async () => {
    try {
      replace(
        place,
        await resultView(
          { page, server: entry.about.server ?? '', requestId: isKept(entry) ? entry.requestId : undefined },
          await readResult(page, entry),
        ),
      );
    } catch (error) {
      replace(place, note(wordsOf(error)));
    }
  };
  void fill();
  return h(
    'section',
    { 'class': 'result', 'aria-label': t('Result'), 'dataset': { testid: 'result' } },
    h('h4', { text: t('Result, {0}', bytes(entry.finished?.resultSizeBytes ?? 0)) }),
    h(
      'div',
      { class: 'actions' },
      ...(isKept(entry)
        ? partActions(page, {
            requestId: entry.requestId,
            part: 'REQUEST_PART_RESULT',
            name: nameOf(entry, 'result'),
            what: t('result'),
            failed,
          })
        : []),
      comparison(page, entry, compared, failed),
    ),
    problem,
    compared,
    place,
  );
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

function comparison(page: Page, entry: Ended, place: HTMLElement, failed: (error: unknown) => void) {
  const earlier = before(page, entry);
  if (!earlier) return undefined;
  const text = t('Compare with Previous');
  if (page.surface.commands?.includes('mcphub.compareResults'))
    return isKept(entry) && isKept(earlier)
      ? commandLink(
          page.surface,
          'mcphub.compareResults',
          [earlier.requestId, entry.requestId, nameOf(entry, 'result')],
          text,
        )
      : undefined;
  const compare = async () => {
    const [was, is] = await Promise.all([readResult(page, earlier), readResult(page, entry)]);
    if (was.length + is.length > 2 * mostAgain) throw new Unread(t('They are too large to be compared here.'));
    replace(place, differenceView(pretty(was), pretty(is)));
  };
  return h('button', { class: 'link', text, onclick: () => void compare().catch(failed) });
}

/** Returns the arguments of a prompt, which are all texts. */
const textsOf = (json: string): Record<string, string> =>
  Object.fromEntries([...objectOf(parse(json || '{}'))].map(([name, value]) => [name, stringOf(value)]));

/**
 * Returns a button that makes the request once more with the same arguments, or undefined if the page cannot make it.
 * @param say shows what went wrong; '' removes it
 */
export function againButton(page: Page, entry: Ended, say: (text: string) => void) {
  const { server = '', tool = '', subject: uri = '', method } = entry.about;
  if (!isKept(entry) || !page.state.servers.has(server)) return undefined;
  const verb = { 'resources/read': t('Read Again'), 'prompts/get': t('Get Again') }[method ?? ''] ?? t('Call Again');
  let requestId = '';
  const call = async () => {
    requestId = crypto.randomUUID();
    const given = entry.about.argumentsPreview !== undefined && entry.about.argumentsPreview !== '';
    const argumentsJson = given ? await readPart(page.call, entry.requestId, 'REQUEST_PART_ARGUMENTS', mostAgain) : '';
    // Announced only now: reading the arguments may fail, and from here on the request is sent.
    page.announce(called);
    show(runs, true);
    if (method === 'resources/read') return page.call('ReadResource', { requestId, server, uri });
    if (method === 'prompts/get')
      return page.call('GetMcpPrompt', { requestId, server, name: uri, arguments: textsOf(argumentsJson) });
    return page.call('CallTool', { requestId, server, tool, argumentsJson });
  };
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
        say(visible((await call()).error?.message));
      } catch (error) {
        say(wordsOf(error));
      }
      busy = false;
      if (document.activeElement === where) again.focus();
      show(runs, false);
    },
  });
  const called = t('Called again: see Running.');
  const where = h('button', {
    'class': 'link',
    'text': t('Show'),
    'aria-label': t('Show the request for {0} that runs', name),
    'onclick': () => goToRequest(page, requestId),
  });
  const runs = h('span', { class: 'muted', hidden: true }, `${called} `, where);
  return h('span', { class: 'actions' }, again, runs);
}

/**
 * Returns an action that saves a file for a bug report. The file has the trace of the request and the state of the hub,
 * without arguments, results and secrets.
 */
export function reportAction(page: Page, entry: Ended, say: (text: string) => void) {
  if (entry.earlier) return undefined;
  const text = t('Save Bug Report…');
  if (page.surface.kind !== 'web') return commandLink(page.surface, 'mcphub.saveReport', [entry.requestId], text);
  return h('button', {
    class: 'link',
    text,
    onclick: async () => {
      const { error, response } = await page.call('GetTrace', { requestId: entry.requestId, bundle: true });
      say(visible(error?.message));
      if (response) download(`mcphub-report-${entry.requestId}.json`, [pretty(response.bundleJson)]);
    },
  });
}

/** Returns an element with the data of a server's error. */
export function errorData(json: string) {
  const place = h('div', {}, plainText(pretty(json), t('Data of the error')));
  indexJson(json).then(
    (index) => index.isContainer(0) && replace(place, jsonTree(index, t('Data of the error'))),
    () => undefined, // it stays as text
  );
  return place;
}
