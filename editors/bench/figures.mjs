import { performance } from 'node:perf_hooks';
import { median, observed } from './loop.mjs';
import { withHub, withSdk } from './subjects.mjs';

/** @typedef {import('./subjects.mjs').Subject} Subject */
/** @typedef {import('./table.mjs').Row} Row */

const rounds = 9;
const servers = 10;
const eventsPerSecond = 500; // of each server
const stormSeconds = 3;
const large = 32 << 20;

/**
 * All figures, the two subjects by turns in one process.
 * @param {NodeJS.ProcessEnv} env MCPHUB_BINARY, MCPHUB_BENCH_SERVER
 * @returns {Promise<Row[]>}
 */
export async function figures(env) {
  const { MCPHUB_BINARY: binary, MCPHUB_BENCH_SERVER: server } = env;
  if (!binary || !server)
    throw new Error(
      'MCPHUB_BINARY and MCPHUB_BENCH_SERVER must name the binaries; `make bench-editor` builds and names them',
    );
  const hub = await withHub(binary, server, servers);
  const sdk = await withSdk(server, servers);
  try {
    return [...(await calls(hub, sdk)), ...(await storms(hub, sdk)), await largeResult(hub, sdk)];
  } finally {
    await Promise.all([hub.close(), sdk.close()]);
  }
}

/** @param {Subject} hub @param {Subject} sdk @returns {Promise<Row[]>} */
async function calls(hub, sdk) {
  /** @param {Subject} subject */
  const one = async (subject) => {
    /** @type {number[]} */
    const times = [];
    for (let i = 0; i < 200; i++) {
      const start = performance.now();
      await subject.call(0, 'echo', { text: 'hello' });
      times.push(performance.now() - start);
    }
    return median(times);
  };
  for (let i = 0; i < 5; i++) {
    await one(hub);
    await one(sdk);
  } // both warm, and their servers: 1,000 calls each
  const [h, s] = await interleaved(hub, sdk, one);
  const extra = h - s;
  return [
    {
      what: 'one call, median',
      hub: `${us(h)}`,
      sdk: us(s),
      reach: `${us(extra)} more; at most 300 us: ${verdict(extra <= 0.3)}`,
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

/**
 * @param {Subject} hub
 * @param {Subject} sdk
 * @param {(subject: Subject) => Promise<number>} one
 * @returns {Promise<[number, number]>}
 */
async function interleaved(hub, sdk, one) {
  const h = [],
    s = [];
  for (let i = 0; i < rounds; i++) {
    // by turns the first: what the one leaves behind must not always fall to the other
    if (i % 2 === 0) {
      h.push(await one(hub));
      s.push(await one(sdk));
    } else {
      s.push(await one(sdk));
      h.push(await one(hub));
    }
  }
  return [median(h), median(s)];
}

const us = (/** @type {number} */ msValue) => `${(msValue * 1000).toFixed(0)} us`;
const ms = (/** @type {number} */ value) => `${value.toFixed(1)} ms`;
const percent = (/** @type {number} */ share) => `${(share * 100).toFixed(1)} %`;
const verdict = (/** @type {boolean} */ ok) => (ok ? 'reached' : 'MISSED');
