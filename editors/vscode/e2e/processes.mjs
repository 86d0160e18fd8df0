import { readFileSync, readdirSync } from 'node:fs';
import { until } from './until.mjs';

/** @typedef {{pid: number, parent: number, command: string}} Process */

/**
 * Reads one process. A zombie counts as gone: it runs no more, and when it is reaped does not matter here.
 *
 * @param {number} pid
 * @returns {Process | undefined}
 */
export function processOf(pid) {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    if (/^State:\s+[ZX]/m.test(status)) return undefined;
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').join(' ').trim();
    return { pid, parent: Number(/^PPid:\s+(\d+)/m.exec(status)?.[1]), command };
  } catch {
    return undefined; // it has ended since the listing
  }
}

/** @returns {Process[]} */
export function allProcesses() {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => processOf(Number(name)))
    .filter((found) => found !== undefined);
}

/**
 * The processes whose environment has a variable with this value. They descend from a process that was started with it,
 * whoever their parent is now.
 *
 * @param {string} name
 * @param {string} value
 */
export function processesWith(name, value) {
  const wanted = `${name}=${value}`;
  return allProcesses().filter(({ pid }) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(wanted);
    } catch {
      return false;
    }
  });
}

/**
 * A process and the chain of its parents, nearest first.
 *
 * @param {number} pid
 */
export function lineage(pid) {
  const chain = [];
  for (let at = processOf(pid); at !== undefined && at.pid > 1; at = processOf(at.parent)) chain.push(at);
  return chain;
}

/** @param {Process} process */
export function isHub({ command }) {
  return /\/mcphub serve\b/.test(command);
}

/** @param {Process} process */
export function isExtensionHost({ command }) {
  return /--type=extensionHost\b/.test(command);
}

/**
 * @param {string} what
 * @param {number[]} pids
 */
export function untilGone(what, pids) {
  return until(`${what} (${pids.join(', ')}) gone`, () => pids.every((pid) => processOf(pid) === undefined));
}
