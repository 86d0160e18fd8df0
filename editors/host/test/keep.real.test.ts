import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isAlive } from '../dist/liveness.js';
import { keep } from '../dist/keep.js';
import { PromptKind } from '../dist/contract.js';
import { Channel } from '../dist/transport.js';
import { settle } from './fakestream.js';
import { dead, record } from './keeprecord.js';
import { fakeHub, long, pidOf, stage, untilChanged } from './stage.js';

test('of processes that race for one hub exactly one gets it', async (t) => {
  const directory = join(stage(t).directory, 'keep');
  await keep(directory, record({}));
  t.after(() => racers.forEach((r) => r.kill('SIGKILL')));
  // Each process reports that it is ready, waits for a line, and keeps running until all have tried.
  const code = `import { claim } from ${JSON.stringify(new URL('../dist/keep.js', import.meta.url).href)};
    console.log('there'); process.stdin.once('data', async () => { console.log((await claim(${JSON.stringify(directory)}, 'k')) ? 'got' : 'none'); process.stdin.once('data', () => process.exit(0)); });`;
  const racers = Array.from({ length: 4 }, () =>
    spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['pipe', 'pipe', 'inherit'] }),
  );
  const words = (): Promise<string[]> =>
    Promise.all(racers.map(async (r) => String((await once(r.stdout, 'data'))[0]).trim()));
  assert.deepEqual(await words(), ['there', 'there', 'there', 'there']);
  const tried = words();
  racers.forEach((r) => r.stdin.write('go\n'));
  assert.deepEqual((await tried).sort(), ['got', 'none', 'none', 'none']);
  const over = Promise.all(racers.map((r) => once(r, 'exit')));
  racers.forEach((r) => r.stdin.write('over\n'));
  await over;
});

// A host in a process of its own, so that it can exit. It prints the pid of its hub.
function hostCode(directory: string, then: string): string {
  return `import { Hub } from ${JSON.stringify(new URL('../dist/contract.js', import.meta.url).href)};
    const hub = new Hub({ binary: process.execPath, args: [${JSON.stringify(fakeHub)}], keep: { directory: ${JSON.stringify(directory)}, key: 'k', graceMs: ${long} } });
    await hub.start(); console.log(hub.processId); ${then}`;
}

for (const [name, then] of [
  ['leaves', 'await hub.leave();'],
  ['is killed', 'process.kill(process.pid, "SIGKILL");'],
] as const) {
  test(`a host that ${name} is followed by one that gets its hub, windows included`, async (t) => {
    const s = stage(t);
    const directory = join(s.directory, 'keep');
    const first = spawnSync(process.execPath, ['--input-type=module', '-e', hostCode(directory, then)], {
      encoding: 'utf8',
      timeout: long,
    });
    const pid = Number(first.stdout.trim());
    assert.ok(isAlive(pid), `the hub ended with its host: ${first.stderr}`);
    assert.equal(
      first.status,
      name === 'leaves' ? 0 : null,
      `leave() resolves though the hub goes on: ${first.stderr}`,
    );
    const options = { mode: 'serve', keep: { directory, key: 'k', graceMs: long } };
    const hub = s.hub(options);
    await hub.start();
    assert.equal(pidOf(hub), pid);
    const window = hub.window({ windowId: 'side', promptKinds: [PromptKind.TOOL_APPROVAL] });
    for await (const { event } of window) {
      if (event.case === 'snapshot') {
        break;
      }
    }
    const sibling = s.hub(options); // the same key, while this host runs
    await sibling.start();
    assert.notEqual(pidOf(sibling), pid);
    await Promise.all([hub.stop(), sibling.stop()]);
    assert.deepEqual([isAlive(pid), readdirSync(directory)], [false, []]);
  });
}

