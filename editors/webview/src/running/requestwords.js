// What a request is called, and what there is to say of its cancellation.

import { originWord, shortName, visible } from '../words/text.js';

/** @typedef {import('../../../host/src/gen/mcphub/v1/request_pb.js').RequestJson} Request */
/** @typedef {import('../../../host/src/gen/mcphub/v1/request_pb.js').CancellationJson} Cancellation */

/** What each method asks for. %: its subject. @type {Record<string, string>} */
const outgoing = {
  'resources/read': 'Read %',
  'prompts/get': 'Prompt template %',
  'initialize': 'Start of the session',
  'server/discover': 'Start of the session',
  'authorization': 'Sign-in at %',
  'launch': 'Question whether it may start',
  'input': 'Question for the input %',
};
/** @type {Record<string, string>} */
const incoming = {
  'elicitation/create': 'Server asks for input',
  'sampling/createMessage': 'Server asks for a completion',
};

/** @param {Pick<Request, 'direction' | 'method' | 'tool' | 'subject'>} request */
export function titleOf({ direction, method = '', tool, subject }) {
  if (direction === 'REQUEST_DIRECTION_INCOMING') return incoming[method] ?? `Server asks: ${shortName(method)}`;
  if (tool) return shortName(tool);
  return (outgoing[method] ?? `${shortName(method)} %`).replace('%', () => shortName(subject)).trim();
}

/**
 * Whose it is: its server, and the client of a gateway that asked for it.
 * @param {Pick<Request, 'server' | 'caller'>} of
 */
export const ofWords = ({ server, caller }) =>
  caller ? `${shortName(server)}, for ${shortName(caller)}` : shortName(server);

/**
 * What is known of the way of a cancel to the server. None of it says that the server has stopped.
 * @param {import('../../../host/src/gen/mcphub/v1/request_pb.js').CancelDeliveryJson | undefined} delivery
 * @param {string | undefined} error
 */
export function sentWords(delivery, error) {
  switch (delivery) {
    case 'CANCEL_DELIVERY_DELIVERED':
      return 'sent to the server';
    case 'CANCEL_DELIVERY_PENDING':
      return 'being sent to the server';
    case 'CANCEL_DELIVERY_FAILED':
      return `could not be sent to the server: ${visible(error)}`;
    case 'CANCEL_DELIVERY_NOT_NEEDED':
      return 'not needed: nothing was open at the server';
    default:
      return '';
  }
}

/**
 * The same for the end of a request, with whether the server may go on.
 * @param {NonNullable<import('../hub/ended.js').End['cancelled']>} end
 */
export function cancelWords({ direction, delivery, deliveryError, wireIdJson, serverNotified, serverMayContinue }) {
  if (direction === 'REQUEST_DIRECTION_INCOMING') return '';
  const goesOn = serverMayContinue ? 'The server may go on: work and side effects cannot be ruled out.' : '';
  if (delivery === 'CANCEL_DELIVERY_NOT_NEEDED')
    return wireIdJson ? 'Nothing was open at the server.' : 'Nothing had been sent.';
  const sent = sentWords(!delivery && serverNotified ? 'CANCEL_DELIVERY_DELIVERED' : delivery, deliveryError);
  return [sent && `The cancel was ${sent}.`.replace('was could', 'could').replace('was being', 'is being'), goesOn]
    .filter(Boolean)
    .join(' ');
}

/**
 * Whether the request is a question of a server, or of the hub itself. While it is open its card shows it.
 * @param {Request} request
 */
export const isQuestion = ({ direction, method = '' }) =>
  direction === 'REQUEST_DIRECTION_INCOMING' || method === 'authorization' || method === 'launch' || method === 'input';

/** The start of a session itself cannot be cancelled, only what waits for it. @param {Request} request */
export const cancellable = ({ method }) => method !== 'initialize' && method !== 'server/discover';

/** "by you: wrong folder". @param {Cancellation | undefined} cancellation */
export function byWhom(cancellation) {
  const reason = cancellation?.reason ? `: ${visible(cancellation.reason)}` : '';
  return `by ${originWord(cancellation?.origin)}${reason}`;
}
