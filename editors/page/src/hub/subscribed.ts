// The resources that this window is subscribed to, and which of them have changed since somebody read them in the page.
// A server that reports changes without end causes only one mark.

import type { RequestJson as Request } from '../../../host/src/gen/mcphub/v1/request_pb.js';

export interface Subscribed {
  server: string;
  uri: string;
  /** the resource has changed since it was read, or may have */
  changed: boolean;
  /** it has, since its server said so */
  sure: boolean;
  /** the resource has changed since the last read began */
  again: boolean;
}

/** The subscriptions by server and URI. */
export type Subscriptions = Map<string, Subscribed>;

const keyOf = (server: string, uri: string) => `${server}\n${uri}`;

export const subscribedTo = (all: Subscriptions, server: string, uri: string) => all.get(keyOf(server, uri));

/** Returns the subscriptions of one server, in the order in which they were made. */
export const subscriptionsOf = (all: Subscriptions, server: string) =>
  [...all.values()].filter((one) => one.server === server);

export function setSubscribed(all: Subscriptions, server: string, uri: string, on: boolean) {
  const key = keyOf(server, uri);
  if (!on) all.delete(key);
  else if (!all.has(key)) all.set(key, { server, uri, changed: false, sure: false, again: false });
}

/**
 * Replaces the subscriptions by those of a snapshot. Those that were there before are marked: it is not known whether
 * their resources have changed while the connection was lost.
 */
export function replaceSubscribed(all: Subscriptions, now: readonly { server?: string; uri?: string }[]) {
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
 * @returns whether a mark is new
 */
export function resourceChanged(all: Subscriptions, server: string, uri: string): boolean {
  let marked = false;
  for (const one of all.values())
    if (one.server === server && (uri === one.uri || uri.startsWith(one.uri.endsWith('/') ? one.uri : `${one.uri}/`)))
      marked = mark(one, true) || marked;
  return marked;
}

/**
 * Marks all subscriptions: it is not known which resources have changed.
 * @returns whether a mark is new
 */
export function anyChanged(all: Subscriptions): boolean {
  let marked = false;
  for (const one of all.values()) marked = mark(one, false) || marked;
  return marked;
}

function mark(one: Subscribed, sure: boolean) {
  const isNew = !one.changed || (sure && !one.sure);
  one.changed = one.again = true;
  one.sure ||= sure;
  return isNew;
}

const meant = (
  all: Subscriptions,
  { method, server = '', subject = '', caller = '' }: Pick<Request, 'method' | 'server' | 'subject' | 'caller'>,
) => (method === 'resources/read' && caller === '' ? all.get(keyOf(server, subject)) : undefined);

/** Is called when the page begins to read a resource. Later changes may not be in the result. */
export function readBegan(all: Subscriptions, request: Request) {
  const one = meant(all, request);
  if (one) one.again = false;
}

/**
 * Is called when a request has ended. It removes the mark of a resource that was read.
 * @returns whether a mark is gone
 */
export function readEnded(
  all: Subscriptions,
  end: Pick<Request, 'method' | 'server' | 'subject' | 'caller'> & { state?: string },
): boolean {
  const one = end.state === 'REQUEST_STATE_DONE' ? meant(all, end) : undefined;
  if (!one?.changed) return false;
  one.changed = one.again;
  one.sure &&= one.again;
  return !one.changed;
}
