// The history of ended requests, the newest last. The number of the entries and the size of their texts are bounded.

import { originWord, shortName, visible } from '../words/text.js';
import { t } from '../words/t.js';
import type {
  EndedRequestJson as EndedRequest,
  McpRequestAnsweredLateJson,
  McpRequestCancelDeliveryJson,
} from '../../../host/src/gen/mcphub/v1/editor_pb.js';
import type {
  CancelDeliveryJson,
  LateAnswerJson,
  RequestJson as Request,
} from '../../../host/src/gen/mcphub/v1/request_pb.js';

export type Outcome = 'done' | 'tool-error' | 'failed' | 'denied' | 'cancelled' | 'withdrawn' | 'timed-out' | 'lost';

export type End = {
  endTime?: string | undefined;
  cancelled?: EndedRequest['cancelled'];
  finished?: EndedRequest['finished'];
};

export interface Ended {
  /** unique for this entry, since a host may reuse a request id */
  key: string;
  requestId: string;
  /** the request was made with an earlier hub; the present hub does not know it */
  earlier: boolean;
  endTime: string;
  outcome: Outcome;
  /** the text that the filter searches */
  words: string;
  /** of the texts that count for the bound of the whole history, in UTF-16 units */
  size: number;
  about: Pick<
    Request,
    | 'requestId'
    | 'server'
    | 'direction'
    | 'method'
    | 'tool'
    | 'title'
    | 'subject'
    | 'task'
    | 'parentRequestId'
    | 'startTime'
    | 'caller'
    | 'argumentsPreview'
  >;
  cancelled: End['cancelled'];
  finished: End['finished'];
}

export const mostEnded = 10_000;
// A result can have 256 KiB, and an error of a server more. 10,000 of them must not fill the memory of an editor.
const mostTextBytes = 32 << 20;
const shortMessage = 256;

