import { monitorEventLoopDelay, performance } from 'node:perf_hooks';

/** The middle of some numbers. @param {number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? NaN;
}

/**
 * What work costs this process: its CPU time and how long its event loop was kept from turning.
 * @template T @param {() => Promise<T>} work
 * @param {boolean} [turns] also look at each turn of the loop, which keeps a processor busy
 * @returns {Promise<{result: T, cpuMs: number, wallMs: number, p99Ms: number, maxMs: number, turnMs: number}>}
 */
export async function observed(work, turns = false) {
  const longest = turns ? longestTurn() : async () => NaN;
  // The histogram samples once a millisecond and counts that millisecond in: what is above it is delay.
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  await new Promise(setImmediate); // the first sample must not be the start of the histogram
  delay.reset();
  const cpu = process.cpuUsage();
  const start = performance.now();
  const result = await work();
  const wallMs = performance.now() - start;
  const used = process.cpuUsage(cpu);
  const turnMs = await longest(); // with the turn in which the work has ended
  await new Promise((resolve) => setTimeout(resolve, 5)); // time for the sample that sees it
  delay.disable();
  return {
    result,
    cpuMs: (used.user + used.system) / 1000,
    wallMs,
    p99Ms: delay.percentile(99) / 1e6,
    maxMs: delay.max / 1e6,
    turnMs,
  };
}

/**
 * The most processor time that one turn of the loop takes, all threads of the process together, in ms.
 * @returns {() => Promise<number>}
 */
function longestTurn() {
  const now = () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  };
  let last = now(),
    longest = 0,
    over = false;
  const look = () => {
    const at = now();
    longest = Math.max(longest, at - last);
    last = at;
    if (!over) setImmediate(look);
  };
  setImmediate(look);
  return async () => {
    await new Promise(setImmediate);
    over = true;
    look();
    return longest;
  };
}
