import type { KeepRecord } from '../dist/keep.js';

/** The pid of no process: beyond the most that Linux gives, 2^22. */
export const dead = 2 ** 31 - 1;

/** A record of a hub, as a host keeps it: of this process as the hub, and a host that is gone. */
export function record(more: Partial<KeepRecord>): KeepRecord {
  return {
    key: 'k',
    hubPid: process.pid,
    hostPid: dead,
    network: 'unix',
    target: '/tmp/none',
    serverCert: '',
    clientCert: '',
    clientKey: '',
    socketDirectory: '/tmp/none',
    protocolVersion: 1,
    ...more,
  };
}