test('a host that comes before the one before has left waits for it, and gets its hub', async (t) => {
  const s = stage(t);
  const directory = join(s.directory, 'keep');
  const before = spawn(
    process.execPath,
    ['--input-type=module', '-e', hostCode(directory, "process.stdin.once('data', () => hub.leave());")],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  t.after(() => before.kill('SIGKILL'));
  const pid = Number(String((await once(before.stdout, 'data'))[0]).trim());
  const stale = join(directory, `hub-ffffffff-ffff-ffff-ffff-ffffffffffff.${dead}.json`);
  writeFileSync(stale, JSON.stringify(record({ hubPid: dead })), { mode: 0o600 });
  const hub = s.hub({ mode: 'serve', keep: { directory, key: 'k', graceMs: long, departureMs: long } });
  const started = hub.start();
  // The new host has looked for the hub when it has removed this file, the last of them.
  await untilChanged(stale, (text) => text === undefined);
  before.stdin.write('leave\n');
  await started;
  assert.equal(pidOf(hub), pid);
});

test('a hub that was left behind is not given up because the machine is busy', async (t) => {
  const s = stage(t);
  const directory = join(s.directory, 'keep');
  const first = spawnSync(process.execPath, ['--input-type=module', '-e', hostCode(directory, 'await hub.leave();')], {
    encoding: 'utf8',
    timeout: long,
  });
  const pid = Number(first.stdout.trim());
  process.kill(pid, 'SIGSTOP'); // as one that gets no time
  t.after(() => isAlive(pid) && process.kill(pid, 'SIGCONT'));
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const asked = new Promise<void>((resolve) => {
    const unary = Object.getOwnPropertyDescriptor(Channel.prototype, 'unary')?.value as Channel['unary'];
    t.mock.method(Channel.prototype, 'unary', function (this: Channel, ...args: Parameters<Channel['unary']>) {
      resolve();
      return unary.apply(this, args);
    });
  });
  const hub = s.hub({ mode: 'serve', keep: { directory, key: 'k', graceMs: long } });
  const started = hub.start();
  await asked;
  t.mock.timers.tick(10_000);
  await settle();
  process.kill(pid, 'SIGCONT');
  await started;
  assert.equal(pidOf(hub), pid);
  t.mock.timers.reset();
});

test('a kept hub that dies under its second host is noticed and started anew', async (t) => {
  const s = stage(t);
  const directory = join(s.directory, 'keep');
  const first = spawnSync(process.execPath, ['--input-type=module', '-e', hostCode(directory, 'await hub.leave();')], {
    encoding: 'utf8',
    timeout: long,
  });
  const hub = s.hub({ mode: 'serve', keep: { directory, key: 'k', graceMs: long }, restart: { firstDelayMs: 10 } });
  await hub.start();
  assert.equal(String(pidOf(hub)), first.stdout.trim());
  const call = hub.requests.callTool({ tool: 'hangs' });
  process.kill(pidOf(hub), 'SIGKILL');
  await assert.rejects(call, { code: 'unavailable', reason: 'HUB_DIED' });
  await hub.start();
  assert.equal(hub.generation, 2);
  assert.equal((await hub.requests.getInfo({})).processId, pidOf(hub));
});

test('a hub whose file cannot be removed is started anew when it dies, and stops all the same', async (t) => {
  const s = stage(t);
  const directory = join(s.directory, 'keep');
  const hub = s.hub({ mode: 'serve', keep: { directory, key: 'k', graceMs: long }, restart: { firstDelayMs: 10 } });
  const spoil = (): void => {
    const name = readdirSync(directory).find((n) => !statSync(join(directory, n)).isDirectory()) ?? '';
    rmSync(join(directory, name));
    mkdirSync(join(directory, name)); // only a recursive removal deletes it
  };
  await hub.start();
  spoil();
  const again = new Promise<void>((resolve) => {
    hub.onState((state) => state === 'ready' && resolve());
  });
  process.kill(pidOf(hub), 'SIGKILL');
  await again;
  assert.equal(hub.generation, 2);
  spoil();
  await hub.stop();
  assert.deepEqual([hub.state, s.sockets()], ['stopped', []]);
});
