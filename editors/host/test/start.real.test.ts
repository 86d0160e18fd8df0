import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isAlive } from '../dist/liveness.js';
import type { HubLog } from '../dist/contract.js';
import { failure, pidOf, reaches, realBinary, stage } from './stage.js';

test('a hub starts, answers, and stops without leaving anything', async (t) => {
  const s = stage(t);
  for (const tls of [true, false]) {
    const logs: HubLog[] = [];
    const hub = s.hub({ tls, onLog: (line) => logs.push(line) });
    assert.equal(hub.state, 'stopped');
    await Promise.all([hub.start(), hub.start()]);
    await hub.start();
    const pid = pidOf(hub);
    assert.equal((await hub.requests.getInfo({})).processId, pid);
    assert.deepEqual((await hub.servers.listServers({})).servers, []);
    assert.equal(s.sockets().length, 1);
    assert.deepEqual([hub.state, hub.generation], ['ready', 1]);
    await Promise.all([hub.stop(), hub.stop()]);
    assert.deepEqual([hub.state, hub.processId, isAlive(pid), s.sockets()], ['stopped', undefined, false, []]);
    assert.ok(logs.some((line) => line.message === 'serving' && line.level === 'info'));
    assert.equal((await failure(hub.requests.getInfo({}))).reason, 'HUB_NOT_READY');
    await hub.start(); // a second time
    assert.equal(hub.generation, 2);
    await hub.stop();
  }
});

test('a start that fails says what to do, and leaves nothing', async (t) => {
  const s = stage(t);
  const plain = join(s.directory, 'plain');
  writeFileSync(plain, 'text');
  const script = (name: string, text: string): string => {
    const path = join(s.directory, name);
    writeFileSync(path, `#!/bin/sh\n${text}\n`);
    chmodSync(path, 0o755);
    return path;
  };
  const wrongCookie = script('cookie', `MCPHUB_PLUGIN_COOKIE=wrong exec "${realBinary()}" serve`);
  const wrongVersion = script('version', `PLUGIN_PROTOCOL_VERSIONS=7 exec "${realBinary()}" serve`);
  const table: [string, Parameters<typeof s.hub>[0], string, string, RegExp][] = [
    ['not found', { binary: '/repos/none/mcphub' }, 'not_found', 'BINARY_NOT_FOUND', /install mcphub/],
    ['below a file', { binary: join(plain, 'mcphub') }, 'not_found', 'BINARY_NOT_FOUND', /install mcphub/],
    [
      'refused by the system',
      { binary: process.execPath, env: { LARGE: 'x'.repeat(4 << 20) } },
      'failed_precondition',
      'BINARY_NOT_STARTED',
      /E2BIG/,
    ],
    ['not executable', { binary: plain }, 'failed_precondition', 'BINARY_NOT_STARTED', /may be executed/],
    ['wrong cookie', { binary: wrongCookie }, 'unavailable', 'HUB_DIED', /exit status 2[^]*host/],
    ['junk', { mode: 'junk' }, 'failed_precondition', 'HANDSHAKE_JUNK', /web server/],
    ['no line', { mode: 'silent', startTimeoutMs: 300 }, 'deadline_exceeded', 'HANDSHAKE_TIMEOUT', /startTimeoutMs/],
    ['exits before the line', { mode: 'exit' }, 'unavailable', 'HUB_DIED', /exit status 3[^]*no disk/],
    ['other version', { mode: 'version' }, 'failed_precondition', 'PROTOCOL_VERSION', /update/],
    ['an old hub', { mode: 'old' }, 'failed_precondition', 'HUB_TOO_OLD', /needs hub \d+\.\d+\.\d+ or later/],
    ['certificate of another', { mode: 'othercert' }, 'unavailable', 'TLS', /trust/],
    ['dies when it is reached', { mode: 'dropdead' }, 'unavailable', 'HUB_DIED', /exit status 4/],
    ['another process', { mode: 'imposter' }, 'failed_precondition', 'HANDSHAKE_JUNK', /Another process/],
  ];
  for (const [name, options, code, reason, text] of table) {
    const hub = s.hub(options);
    const error = await failure(hub.start());
    assert.deepEqual([error.code, error.reason, hub.state], [code, reason, 'failed'], `${name}: ${error.message}`);
    assert.match(error.message, text, name);
    assert.equal(hub.failure, error);
    assert.deepEqual([hub.processId, s.sockets()], [undefined, []], name);
  }
  // With an unknown version in the variable go-plugin offers the only version that it has. The host checks the version
  // anyway.
  await s.hub({ binary: wrongVersion }).start();
});

test('a hello that is none ends its own stream, and the reader hears why', async (t) => {
  const hub = stage(t).hub({ mode: 'serve' });
  await hub.start();
  const stream = hub.attach({ maxProgressRate: 1.5 });
  assert.equal((await failure(stream[Symbol.asyncIterator]().next())).code, 'invalid_argument');
  assert.throws(() => stream.send({}), { code: 'unavailable' });
});

test('a slow start is waited for, and one that is stopped meanwhile ends', async (t) => {
  const s = stage(t);
  await s.hub({ mode: 'slow' }).start();
  const hub = s.hub({ mode: 'silent' });
  const started = failure(hub.start());
  await hub.stop();
  assert.deepEqual([(await started).reason, hub.state], ['STOPPED', 'stopped']);
});

test('of stop and start the last word counts', async (t) => {
  const hub = stage(t).hub({ mode: 'serve' });
  await hub.start();
  const [stopped, started] = [hub.stop(), failure(hub.start())];
  await hub.stop();
  assert.deepEqual([(await started).reason, hub.state], ['STOPPED', 'stopped']);
  await stopped;
  const again = [hub.start(), hub.stop(), hub.start()].map((p) => p.catch((error: unknown) => error));
  assert.equal(((await again[0]) as { reason: string }).reason, 'STOPPED');
  await again[2];
  assert.equal(hub.state, 'ready');
});

test('a hub that dies is started anew after a delay, and given up when it does so again and again', async (t) => {
  const s = stage(t);
  const hub = s.hub({ mode: 'serve', restart: { firstDelayMs: 100, maxAttempts: 2 } });
  await hub.start();
  for (const generation of [2, 3]) {
    const began = performance.now();
    const restarting = reaches(hub, 'restarting');
    process.kill(pidOf(hub), 'SIGKILL');
    assert.match(await restarting, /SIGKILL/);
    await hub.start();
    assert.equal(hub.generation, generation);
    assert.ok(performance.now() - began >= 99 * (generation - 1), 'the delay doubles');
  }
  const failed = reaches(hub, 'failed');
  process.kill(pidOf(hub), 'SIGKILL');
  await failed;
  assert.equal(hub.failure?.reason, 'HUB_DIED');
  await hub.start(); // the user may still start it
  const once = s.hub({ mode: 'serve', restart: false });
  await once.start();
  const over = reaches(once, 'failed');
  process.kill(pidOf(once), 'SIGKILL');
  await over;
});

for (const tool of ['ascii', 'beyond']) {
  test(`32 MiB arrive whole: ${tool}`, async (t) => {
    const hub = stage(t).hub({ mode: 'serve' });
    await hub.start();
    const { outcome } = await hub.requests.callTool({ tool });
    assert.ok(outcome.case === 'resultJson');
    assert.equal(Buffer.byteLength(outcome.value), tool === 'ascii' ? 32 << 20 : Math.trunc((32 << 20) / 3) * 3);
  });
}
