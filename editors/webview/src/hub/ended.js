// The history of ended requests, the newest last. The number of the entries and the size of their texts are bounded.

import { originWord, shortName, visible } from '../words/text.js';
import { t } from '../words/t.js';

/** @typedef {import('../../../host/src/gen/mcphub/v1/editor_pb.js').EndedRequestJson} EndedRequest */
/** @typedef {import('../../../host/src/gen/mcphub/v1/request_pb.js').RequestJson} Request */

/** @typedef {'done' | 'tool-error' | 'failed' | 'cancelled' | 'withdrawn' | 'timed-out' | 'lost'} Outcome */

/**
 * @typedef {{ endTime?: string | undefined, cancelled?: EndedRequest['cancelled'], finished?: EndedRequest['finished'],
 * earlierHub?: boolean }} End
 */

/**
 * @typedef {object} Ended
 * @property {string} key unique for this entry, since a host may reuse a request id
 * @property {string} requestId
 * @property {boolean} earlier the request was made with an earlier hub; the present hub does not know it
 * @property {boolean} away an earlier hub ended the request because no window came back in time
 * @property {string} endTime
 * @property {Outcome} outcome
 * @property {string} words the text that the filter searches
 * @property {number} size of the texts that count for the bound of the whole history, in UTF-16 units
 * @property {Pick<Request, 'requestId' | 'server' | 'direction' | 'method' | 'tool' | 'title' | 'subject' | 'task' |
 * 'parentRequestId' | 'startTime' | 'caller' | 'argumentsPreview'>} about
 * @property {End['cancelled']} cancelled
 * @property {End['finished']} finished
 */

export const mostEnded = 10_000;
// A result can have 256 KiB, and an error of a server more. 10,000 of them must not fill the memory of an editor.
const mostTextBytes = 32 << 20;
const shortMessage = 256;

/** @type {Record<Outcome, string>} */
export const outcomeWords = {
  'done': t('Done'),
  'tool-error': t('Tool error'),
  'failed': t('Failed'),
  'cancelled': t('Cancelled'),
  'withdrawn': t('Withdrawn'),
  'timed-out': t('Timed out'),
  'lost': t('Lost with the hub'),
};

const aboutKeys = new Set([
  'requestId',
  'server',
  'direction',
  'method',
  'tool',
  'title',
  'subject',
  'task',
  'parentRequestId',
  'startTime',
  'caller',
  'argumentsPreview',
]);
let keys = 0;

/** @param {End} end @returns {Outcome} */
function outcomeOf({ cancelled, finished }) {
  if (cancelled) {
    const origin = cancelled.cancellation?.origin;
    if (origin === 'ORIGIN_TIMEOUT') return 'timed-out';
    return origin === 'ORIGIN_SERVER' && cancelled.direction === 'REQUEST_DIRECTION_INCOMING'
      ? 'withdrawn'
      : 'cancelled';
  }
  if (!finished) return 'lost';
  if (finished.state === 'REQUEST_STATE_DONE') return finished.isError ? 'tool-error' : 'done';
  return 'failed';
}

/** @param {End} end @param {Request | undefined} request as it was known while it was open @returns {Ended} */
function entryOf(end, request) {
  const last = end.cancelled ?? end.finished ?? {};
  /** @type {Ended['about']} */
  const about = {};
  // Only these keys are copied: a second reference to the result would keep the memory that bound frees.
  Object.assign(
    about,
    Object.fromEntries(Object.entries({ ...request, ...last }).filter(([key]) => aboutKeys.has(key))),
  );
  const outcome = outcomeOf(end);
  const cancellation = end.cancelled?.cancellation;
  const words = [
    about.server,
    about.tool,
    about.title,
    about.subject,
    about.method,
    about.caller,
    about.argumentsPreview,
    outcomeWords[outcome],
    cancellation && originWord(cancellation.origin),
    cancellation?.reason,
  ];
  return {
    key: `e${++keys}`,
    requestId: about.requestId ?? '',
    earlier: false,
    away: end.earlierHub ?? false,
    endTime: end.endTime ?? '',
    outcome,
    about,
    words: visible(
      words
        .filter(Boolean)
        .map((text) => text?.slice(0, 256))
        .join(' '),
    ).toLowerCase(),
    size: sizeOf(end),
    cancelled: end.cancelled,
    finished: end.finished,
  };
}

