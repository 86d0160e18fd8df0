// Texts for people: times, sizes, and words for the enums of the stream, so that a thing has the same name on the whole
// page.

import { Indenter } from './indenter.js';
import { visible } from '../../../host/src/visible.js';
import { number, plural, t, timeOfDay } from './t.js';
import type {
  OriginJson as Origin,
  RequestStateJson as RequestState,
} from '../../../host/src/gen/mcphub/v1/request_pb.js';
import type { PromptCauseJson as PromptCause } from '../../../host/src/gen/mcphub/v1/prompt_pb.js';

export { visible };

/**
 * How many characters of a name are shown. It is the maximum that MCP allows for the name of a tool (2025-11-25
 * server/tools, "Tool Names").
 */
export const longestName = 128;

/**
 * Returns the name of a tool or a server in a list: of a long name only its start, with its length. fullName shows the
 * whole name where it must be read.
 */
export function shortName(name: string | undefined = '') {
  if (name.length <= longestName) return visible(name);
  let count = 0;
  let end = 0;
  for (const char of name) if (++count <= longestName / 2) end += char.length;
  return visible(count <= longestName ? name : t('{0}… ({1} characters)', name.slice(0, end), count));
}

/**
 * Returns the start of a text that may be as long as a message, and says how much is left out.
 * @param most UTF-16 units
 */
export function startOf(text: string, most: number) {
  if (text.length <= most) return text;
  const kept = text.slice(0, most).replace(/[\uD800-\uDBFF]$/, '');
  return plural(text.length - kept.length, '{1} … and {0} more character', '{1} … and {0} more characters', kept);
}

/** Returns the parts that there are, as one line. */
export const dotted = (...parts: readonly unknown[]) => parts.filter(Boolean).join(' · ');

/** Returns the last part of a path. */
export const fileName = (path: string | undefined = '') => path.split(/[\\/]/).at(-1) ?? '';

const manyLines = /(?:\n[^\n]*){16}/;

/**
 * Returns the properties of an element with a text. If the text is very long, the element scrolls, and must be a tab
 * stop.
 * @param name of the class
 */
export const longClass = (name: string, text: string) =>
  text.length > 800 || manyLines.test(text) ? { class: `${name} long`, tabindex: 0 } : { class: name };

/** Returns words for a duration. */
export function duration(ms: number) {
  if (ms < 950) return `${number(Math.max(0, ms / 1000))} s`;
  const s = Math.round(ms / 1000);
  const pair = (big: number, unit: string, small: number, sub: string) =>
    small ? `${big} ${unit} ${small} ${sub}` : `${big} ${unit}`;
  if (s < 60) return `${s} s`;
  if (s < 3600) return pair(Math.floor(s / 60), 'min', s % 60, 's');
  return pair(Math.floor(s / 3600), 'h', Math.floor((s % 3600) / 60), 'min');
}

/** Returns a running time as a clock shows it: "0:04", "1:02:03". */
export function stopwatch(ms: number) {
  const s = Math.max(0, Math.floor(ms / 1000));
  const two = (n: number) => String(n).padStart(2, '0');
  const [hours, minutes] = [Math.floor(s / 3600), Math.floor((s % 3600) / 60)];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(s % 60)}` : `${minutes}:${two(s % 60)}`;
}

/**
 * Returns words for a duration of the stream, or '' without one.
 * @param text as proto3 JSON spells it: "3.5s"
 */
export function durationOf(text: string | undefined) {
  return text ? duration(parseFloat(text) * 1000) : '';
}

export function clockTime(timestamp: string | undefined) {
  const date = new Date(timestamp ?? '');
  return Number.isNaN(date.getTime()) ? '' : timeOfDay(date);
}

/** @param count of bytes; proto3 JSON has large ones as strings */
export function bytes(count: number | string) {
  let n = Number(count);
  if (n < 1000) return plural(n, '{0} byte', '{0} bytes');
  const units = ['kB', 'MB', 'GB', 'TB'];
  let unit = 0;
  for (n /= 1000; n >= 999.5 && unit < 3; n /= 1000) unit++;
  return `${number(n < 9.95 ? n : Math.round(n))} ${units[unit]}`;
}

/** Indents JSON for a person to read. */
export const pretty = (json: string | undefined) => new Indenter(1 << 20).add(json ?? '');

const origins: Record<Origin, string> = {
  ORIGIN_UNSPECIFIED: t('somebody'),
  ORIGIN_USER: t('you'),
  ORIGIN_HOST: t('the host'),
  ORIGIN_SERVER: t('the server'),
  ORIGIN_TIMEOUT: t('a timeout'),
  ORIGIN_PARENT: t('the end of its call'),
  ORIGIN_TRANSPORT: t('the end of the connection'),
  ORIGIN_POLICY: t('a policy'),
  ORIGIN_SHUTDOWN: t('the end of the hub'),
};
const causes: Record<PromptCause, string> = {
  PROMPT_CAUSE_UNSPECIFIED: t('Closed'),
  PROMPT_CAUSE_ANSWERED: t('Answered'),
  PROMPT_CAUSE_DECLINED: t('Declined'),
  PROMPT_CAUSE_DISMISSED: t('Dismissed'),
  PROMPT_CAUSE_WITHDRAWN: t('Withdrawn'),
  PROMPT_CAUSE_PARENT: t('The call ended first'),
  PROMPT_CAUSE_TIMEOUT: t('Timed out'),
  PROMPT_CAUSE_SERVER_GONE: t('Server gone'),
  PROMPT_CAUSE_SHUTDOWN: t('The hub is shutting down'),
  PROMPT_CAUSE_SUPERSEDED: t('No longer needed'),
};
const requestStates: Record<RequestState, string> = {
  REQUEST_STATE_UNSPECIFIED: t('Unknown'),
  REQUEST_STATE_QUEUED: t('Queued'),
  REQUEST_STATE_AWAITING_APPROVAL: t('Waiting for approval'),
  REQUEST_STATE_CONNECTING: t('Connecting'),
  REQUEST_STATE_RUNNING: t('Running'),
  REQUEST_STATE_AWAITING_INPUT: t('Waiting for an answer'),
  REQUEST_STATE_CANCELLING: t('Cancelling…'),
  REQUEST_STATE_DONE: t('Done'),
  REQUEST_STATE_FAILED: t('Failed'),
  REQUEST_STATE_CANCELLED: t('Cancelled'),
  REQUEST_STATE_TASK_WORKING: t('Running as a task'),
};

/** Returns a word for who has ended something, as in "cancelled by …". */
export const originWord = (origin: Origin | undefined) => origins[origin ?? 'ORIGIN_UNSPECIFIED'];

export const causeWord = (cause: PromptCause | undefined) => causes[cause ?? 'PROMPT_CAUSE_UNSPECIFIED'];

export const stateWord = (state: RequestState | undefined) => requestStates[state ?? 'REQUEST_STATE_UNSPECIFIED'];
