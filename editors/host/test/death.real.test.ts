import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { selfSigned } from '../dist/certificate.js';
import { McpHubService, PromptKind } from '../dist/contract.js';
import type { Hub, HubError, HubWindow } from '../dist/contract.js';
import { hubEnvironment, parseHandshake } from '../dist/handshake.js';
import { isAlive } from '../dist/liveness.js';
import { SpawnedProcess } from '../dist/process.js';
import { Channel } from '../dist/transport.js';
import { failure, long, pidOf, realBinary, stage, untilChanged } from './stage.js';

/** Adds the demo server to the hub. Its tool "sleep" takes a given time, and its journal records cancels. */
async function withDemo(hub: Hub, record: string): Promise<void> {
  const json = JSON.stringify({
    mcpServers: { demo: { command: realBinary(), args: ['demo-server', '--record', record] } },
  });
  await hub.servers.reloadConfig({ sources: [{ path: 'demo.json', json, scope: 'host' }] });
  await hub.servers.startServer({ server: 'demo' });
}

/** Waits until the demo server has recorded so many events of a name. It fails if a call ends before that. */
async function recorded(record: string, name: string, times: number, call: Promise<Error>): Promise<void> {
  let count = 0;
  const counting = new AbortController();
  const counted = untilChanged(
    record,
    (text = '') => {
      count = text.split('\n').filter((line) => line.includes(`"event":"${name}"`)).length;
      return count >= times;
    },
    counting.signal,
  );
  counted.catch(() => undefined);
  const ended = await Promise.race([counted, call]);
  counting.abort();
  assert.equal(ended?.message, undefined, 'a call has ended');
  assert.equal(count, times);
}

/** Resolves when the window has shown so many events of a kind. */
async function next(window: HubWindow, wanted: string, times = 1): Promise<void> {
  for await (const { event } of window) {
    if (event.case === wanted && --times === 0) {
      return;
    }
  }
  assert.fail(`the window ended before ${wanted}`);
}

test('kill -9 while idle, in a call and in a stream: HUB_DIED, and the window goes on with a snapshot', async (t) => {
  const s = stage(t);
  const hub = s.hub({ restart: { firstDelayMs: 20, maxAttempts: 9 } });
  await hub.start();
  const window = hub.window({ title: 'test', promptKinds: [PromptKind.TOOL_APPROVAL] });
  await next(window, 'snapshot');

  process.kill(pidOf(hub), 'SIGKILL'); // idle but for the window
  await next(window, 'snapshot');
  assert.equal(hub.generation, 2);
  assert.equal(
    (await failure(window.ask({ message: { case: 'cancelMcpRequest', value: {} } }))).code,
    'invalid_argument',
  );

  const record = join(s.directory, 'record');
  await withDemo(hub, record);
  const call = failure(
    hub.requests.callTool({
      server: 'demo',
      tool: 'sleep',
      argumentsJson: '{"seconds":600,"steps":1}',
      preapproved: true,
    }),
  );
  const stream = hub.attach({ title: 'raw' });
  await recorded(record, 'started', 1, call);
  process.kill(pidOf(hub), 'SIGKILL');
  assert.deepEqual([(await call).code, (await call).reason], ['unavailable', 'HUB_DIED']);
  const reader = stream[Symbol.asyncIterator]();
  assert.equal(
    (
      await failure(
        (async () => {
          while ((await reader.next()).done !== true) {
            /* until it ends */
          }
        })(),
      )
    ).reason,
    'HUB_DIED',
  );
  await next(window, 'snapshot');
  await window.close();
  assert.deepEqual(
    await window[Symbol.asyncIterator]()
      .next()
      .then((r) => r.done === true || r.value.event.case),
    true,
  );
});

test('a window that is closed ends the calls that it owns, and one whose stream breaks does not', async (t) => {
  const s = stage(t);
  const hub = s.hub({});
  await hub.start();
  const record = join(s.directory, 'record');
  await withDemo(hub, record);
  const owned = (ownerWindowId: string): Promise<HubError> =>
    failure(
      hub.requests.callTool({
        server: 'demo',
        tool: 'sleep',
        argumentsJson: '{"seconds":600,"steps":1}',
        preapproved: true,
        ownerWindowId,
      }),
    );
  const [closed, broken] = [hub.attach({ windowId: 'closed' }), hub.attach({ windowId: 'broken' })];
  const calls = [owned('closed'), owned('broken')] as const;
  await recorded(record, 'started', 2, Promise.race(calls));
  broken.break();
  closed.close();
  const ended = await calls[0];
  assert.deepEqual([ended.code, ended.reason], ['cancelled', 'CANCELLED']);
  const { requests } = await hub.requests.listRequests({});
  assert.deepEqual(
    requests.map((request) => request.tool),
    ['sleep'],
  );
  await hub.stop();
  await calls[1];
});

