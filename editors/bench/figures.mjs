import { performance } from 'node:perf_hooks';
import { bareCall } from './floor.mjs';
import { median, observed } from './loop.mjs';
import { withHub, withSdk } from './subjects.mjs';

/** @typedef {import('./subjects.mjs').Subject} Subject */
/** @typedef {import('./table.mjs').Row} Row */

const rounds = 9;
const callsARound = 200;
const servers = 10;
const eventsPerSecond = 500; // of each server
const stormSeconds = 3;
const large = 32 << 20;

/**
 * All figures, the two subjects by turns in one process.
 * @param {NodeJS.ProcessEnv} env MCPHUB_BINARY, MCPHUB_BENCH_SERVER, MCPHUB_BENCH_ECHO
 * @returns {Promise<Row[]>}
 */
export async function figures(env) {
  const { MCPHUB_BINARY: binary, MCPHUB_BENCH_SERVER: server, MCPHUB_BENCH_ECHO: echo } = env;
  if (!binary || !server || !echo)
    throw new Error(
      'MCPHUB_BINARY, MCPHUB_BENCH_SERVER and MCPHUB_BENCH_ECHO must name the binaries; `make bench-editor` builds them',
    );
  const hub = await withHub(binary, server, servers);
  const sdk = await withSdk(server, servers);
  const floor = await bareCall(echo);
  try {
    return [...(await calls(hub, sdk, floor)), ...(await storms(hub, sdk)), await largeResult(hub, sdk)];
  } finally {
    await Promise.all([hub.close(), sdk.close(), floor.close()]);
  }
}

/**
 * @param {Subject} hub
 * @param {Subject} sdk
 * @param {{call: () => Promise<number>}} floor
 * @returns {Promise<Row[]>}
 */
async function calls(hub, sdk, floor) {
  /** @param {() => Promise<number>} call */
  const one = async (call) => {
    /** @type {number[]} */
    const times = [];
    const cpu = process.cpuUsage();
    for (let i = 0; i < callsARound; i++) {
      const start = performance.now();
      await call();
      times.push(performance.now() - start);
    }
    const { user, system } = process.cpuUsage(cpu);
    return { ms: median(times), cpuMs: (user + system) / 1000 / callsARound };
  };
  const ways = [() => hub.call(0, 'echo', { text: 'hello' }), () => sdk.call(0, 'echo', { text: 'hello' }), floor.call];
  for (let i = 0; i < 5; i++) for (const way of ways) await one(way); // all warm, and their servers: 1,000 calls each
  const seen = ways.map(() => /** @type {Awaited<ReturnType<typeof one>>[]} */ ([]));
  for (let i = 0; i < rounds; i++)
    // By turns the first: what the one leaves behind must not always fall to the same other.
    for (let j = 0; j < ways.length; j++) {
      const at = (i + j) % ways.length;
      seen[at].push(await one(ways[at]));
    }
  const [h, s, f] = seen.map((times) => ({
    ms: median(times.map((t) => t.ms)),
    cpuMs: median(times.map((t) => t.cpuMs)),
  }));
  const extra = h.ms - s.ms;
  /** @param {{ms: number, cpuMs: number}} of */
  const told = (of) => `${us(of.ms)} (${us(of.cpuMs)} of processor time here)`;
  return [
    {
      what: 'one call, median',
      hub: told(h),
      sdk: told(s),
      reach: `${us(extra)} more; at most 350 us: ${verdict(extra <= 0.35)}`,
    },
    {
      what: 'the floor of it: a bare call of grpc-js with mTLS to an echo of grpc-go',
      hub: told(f),
      sdk: '',
      reach: `the hub's call takes ${(h.ms / f.ms).toFixed(2)} of it, and what it adds to the SDK's ${(extra / f.ms).toFixed(2)}`,
    },
  ];
}

/** @param {Subject} hub @param {Subject} sdk @returns {Promise<Row[]>} */
async function storms(hub, sdk) {
  /** @param {Subject} subject */
  const one = (subject) => observed(() => subject.storm(eventsPerSecond * stormSeconds, eventsPerSecond));
  await one(hub);
  await one(sdk);
  /** @type {{h: Awaited<ReturnType<typeof one>>, s: Awaited<ReturnType<typeof one>>}[]} */
  const seen = [];
  for (let i = 0; i < 5; i++) {
    if (i % 2 === 0) {
      const h = await one(hub);
      seen.push({ h, s: await one(sdk) });
    } else {
      const s = await one(sdk);
      seen.push({ h: await one(hub), s });
    }
  }
  /** @param {(o: Awaited<ReturnType<typeof one>>) => number} of */
  const both = (of) => /** @type {const} */ ([median(seen.map((x) => of(x.h))), median(seen.map((x) => of(x.s)))]);
  const [hubBusy, sdkBusy] = both((o) => o.cpuMs / o.wallMs);
  const [hubDelay, sdkDelay] = both((o) => o.p99Ms);
  const [hubEvents, sdkEvents] = both((o) => o.result);
  const title = `${servers * eventsPerSecond} progress events a second from ${servers} servers`;
  return [
    {
      what: `${title}: CPU of the host`,
      hub: percent(hubBusy),
      sdk: percent(sdkBusy),
      reach: `${(hubBusy / sdkBusy).toFixed(2)} of it; at most 0.20: ${verdict(hubBusy <= sdkBusy / 5)}`,
    },
    {
      what: `${title}: p99 delay of its loop`,
      hub: ms(hubDelay),
      sdk: ms(sdkDelay),
      reach: `no higher: ${verdict(hubDelay <= sdkDelay)}`,
    },
    {
      what: `${title}: events handled`,
      hub: String(hubEvents),
      sdk: String(sdkEvents),
      reach: 'at most 20 a second of a request',
    },
  ];
}

/** @param {Subject} hub @param {Subject} sdk @returns {Promise<Row>} */
async function largeResult(hub, sdk) {
  await hub.call(0, 'large', { count: large });
  const runs = [];
  for (let i = 0; i < 5; i++) runs.push(await observed(() => hub.call(0, 'large', { count: large }), true));
  const whole = runs.every((r) => r.result > large);
  const delay = median(runs.map((r) => r.maxMs));
  // The clock also counts what the machine did for others; the processor's time in one turn of the loop does not.
  const turn = median(runs.map((r) => r.turnMs));
  // Last, and on a server of its own: it costs the SDK's client its connection.
  const of = await sdk.call(1, 'large', { count: large }).then(
    (n) => (n > large ? 'whole' : 'cut'),
    (error) => `lost: ${String(error.message).slice(0, 40)}`,
  );
  return {
    what: 'a result of 32 MiB: longest delay of the loop',
    hub: `${whole ? 'whole' : 'NOT WHOLE'}, ${ms(delay)} (${ms(turn)} of processor time; ${ms(median(runs.map((r) => r.wallMs)))} in all)`,
    sdk: of,
    reach: `whole, at most 40 ms: ${verdict(whole && delay <= 40)}`,
  };
}

const us = (/** @type {number} */ msValue) => `${(msValue * 1000).toFixed(0)} us`;
const ms = (/** @type {number} */ value) => `${value.toFixed(1)} ms`;
const percent = (/** @type {number} */ share) => `${(share * 100).toFixed(1)} %`;
const verdict = (/** @type {boolean} */ ok) => (ok ? 'reached' : 'MISSED');
