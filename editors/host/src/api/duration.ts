// Times and lengths of time of the contract, as a Date and as milliseconds.
import { HubError } from '../failure.js';
import type { Timeouts } from '../gen/mcphub/v1/hub_pb.js';
import type { McpTimeouts } from './mcphub.js';

export interface Duration {
  readonly seconds: bigint;
  readonly nanos: number;
}

/** Returns a duration of the contract. Throws a HubError for anything but a number of milliseconds from 0 up. */
export function duration(name: string, ms: number): Duration {
  if (!(ms >= 0 && Number.isFinite(ms))) {
    throw new HubError(
      'invalid_argument',
      'INVALID_REQUEST',
      `timeouts.${name} is ${ms}: it is a number of milliseconds, 0 for no limit.`,
    );
  }
  const whole = Math.floor(ms / 1000);
  return { seconds: BigInt(whole), nanos: Math.floor((ms - whole * 1000) * 1e6) };
}

/** Converts the timeouts of a call. An absent one means the value of the config. */
export function timeouts(t: McpTimeouts): Partial<Record<'idle' | 'total' | 'human', Duration>> {
  return {
    ...(t.idleMs !== undefined && { idle: duration('idleMs', t.idleMs) }),
    ...(t.totalMs !== undefined && { total: duration('totalMs', t.totalMs) }),
    ...(t.humanMs !== undefined && { human: duration('humanMs', t.humanMs) }),
  } satisfies Partial<Record<Exclude<keyof Timeouts, `$${string}`>, Duration>>;
}

export function milliseconds(d: Duration | undefined): number {
  return d === undefined ? 0 : Number(d.seconds) * 1000 + d.nanos / 1e6;
}

export function date(time: Duration | undefined): Date | undefined {
  return time && new Date(Number(time.seconds) * 1000 + Math.floor(time.nanos / 1e6));
}
