import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { claim, keep } from '../dist/keep.js';
import type { KeepRecord } from '../dist/keep.js';
import { isAlive } from '../dist/liveness.js';
import { PromptKind } from '../dist/index.js';
import { makeSocketDirectory, removeSocketDirectory } from '../dist/socketdir.js';
import { Channel } from '../dist/transport.js';
import { settle } from './fakestream.js';
import { fakeHub, pidOf, stage } from './stage.js';

const dead = spawnSync(process.execPath, ['-e', '']).pid; // ended and collected

function record(more: Partial<KeepRecord>): KeepRecord {
  return {
    key: 'k',
    hubPid: process.pid,
    hostPid: dead,
    network: 'unix',
    target: '/tmp/none',
    serverCert: '',
    clientCert: '',
    clientKey: '',
    socketDirectory: '/tmp/none',
    protocolVersion: 1,
    ...more,
  };
}

test('the file is private and whole', async (t) => {
  const directory = join(stage(t).directory, 'keep');
  mkdirSync(directory, { mode: 0o755 });
  await keep(directory, record({}));
  const [name = ''] = readdirSync(directory);
  assert.deepEqual([statSync(directory).mode & 0o777, statSync(join(directory, name)).mode & 0o777], [0o700, 0o600]);
  assert.deepEqual(JSON.parse(readFileSync(join(directory, name), 'utf8')), record({}));
});

test('files and directories are private and usable under any umask', async (t) => {
  const s = stage(t);
  for (const umask of [0o000, 0o277, 0o777]) {
    const before = process.umask(umask);
    t.after(() => process.umask(before));
    const keeping = keep(join(s.directory, `keep-${umask}`), record({}));
    const making = makeSocketDirectory();
    const [, sockets] = await Promise.all([keeping, making]).finally(() => process.umask(before));
    const directory = join(s.directory, `keep-${umask}`);
    const [name = ''] = readdirSync(directory);
    assert.deepEqual(
      [directory, join(directory, name), sockets].map((path) => statSync(path).mode & 0o777),
      [0o700, 0o600, 0o700],
      umask.toString(8),
    );
    await removeSocketDirectory(sockets);
    assert.deepEqual(s.sockets(), []);
  }
});

test('a record is believed from its owner alone, and through no link', async (t) => {
  const s = stage(t);
  const name = 'hub-00000000-0000-0000-0000-000000000000.0.json';
  const elsewhere = join(s.directory, 'elsewhere.json');
  const directory = join(s.directory, 'keep');
  mkdirSync(directory, { mode: 0o700 });
  const text = JSON.stringify(record({}));
  const place = join(directory, name);
  writeFileSync(elsewhere, text, { mode: 0o600 });
  symlinkSync(elsewhere, place);
  assert.equal(await claim(directory, 'k'), undefined, 'a link');
  rmSync(place);
  writeFileSync(place, text, { mode: 0o644 });
  assert.equal(await claim(directory, 'k'), undefined, 'one that others may read');
  if (process.getuid?.() === 0) {
    chmodSync(place, 0o600);
    chownSync(place, 65_534, 65_534);
    assert.equal(await claim(directory, 'k'), undefined, "a foreign owner's");
    assert.deepEqual(readdirSync(directory), [name], 'and it is not ours to remove');
    chownSync(place, 0, 0);
    chownSync(directory, 65_534, 65_534);
    assert.equal(await claim(directory, 'k'), undefined, 'in a foreign directory');
    await assert.rejects(keep(directory, record({})), { reason: 'KEEP_DIRECTORY' });
    chownSync(directory, 0, 0);
  }
  chmodSync(place, 0o600);
  const link = join(s.directory, 'link');
  symlinkSync(directory, link);
  assert.equal(await claim(link, 'k'), undefined, 'a directory that is a link');
  await assert.rejects(keep(link, record({})), { reason: 'KEEP_DIRECTORY' });
  assert.notEqual(await claim(directory, 'k'), undefined, 'else it is claimed');
});

test('drafts of hosts that were killed while they wrote are removed, those of this moment are not', async (t) => {
  const directory = join(stage(t).directory, 'keep');
  mkdirSync(directory, { mode: 0o700 });
  const name = (n: number): string =>
    `hub-00000000-0000-0000-0000-00000000000${n}.7.json.00000000-0000-0000-0000-000000000000.tmp`;
  for (const n of [1, 2]) {
    writeFileSync(join(directory, name(n)), '{"clientKey":"', { mode: 0o600 });
  }
  utimesSync(join(directory, name(1)), new Date(), new Date(Date.now() - 61_000));
  assert.equal(await claim(directory, 'k'), undefined);
  assert.deepEqual(readdirSync(directory), [name(2)]);
});

