// The history of ended requests, the newest last. The number of the entries and the size of their texts are bounded.

import { originWord, shortName, visible } from '../words/text.js';
import { t } from '../words/t.js';

/** @typedef {import('../../../host/src/gen/mcphub/v1/editor_pb.js').EndedRequestJson} EndedRequest */
/** @typedef {import('../../../host/src/gen/mcphub/v1/request_pb.js').RequestJson} Request */

/** @typedef {'done' | 'tool-error' | 'failed' | 'cancelled' | 'withdrawn' | 'timed-out' | 'lost'} Outcome */

/**
 * @typedef {{ endTime?: string | undefined, cancelled?: EndedRequest['cancelled'],
 * finished?: EndedRequest['finished'] }} End
 */

/**
 * @typedef {object} Ended
 * @property {string} key unique for this entry, since a host may reuse a request id
 * @property {string} requestId
 * @property {boolean} earlier the request was made with an earlier hub; the present hub does not know it
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

/** @param {string | undefined} requestId @param {string | undefined} endTime */
const endKey = (requestId, endTime) => `${requestId} ${endTime}`;

/**
 * Takes in the history of a snapshot. An end that the page knows already stays the same entry: a person may be looking
 * at it, and the snapshot may lack its result. Ends that the snapshot lacks stay, too: only this page still knows them.
 * @param {Ended[]} history
 * @param {readonly EndedRequest[]} latest oldest first
 * @param {Map<string, Request>} over the requests that were open when the page heard of them last, and are not any more
 * @returns {Ended[]} the ends of these requests
 */
export function joinHistory(history, latest, over) {
  const known = new Map(history.filter((one) => !one.earlier).map((one) => [endKey(one.requestId, one.endTime), one]));
  /** @type {Set<Ended>} */
  const listed = new Set();
  /** @type {Ended[]} */
  const fresh = [];
  const joined = latest.map((end) => {
    const { requestId = '' } = end.cancelled ?? end.finished ?? {};
    const entry = known.get(endKey(requestId, end.endTime));
    if (entry) {
      listed.add(entry);
      const { delivery, deliveryError } = end.cancelled ?? {};
      return !delivery || delivery === entry.cancelled?.delivery ? entry : delivered(entry, delivery, deliveryError);
    }
    const request = over.get(requestId);
    const made = entryOf(end, request);
    if (request) fresh.push(made);
    over.delete(requestId); // a later end with the same id is that of another request
    return made;
  });
  history.splice(0, history.length, ...history.filter((entry) => !listed.has(entry)), ...joined);
  bound(history);
  return fresh;
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
  if (!entry || !delivery) return false;
  history[at] = delivered(entry, delivery, error);
  return true;
}

/**
 * @param {Ended} entry
 * @param {import('../../../host/src/gen/mcphub/v1/request_pb.js').CancelDeliveryJson} delivery
 * @param {string} [deliveryError]
 * @returns {Ended}
 */
const delivered = (entry, delivery, deliveryError = '') => ({
  ...entry,
  cancelled: {
    ...entry.cancelled,
    delivery,
    deliveryError,
    serverNotified: delivery === 'CANCEL_DELIVERY_DELIVERED',
  },
});
