// The resources that this window is subscribed to, and which of them have changed since somebody read them in the page.
// A server that reports changes without end causes only one mark.

/** @typedef {import('../../../host/src/gen/mcphub/v1/request_pb.js').RequestJson} Request */
/**
 * @typedef {object} Subscribed
 * @property {string} server
 * @property {string} uri
 * @property {boolean} changed the resource has changed since it was read, or may have
 * @property {boolean} sure it has, since its server said so
 * @property {boolean} again the resource has changed since the last read began
 */
/** The subscriptions by server and URI. @typedef {Map<string, Subscribed>} Subscriptions */

/** @param {string} server @param {string} uri */
const keyOf = (server, uri) => `${server}\n${uri}`;

/** @param {Subscriptions} all @param {string} server @param {string} uri */
export const subscribedTo = (all, server, uri) => all.get(keyOf(server, uri));

/**
 * Returns the subscriptions of one server, in the order in which they were made.
 * @param {Subscriptions} all
 * @param {string} server
 */
export const subscriptionsOf = (all, server) => [...all.values()].filter((one) => one.server === server);

/** @param {Subscriptions} all @param {string} server @param {string} uri @param {boolean} on */
export function setSubscribed(all, server, uri, on) {
  const key = keyOf(server, uri);
  if (!on) all.delete(key);
  else if (!all.has(key)) all.set(key, { server, uri, changed: false, sure: false, again: false });
}

/**
 * Replaces the subscriptions by those of a snapshot. Those that were there before are marked: it is not known whether
 * their resources have changed while the connection was lost.
 * @param {Subscriptions} all
 * @param {readonly { server?: string, uri?: string }[]} now
 */
export function replaceSubscribed(all, now) {
  const before = new Map(all);
  all.clear();
  for (const { server = '', uri = '' } of now) {
    const key = keyOf(server, uri);
    const changed = before.has(key);
    all.set(key, { server, uri, changed, sure: before.get(key)?.sure ?? false, again: changed });
  }
}

/**
 * Marks the subscriptions to a resource that has changed, and to the resources above it.
 * @param {Subscriptions} all @param {string} server @param {string} uri
 * @returns {boolean} whether a mark is new
 */
export function resourceChanged(all, server, uri) {
  let marked = false;
  for (const one of all.values())
    if (one.server === server && (uri === one.uri || uri.startsWith(one.uri.endsWith('/') ? one.uri : `${one.uri}/`)))
      marked = mark(one, true) || marked;
  return marked;
}

/**
 * Marks all subscriptions: it is not known which resources have changed.
 * @param {Subscriptions} all
 * @returns {boolean} whether a mark is new
 */
export function anyChanged(all) {
  let marked = false;
  for (const one of all.values()) marked = mark(one, false) || marked;
  return marked;
}

/** @param {Subscribed} one @param {boolean} sure */
function mark(one, sure) {
  const isNew = !one.changed || (sure && !one.sure);
  one.changed = one.again = true;
  one.sure ||= sure;
  return isNew;
}

/** @param {Subscriptions} all @param {Pick<Request, 'method' | 'server' | 'subject' | 'caller'>} request */
const meant = (all, { method, server = '', subject = '', caller = '' }) =>
  method === 'resources/read' && caller === '' ? all.get(keyOf(server, subject)) : undefined;

/**
 * Is called when the page begins to read a resource. Later changes may not be in the result.
 * @param {Subscriptions} all
 * @param {Request} request
 */
export function readBegan(all, request) {
  const one = meant(all, request);
  if (one) one.again = false;
}

/**
 * Is called when a request has ended. It removes the mark of a resource that was read.
 * @param {Subscriptions} all
 * @param {Pick<Request, 'method' | 'server' | 'subject' | 'caller'> & { state?: string }} end
 * @returns {boolean} whether a mark is gone
 */
export function readEnded(all, end) {
  const one = end.state === 'REQUEST_STATE_DONE' ? meant(all, end) : undefined;
  if (!one?.changed) return false;
  one.changed = one.again;
  one.sure &&= one.again;
  return !one.changed;
}
