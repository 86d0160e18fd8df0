// What a request is called, and what there is to say of its cancellation.

import { originWord, visible } from './text.js';

/** @typedef {import('../host/src/gen/mcphub/v1/request_pb.js').RequestJson} Request */
/** @typedef {import('../host/src/gen/mcphub/v1/request_pb.js').CancellationJson} Cancellation */

/** What each method asks for. %: its subject. @type {Record<string, string>} */
const outgoing = {
  'resources/read': 'Read %', 'prompts/get': 'Prompt template %', 'initialize': 'Start of the session', 'server/discover': 'Start of the session',
  'authorization': 'Sign-in at %', 'launch': 'Question whether it may start', 'input': 'Question for the input %',
};
/** @type {Record<string, string>} */
const incoming = { 'elicitation/create': 'Server asks for input', 'sampling/createMessage': 'Server asks for a completion' };

/** @param {Pick<Request, 'direction' | 'method' | 'tool' | 'subject'>} request */
export function titleOf({ direction, method = '', tool, subject }) {
  if (direction === 'REQUEST_DIRECTION_INCOMING') return incoming[method] ?? `Server asks: ${visible(method)}`;
  if (tool) return visible(tool);
  return visible((outgoing[method] ?? `${method} %`).replace('%', () => subject ?? '').trim());
}

/** The start of a session itself cannot be cancelled, only what waits for it. @param {Request} request */
export const cancellable = ({ method }) => method !== 'initialize' && method !== 'server/discover';

/** "by you: wrong folder". @param {Cancellation | undefined} cancellation */
export function byWhom(cancellation) {
  const reason = cancellation?.reason ? `: ${visible(cancellation.reason)}` : '';
  return `by ${originWord(cancellation?.origin)}${reason}`;
}