test('kill -9 while it starts and while it stops', async (t) => {
  const s = stage(t);
  let says = (): void => {};
  const there = new Promise<void>((resolve) => {
    says = resolve;
  });
  const starting = s.hub({ mode: 'silent', onLog: () => says() });
  const started = failure(starting.start());
  await there;
  childrenOf(process.pid).forEach((pid) => process.kill(pid, 'SIGKILL'));
  assert.deepEqual([(await started).reason, starting.state], ['HUB_DIED', 'failed']);
  const stopping = s.hub({ mode: 'deaf', stopTimeoutMs: long });
  await stopping.start();
  const stopped = stopping.stop();
  process.kill(pidOf(stopping), 'SIGKILL');
  await stopped;
  assert.equal(stopping.state, 'stopped');
});

function childrenOf(pid: number): number[] {
  const found = spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' });
  return found.stdout
    .trim()
    .split(/\s+/)
    .map(Number)
    .filter((child) => child > 0 && child !== found.pid && isAlive(child));
}

test('a stop is bounded, also of a hub that is stopped by a signal', async (t) => {
  const s = stage(t);
  const hub = s.hub({ stopTimeoutMs: 1000 });
  await hub.start();
  const pid = pidOf(hub);
  process.kill(pid, 'SIGSTOP');
  await hub.stop();
  assert.deepEqual([isAlive(pid), s.sockets()], [false, []]);
});

test('1,000 calls are cancelled by their AbortSignals, and the server hears of each', async (t) => {
  const s = stage(t);
  const hub = s.hub({});
  await hub.start();
  const record = join(s.directory, 'record');
  await withDemo(hub, record);
  const window = hub.window({ title: 'test' });
  await next(window, 'snapshot');
  const ended = next(window, 'mcpRequestCancelled', 1000); // a call that was given up goes on here until it is over
  for (let batch = 1; batch <= 20; batch++) {
    const calls = Array.from({ length: 50 }, () => {
      const aborting = new AbortController();
      const init = { server: 'demo', tool: 'sleep', argumentsJson: '{"seconds":600,"steps":1}', preapproved: true };
      return { aborting, over: failure(hub.requests.callTool(init, { signal: aborting.signal })) };
    });
    await recorded(record, 'started', batch * 50, Promise.race(calls.map(({ over }) => over)));
    calls.forEach(({ aborting }) => aborting.abort());
    assert.ok((await Promise.all(calls.map(({ over }) => over))).every((error) => error.code === 'cancelled'));
    await recorded(record, 'cancel_received', batch * 50, new Promise(() => {}));
  }
  await ended;
  assert.deepEqual((await hub.requests.listRequests({})).requests, []);
});

test('only the client whose certificate the hub was given gets in', async (t) => {
  const s = stage(t);
  const client = selfSigned();
  const running = new SpawnedProcess({
    binary: realBinary(),
    args: ['serve'],
    cwd: undefined,
    survive: false,
    onLog: () => {},
    env: hubEnvironment(
      process.env,
      { MCPHUB_STATE_DIR: '' },
      { socketDirectory: s.directory, clientCert: client.cert, returnGraceMs: undefined, program: 'test' },
    ),
  });
  t.after(async () => {
    running.kill();
    await running.ended;
  });
  const { serverCert = '', ...at } = parseHandshake(await running.firstLine, true);
  const ask = async (
    tls: { serverCert: string; client: { cert: string; key: string } } | undefined,
  ): Promise<string> => {
    const channel = new Channel({ ...at, tls });
    try {
      return await channel.unary(McpHubService.method.getInfo, {}, { timeoutMs: long }).then(
        () => 'in',
        (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : 'other'),
      );
    } finally {
      channel.close();
    }
  };
  assert.equal(await ask({ serverCert, client }), 'in');
  assert.equal(await ask({ serverCert, client: selfSigned() }), 'unavailable', 'another client certificate');
  assert.equal(await ask({ serverCert: selfSigned().cert, client }), 'unavailable', 'the certificate of another hub');
  assert.equal(await ask(undefined), 'unavailable', 'no TLS');
});

test('a host that has stopped its hub ends by itself: no timer and no handle is left', (t) => {
  const s = stage(t);
  const code = `import { Hub } from ${JSON.stringify(new URL('../dist/contract.js', import.meta.url).href)};
    const hub = new Hub({ binary: ${JSON.stringify(realBinary())}, env: { MCPHUB_STATE_DIR: '' } });
    await hub.start(); const w = hub.window({}); for await (const m of w) { if (m.event.case === 'snapshot') break; }
    await hub.stop();`;
  const ran = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
    encoding: 'utf8',
    timeout: long,
    env: { ...process.env, TMPDIR: s.directory },
  });
  assert.deepEqual([ran.status, ran.signal, ran.stderr], [0, null, '']);
});
