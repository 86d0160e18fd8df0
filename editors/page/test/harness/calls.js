// Messages of the window stream as tests see them: the request of a call, and the response in a reply, are a member
// with the name of their method, as in { messageId, listTools: { server } }.

import { services } from '../../src/hub/methods.js';

/**
 * @typedef {import('./schema.js').AttachRequestJson} AttachRequestJson
 * @typedef {import('../../../host/src/gen/mcphub/v1/editor_pb.js').ReplyJson} ReplyJson
 * @typedef {import('../../src/hub/methods.js').Method} Method
 */
/** @template {Method} M @typedef {import('../../src/hub/methods.js').RequestOf<M>} RequestOf */
/** @template {Method} M @typedef {import('../../src/hub/methods.js').ResponseOf<M>} ResponseOf */
/**
 * A message of the page.
 * @typedef {Omit<AttachRequestJson, 'call'> & { [M in Method as Uncapitalize<M>]?: RequestOf<M> }} Message
 */
/** What a message says, or the method that it calls. @typedef {Exclude<keyof Message, 'messageId'>} Kind */
/**
 * What a reply says.
 * @typedef {Omit<ReplyJson, 'messageId' | 'response'> & { [M in Method as Uncapitalize<M>]?: ResponseOf<M> }} Reply
 */

/** The methods that make a request of the hub: their replies have no response. */
const requests = new Set(['CallTool', 'ReadResource', 'GetMcpPrompt']);

/** @param {AttachRequestJson} message @returns {Message} */
export function decoded({ call, ...message }) {
  if (!call) return message;
  const method = call.method?.replace(/^.*\//, '') ?? '';
  const { '@type': _, ...request } = call.request ?? {};
  return { ...message, [method.charAt(0).toLowerCase() + method.slice(1)]: request };
}

/** @param {Message} message */
export const kindOf = (message) => Object.keys(message).find((key) => key !== 'messageId') ?? '';

/**
 * Returns the reply to a message. Like a real hub, it has a response to each call that makes no request and has not
 * failed.
 * @param {Message} message
 * @param {Reply} reply
 * @returns {ReplyJson}
 */
export function encoded(message, { cancelOutcome, error, errorPlace, ...responses }) {
  const kind = kindOf(message) === 'chooseBundle' ? 'readBundle' : kindOf(message);
  const method = kind.charAt(0).toUpperCase() + kind.slice(1);
  const [given = kind, response = {}] = Object.entries(responses)[0] ?? [];
  if (given !== kind) throw new Error(`${given} is no response to ${JSON.stringify(message)}`);
  return {
    messageId: message.messageId ?? '',
    ...(cancelOutcome && { cancelOutcome }),
    ...(error && { error }),
    ...(errorPlace && { errorPlace }),
    ...(!error
      && method in services
      && !requests.has(method) && {
        response: { '@type': `type.googleapis.com/mcphub.v1.${method}Response`, ...response },
      }),
  };
}
