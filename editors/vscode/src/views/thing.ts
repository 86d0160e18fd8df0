// One thing that can be opened in an editor tab, in the form in which the page is told of it.
import type { OpenJson, Relay } from '@mcphub/host/contract';
import { titleOf } from '../../../page/src/hub/requestwords.js';
import type { Ended } from '../../../page/src/hub/ended.js';
import type { Known } from '../hub/known.js';
import { nameLine } from './serverwords.js';

export type Thing = Readonly<OpenJson>;

const kinds = ['tool', 'resource', 'resourceTemplate', 'mcpPrompt', 'requestId'] as const;

type Kind = (typeof kinds)[number];

const kindOf = (thing: Thing): Kind | undefined => kinds.find((kind) => thing[kind] !== undefined);

const nameOf = (thing: Thing): string => thing[kindOf(thing) ?? 'server'] ?? '';

/**
 * Returns the thing that an argument of a command names, or undefined. The argument may come from a link of the page,
 * or from what a page remembers.
 */
export function thingOf(argument: unknown): Thing | undefined {
  if (typeof argument !== 'object' || argument === null) {
    return undefined;
  }
  const texts = Object.entries(argument).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  const { server = '', ...others } = Object.fromEntries(texts);
  const kind = kinds.find((one) => others[one] !== undefined);
  if (kind === 'requestId') {
    return { requestId: others[kind] ?? '' };
  }
  return server === '' ? undefined : { server, ...(kind === undefined ? {} : { [kind]: others[kind] ?? '' }) };
}

/** Returns the same text for the same thing, and for no other. */
export const keyOf = (thing: Thing): string => JSON.stringify([kindOf(thing) ?? '', thing.server ?? '', nameOf(thing)]);

/** Returns the message that tells the page to open it. */
export function openOf(thing: Thing): Parameters<Relay['open']>[0] {
  const kind = kindOf(thing);
  return { server: thing.server ?? '', ...(kind === undefined ? {} : { thing: { case: kind, value: nameOf(thing) } }) };
}

/** Returns the latest end of the request that the thing is. */
export const endedOf = ({ state }: Known, thing: Thing): Ended | undefined =>
  state.history.findLast((entry) => entry.requestId === thing.requestId);

/** Reports whether the thing is there, or its server is: what a server offers is known only once it is asked. */
export const exists = (known: Known, thing: Thing): boolean =>
  thing.requestId === undefined ? known.state.servers.has(thing.server ?? '') : endedOf(known, thing) !== undefined;

/** Returns the title of the thing's tab. */
export function tabTitle(known: Known, thing: Thing): string {
  const ended = thing.requestId === undefined ? undefined : endedOf(known, thing);
  return nameLine(ended === undefined ? nameOf(thing) : titleOf(ended.about));
}