test('a host that died between taking a hub over and reaching it is followed by the next', async (t) => {
  const directory = join(stage(t).directory, 'keep');
  mkdirSync(directory, { mode: 0o700 });
  // Its pid is in the file's name, so it has taken the hub over. The text is still that of the host before it.
  writeFileSync(
    join(directory, `hub-00000000-0000-0000-0000-000000000000.${dead}.json`),
    JSON.stringify(record({ hostPid: process.ppid })),
    { mode: 0o600 },
  );
  const got = await claim(directory, 'k');
  assert.equal(got?.record.hostPid, process.pid);
  assert.deepEqual(readdirSync(directory), [`hub-00000000-0000-0000-0000-000000000000.${process.pid}.json`]);
});

test('only the hub of a host that is gone is claimed, and what is stale is removed', async (t) => {
  const s = stage(t);
  const cases: [string, Partial<KeepRecord>, boolean, number][] = [
    ['host dead', {}, true, 1],
    ['host has left', { hostPid: 0 }, true, 1],
    ["a sibling's", { hostPid: process.ppid }, false, 1],
    ['another key', { key: 'other' }, false, 1],
    ['another version', { protocolVersion: 2 }, false, 1],
    ['hub dead', { hubPid: dead }, false, 0],
  ];
  for (const [name, more, claimed, files] of cases) {
    const directory = join(s.directory, name);
    await keep(directory, record(more));
    const got = await claim(directory, 'k');
    assert.deepEqual([got !== undefined, readdirSync(directory).length], [claimed, files], name);
    assert.equal(await claim(directory, 'k'), undefined, `${name}: claimed twice`);
    if (got !== undefined) {
      assert.equal(got.record.hostPid, process.pid);
      await got.remove();
      assert.deepEqual(readdirSync(directory), []);
    }
  }
  const junk = join(s.directory, 'junk');
  mkdirSync(junk);
  writeFileSync(join(junk, 'hub-00000000-0000-0000-0000-000000000000.0.json'), '{"key":', { mode: 0o600 });
  writeFileSync(join(junk, 'notes.txt'), 'not ours');
  assert.equal(await claim(junk, 'k'), undefined);
  assert.deepEqual(readdirSync(junk), ['notes.txt']);
});

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
  return `import { Hub } from ${JSON.stringify(new URL('../dist/index.js', import.meta.url).href)};
    const hub = new Hub({ binary: process.execPath, args: [${JSON.stringify(fakeHub)}], keep: { directory: ${JSON.stringify(directory)}, key: 'k', graceMs: 60000 } });
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
      timeout: 60_000,
    });
    const pid = Number(first.stdout.trim());
    assert.ok(isAlive(pid), `the hub ended with its host: ${first.stderr}`);
    assert.equal(
      first.status,
      name === 'leaves' ? 0 : null,
      `leave() resolves though the hub goes on: ${first.stderr}`,
    );
    const options = { mode: 'serve', keep: { directory, key: 'k', graceMs: 60_000 } };
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
  const hub = s.hub({ mode: 'serve', keep: { directory, key: 'k', graceMs: 60_000, departureMs: 60_000 } });
  const started = hub.start();
  while (existsSync(stale)) {
    // The new host has looked for the hub when it has removed this file, the last of them.
    await settle();
  }
  before.stdin.write('leave\n');
  await started;
  assert.equal(pidOf(hub), pid);
});

test('a hub that was left behind is not given up because the machine is busy', async (t) => {
  const s = stage(t);
  const directory = join(s.directory, 'keep');
  const first = spawnSync(process.execPath, ['--input-type=module', '-e', hostCode(directory, 'await hub.leave();')], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  const pid = Number(first.stdout.trim());
  process.kill(pid, 'SIGSTOP'); // as one that gets no time
  t.after(() => isAlive(pid) && process.kill(pid, 'SIGCONT'));
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const asked = t.mock.method(Channel.prototype, 'unary').mock;
  const hub = s.hub({ mode: 'serve', keep: { directory, key: 'k', graceMs: 60_000 } });
  const started = hub.start();
  while (asked.callCount() === 0) {
    await settle();
  }
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
    timeout: 60_000,
  });
  const hub = s.hub({ mode: 'serve', keep: { directory, key: 'k', graceMs: 60_000 }, restart: { firstDelayMs: 10 } });
  await hub.start();
  assert.equal(String(pidOf(hub)), first.stdout.trim());
  const call = hub.requests.callTool({ tool: 'hangs' });
  process.kill(pidOf(hub), 'SIGKILL');
  await assert.rejects(call, { code: 'unavailable', reason: 'HUB_DIED' });
  await hub.start();
  assert.equal(hub.generation, 2);
  assert.equal((await hub.requests.getInfo({})).processId, pidOf(hub));
});

test(
  'a hub whose file cannot be removed is started anew when it dies, and stops all the same',
  { timeout: 30_000 },
  async (t) => {
    const s = stage(t);
    const directory = join(s.directory, 'keep');
    const hub = s.hub({ mode: 'serve', keep: { directory, key: 'k', graceMs: 60_000 }, restart: { firstDelayMs: 10 } });
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
  },
);