export const outcomeWords: Record<Outcome, string> = {
  'done': t('Done'),
  'tool-error': t('Tool error'),
  'failed': t('Failed'),
  'denied': t('Denied'),
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

function outcomeOf({ cancelled, finished }: End): Outcome {
  if (cancelled) {
    const origin = cancelled.cancellation?.origin;
    if (origin === 'ORIGIN_TIMEOUT') return 'timed-out';
    return origin === 'ORIGIN_SERVER' && cancelled.direction === 'REQUEST_DIRECTION_INCOMING'
      ? 'withdrawn'
      : 'cancelled';
  }
  if (!finished) return 'lost';
  if (finished.state === 'REQUEST_STATE_DONE') return finished.isError ? 'tool-error' : 'done';
  return refusalOf(finished) ? 'denied' : 'failed';
}

/** The refusals of a call that are no failure, by the reason of the hub's error. */
const refusals = new Map([
  ['DENIED_BY_USER', t('Denied by you')],
  ['DISMISSED_BY_USER', t('Dismissed by you')],
  ['DENIED_BY_POLICY', t('Denied by a policy')],
]);

const refusalOf = (finished: End['finished']) => refusals.get(finished?.hubError?.reason ?? '');

/** Returns words for the outcome of one request. */
export const outcomeText = ({ outcome, finished }: Ended) => refusalOf(finished) ?? outcomeWords[outcome];

/** @param request as it was known while it was open */
function entryOf(end: End, request: Request | undefined): Ended {
  const last = end.cancelled ?? end.finished ?? {};
  const about: Ended['about'] = {};
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
    refusalOf(end.finished) ?? outcomeWords[outcome],
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

export function addEnded(history: Ended[], end: End, request: Request | undefined): Ended {
  const entry = entryOf(end, request);
  history.push(entry);
  bound(history);
  return entry;
}

/** @param request that was open when its hub ended */
export function addLost(history: Ended[], request: Request): Ended {
  const entry = { ...entryOf({ endTime: new Date().toISOString() }, request), earlier: true };
  history.push(entry);
  bound(history);
  return entry;
}

const endKey = (requestId: string | undefined, endTime: string | undefined) => `${requestId} ${endTime}`;

/**
 * Takes in the history of a snapshot. An end that the page knows already stays the same entry: a person may be looking
 * at it, and the snapshot may lack its result. Ends that the snapshot lacks stay, too: only this page still knows them.
 * @param latest oldest first
 * @param over the requests that were open when the page heard of them last, and are not any more
 * @returns the ends of these requests
 */
export function joinHistory(history: Ended[], latest: readonly EndedRequest[], over: Map<string, Request>): Ended[] {
  const known = new Map(history.filter((one) => !one.earlier).map((one) => [endKey(one.requestId, one.endTime), one]));
  const listed: Set<Ended> = new Set();
  const fresh: Ended[] = [];
  const joined = latest.map((end) => {
    const { requestId = '' } = end.cancelled ?? end.finished ?? {};
    const entry = known.get(endKey(requestId, end.endTime));
    if (entry) {
      listed.add(entry);
      return learned(entry, end.cancelled);
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

/** Marks all entries as those of a hub that has ended. */
export function sealHistory(history: readonly Ended[]) {
  for (const entry of history) entry.earlier = true;
}

const names = ['tool', 'subject'] as const;

const errorsOf = ({ cancelled, finished }: End) =>
  [finished?.mcpError, finished?.hubError, cancelled?.error].filter((error) => error !== undefined);

function sizeOf(end: End) {
  let size = end.finished?.resultJson?.length ?? 0;
  for (const one of [end.cancelled, end.finished])
    for (const name of names) size += Math.max(0, (one?.[name]?.length ?? 0) - shortMessage);
  for (const error of errorsOf(end))
    size += (error.message?.length ?? 0) + ('dataJson' in error ? error.dataJson.length : 0);
  return size;
}

/**
 * Bounds the history. The latest entries keep their whole texts. Older entries lose long texts, but not their outcome.
 */
function bound(history: Ended[]) {
  if (history.length > mostEnded) history.splice(0, history.length - mostEnded);
  let size = 0;
  for (let i = history.length - 1; i >= 0; i--) {
    const entry = history[i];
    size += entry?.size ?? 0;
    if (size > mostTextBytes && entry && entry.size > shortMessage) shorten(entry);
  }
}

function shorten(entry: Ended) {
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
 * @returns whether there was such an entry
 */
export function cancelDelivered(
  history: Ended[],
  { requestId, delivery, error }: McpRequestCancelDeliveryJson,
): boolean {
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
 * Records that the server has answered a request after its cancel, in the latest entry of the request.
 * @returns whether it was cancelled, and that was not known
 */
export function answeredLate(history: Ended[], { requestId, answer }: McpRequestAnsweredLateJson): boolean {
  const at = history.findLastIndex((entry) => entry.requestId === requestId && !entry.earlier);
  const entry = history[at];
  if (!entry?.cancelled || entry.cancelled.lateAnswer || !answer) return false;
  history[at] = answered(entry, answer);
  return true;
}

/** Returns the entry with what a snapshot says of its cancel. It is the same entry if nothing is new. */
function learned(entry: Ended, cancelled: Ended['cancelled']): Ended {
  const { delivery, deliveryError, lateAnswer } = cancelled ?? {};
  const { cancelled: known } = entry;
  const now = !delivery || delivery === known?.delivery ? entry : delivered(entry, delivery, deliveryError);
  return !lateAnswer || known?.lateAnswer ? now : answered(now, lateAnswer);
}

const answered = (entry: Ended, lateAnswer: LateAnswerJson): Ended => ({
  ...entry,
  cancelled: { ...entry.cancelled, lateAnswer, serverMayContinue: false },
});

const delivered = (entry: Ended, delivery: CancelDeliveryJson, deliveryError: string = ''): Ended => ({
  ...entry,
  cancelled: {
    ...entry.cancelled,
    delivery,
    deliveryError,
    serverNotified: delivery === 'CANCEL_DELIVERY_DELIVERED',
  },
});
