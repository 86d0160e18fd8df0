// Whether a process is alive that is not a child of this one.
import { readFileSync } from 'node:fs';
import type { HubProcess, ProcessEnd } from './process.js';

/**
 * Reports whether the process is alive. It is false for a process that has ended, even if its parent has not collected
 * its status.
 */
export function isAlive(pid: number): boolean {
  if (pid <= 0) {
    return false;
  }
  try {
    process.kill(pid, 0);
  } catch (error) {
    // the process exists, and belongs to another user
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
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
 * The process of a hub that another process has started. Node reports no exit of it, so `suspect` has to be called when
 * a connection breaks.
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

  /** Checks for two seconds whether the process has ended: its sockets close before it leaves the process table. */
  suspect(): void {
    this.#look(looks);
  }

  kill(): void {
    try {
      process.kill(this.pid, 'SIGKILL');
    } catch {
      // The process has ended already; the check notices that.
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