/** @param {Ended[]} history @param {End} end @param {Request | undefined} request @returns {Ended} */
export function addEnded(history, end, request) {
  const entry = entryOf(end, request);
  history.push(entry);
  bound(history);
  return entry;
}

/** @param {Ended[]} history @param {Request} request that was open when its hub ended @returns {Ended} */
export function addLost(history, request) {
  const entry = { ...entryOf({ endTime: new Date().toISOString() }, request), earlier: true };
  history.push(entry);
  bound(history);
  return entry;
}

/**
 * Replaces the entries of the present hub by those of a snapshot. Entries of earlier hubs stay, since only this page
 * still knows them.
 * @param {Ended[]} history
 * @param {readonly EndedRequest[]} latest oldest first
 */
export function replaceHistory(history, latest) {
  const kept = history.filter((entry) => entry.earlier);
  history.splice(0, history.length, ...kept, ...latest.map((end) => entryOf(end, undefined)));
  bound(history);
}

/** Marks all entries as those of a hub that has ended. @param {readonly Ended[]} history */
export function sealHistory(history) {
  for (const entry of history) entry.earlier = true;
}

const names = /** @type {const} */ (['tool', 'subject']);

/** @param {End} end */
const errorsOf = ({ cancelled, finished }) =>
  [finished?.mcpError, finished?.hubError, cancelled?.error].filter((error) => error !== undefined);

/** @param {End} end */
function sizeOf(end) {
  let size = end.finished?.resultJson?.length ?? 0;
  for (const one of [end.cancelled, end.finished])
    for (const name of names) size += Math.max(0, (one?.[name]?.length ?? 0) - shortMessage);
  for (const error of errorsOf(end))
    size += (error.message?.length ?? 0) + ('dataJson' in error ? error.dataJson.length : 0);
  return size;
}

/**
 * Bounds the history. The latest entries keep their whole texts. Older entries lose long texts, but not their outcome.
 * @param {Ended[]} history
 */
function bound(history) {
  if (history.length > mostEnded) history.splice(0, history.length - mostEnded);
  let size = 0;
  for (let i = history.length - 1; i >= 0; i--) {
    const entry = history[i];
    size += entry?.size ?? 0;
    if (size > mostTextBytes && entry && entry.size > shortMessage) shorten(entry);
  }
}

/** @param {Ended} entry */
function shorten(entry) {
  if (entry.finished?.resultJson) entry.finished.resultJson = '';
  for (const error of errorsOf(entry)) {
    if ('dataJson' in error) error.dataJson = '';
    if (error.message && error.message.length > shortMessage)
      error.message = `${error.message.slice(0, shortMessage)}…`;
  }
  for (const one of [entry.about, entry.cancelled, entry.finished])
    for (const name of names) if (one?.[name]) one[name] = shortName(one[name]);
  entry.size = 0;
}

/**
 * Records whether a cancellation was delivered, in the latest entry of its request whose delivery is pending.
 * @param {Ended[]} history
 * @param {import('../../../host/src/gen/mcphub/v1/editor_pb.js').McpRequestCancelDeliveryJson} outcome
 * @returns {boolean} whether there was such an entry
 */
export function cancelDelivered(history, { requestId, delivery, error }) {
  const at = history.findLastIndex(
    (entry) =>
      entry.requestId === requestId && !entry.earlier && entry.cancelled?.delivery === 'CANCEL_DELIVERY_PENDING',
  );
  const entry = history[at];
  if (!entry?.cancelled || !delivery) return false;
  const cancelled = {
    ...entry.cancelled,
    delivery,
    deliveryError: error ?? '',
    serverNotified: delivery === 'CANCEL_DELIVERY_DELIVERED',
  };
  history[at] = { ...entry, cancelled };
  return true;
}
