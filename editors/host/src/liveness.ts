// Whether a process that is not this one's child is there.
import { readFileSync } from 'node:fs';
import type { HubProcess, ProcessEnd } from './process.js';

/** False for a process that has ended, also when nobody has collected its status. */
export function isAlive(pid: number): boolean {
  if (pid <= 0) {
    return false;
  }
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'; // it is there, and somebody else's
  }
  if (process.platform !== 'linux') {
    return true;
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  } catch {
    return false;
  }
}

const lookMs = 50;
const looks = 40;
const killedLooks = 200;

/**
 * A hub that another process has started: no exit event comes from it, so a broken connection is taken as a reason to
 * look.
 */
export class AdoptedProcess implements HubProcess {
  readonly pid: number;
  readonly ended: Promise<ProcessEnd>;
  #tellEnd: (end: ProcessEnd) => void = () => {};
  #timer: NodeJS.Timeout | undefined;
  #left = 0;

  constructor(pid: number) {
    this.pid = pid;
    this.ended = new Promise((resolve) => {
      this.#tellEnd = resolve;
    });
  }

  /** Looks for two seconds whether it is gone: sockets close before the process has left the table. */
  suspect(): void {
    this.#look(looks);
  }

  kill(): void {
    try {
      process.kill(this.pid, 'SIGKILL');
    } catch {
      // It is gone already; the look will find that.
    }
    this.#look(killedLooks);
  }

  release(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#left = 0;
  }

  #look(times: number): void {
    this.#left = Math.max(this.#left, times);
    if (this.#timer !== undefined) {
      return;
    }
    if (!isAlive(this.pid)) {
      this.#left = 0;
      this.#tellEnd({ code: null, signal: null });
    } else if (this.#left > 0) {
      this.#timer = setTimeout(() => {
        this.#timer = undefined;
        this.#left--;
        this.#look(this.#left);
      }, lookMs);
    }
  }
}
