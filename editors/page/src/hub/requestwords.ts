// The words for requests and for their cancellation.

import { originWord, shortName, visible } from '../words/text.js';
import { t } from '../words/t.js';
import type {
  CancelDeliveryJson,
  CancellationJson as Cancellation,
  RequestJson as Request,
} from '../../../host/src/gen/mcphub/v1/request_pb.js';

/** The title of an outgoing request by its method, made from its subject. */
const outgoing: Record<string, (subject: string) => string> = {
  'resources/read': (subject) => t('Read {0}', subject),
  'prompts/get': (subject) => t('Prompt template {0}', subject),
  'initialize': () => t('Start of the session'),
  'server/discover': () => t('Start of the session'),
  'authorization': (subject) => t('Sign-in at {0}', subject),
  'launch': () => t('Question whether it may start'),
  'input': (subject) => t('Question for the input {0}', subject),
};
const incoming: Record<string, string> = {
  'elicitation/create': t('Server asks for input'),
  'sampling/createMessage': t('Server asks for a completion'),
};

export function titleOf({
  direction,
  method = '',
  tool,
  title,
  subject,
}: Pick<Request, 'direction' | 'method' | 'tool' | 'title' | 'subject'>) {
  if (direction === 'REQUEST_DIRECTION_INCOMING') return incoming[method] ?? t('Server asks: {0}', shortName(method));
  if (tool) return shortName(title || tool);
  const words = outgoing[method];
  return (words ? words(shortName(subject)) : `${shortName(method)} ${shortName(subject)}`).trim();
}

/**
 * Returns the words that say whose request it is: its server, and the client of a gateway that made it. If the request
 * is shown by the title of its tool, the name of the tool stands before them: two tools may have the same title.
 */
export const ofWords = ({ server, caller, tool, title }: Pick<Request, 'server' | 'caller' | 'tool' | 'title'>) =>
  [
    title && title !== tool && shortName(tool),
    caller ? t('{0}, for {1}', shortName(server), shortName(caller)) : shortName(server),
  ]
    .filter(Boolean)
    .join(' · ');

/**
 * Returns what is known about the delivery of a cancellation to the server. It never means that the server has stopped.
 */
export function sentWords(delivery: CancelDeliveryJson | undefined, error: string | undefined) {
  switch (delivery) {
    case 'CANCEL_DELIVERY_DELIVERED':
      return t('sent to the server');
    case 'CANCEL_DELIVERY_PENDING':
      return t('being sent to the server');
    case 'CANCEL_DELIVERY_FAILED':
      return t('could not be sent to the server: {0}', visible(error));
    case 'CANCEL_DELIVERY_NOT_NEEDED':
      return t('not needed: nothing was open at the server');
    default:
      return '';
  }
}

/** Reports whether the request is a question of a server or of the hub itself. While it is open, a card shows it. */
export const isQuestion = ({ direction, method = '' }: Request) =>
  direction === 'REQUEST_DIRECTION_INCOMING' || method === 'authorization' || method === 'launch' || method === 'input';

/** Reports whether the request starts a session. */
export const isStart = ({ method }: Pick<Request, 'method'>) => method === 'initialize' || method === 'server/discover';

/** Reports whether a request can be cancelled. The start of a session cannot, only the requests that wait for it. */
export const cancellable = (request: Request) => !isStart(request);

/** Returns who has cancelled, and why, for example "by you: wrong folder". */
export function byWhom(cancellation: Cancellation | undefined) {
  const who = originWord(cancellation?.origin);
  return cancellation?.reason ? t('by {0}: {1}', who, visible(cancellation.reason)) : t('by {0}', who);
}

/** Returns the open requests of a server. */
export const requestsOf = (requests: ReadonlyMap<string, Request>, server: string) =>
  [...requests.values()].filter((r) => r.server === server);
