import { cpus, loadavg } from 'node:os';

/** Where and under what load the figures are taken: one line. */
export function machine() {
  const model = cpus()[0]?.model ?? 'unknown processor';
  return `Node ${process.versions.node}, ${cpus().length} x ${model}, load of the last minute ${loadavg()[0]?.toFixed(1)}`;
}
