import assert from 'node:assert/strict';
import {
  chmodSync,
  chownSync,
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
import { makeSocketDirectory, removeSocketDirectory } from '../dist/socketdir.js';
import { dead, record } from './keeprecord.js';
import { stage } from './stage.js';

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
  utimesSync(join(directory, name(1)), new Date(0), new Date(0));
  const later = new Date('2100-01-01T00:00:00Z'); // whatever time passes here
  utimesSync(join(directory, name(2)), later, later);
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
