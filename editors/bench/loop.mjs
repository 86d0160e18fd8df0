import { monitorEventLoopDelay, performance } from 'node:perf_hooks';

/** The middle of some numbers. @param {number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? NaN;
}

/**
 * What work costs this process: its CPU time and how long its event loop was kept from turning.
 * @template T @param {() => Promise<T>} work
 * @returns {Promise<{result: T, cpuMs: number, wallMs: number, p99Ms: number, maxMs: number}>}
 */
export async function observed(work) {
  // The histogram samples once a millisecond and counts that millisecond in: what is above it is delay.
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const cpu = process.cpuUsage();
  const start = performance.now();
  const result = await work();
  const wallMs = performance.now() - start;
  const used = process.cpuUsage(cpu);
  delay.disable();
  return { result, cpuMs: (used.user + used.system) / 1000, wallMs, p99Ms: delay.percentile(99) / 1e6, maxMs: delay.max / 1e6 };
}
