import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { installedBinary } from '../dist/binary.js';
import { Hub } from '../dist/contract.js';
import { failure } from './stage.js';

test('the program is found in the package of the machine, wherever the host package lies', (t) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'mcphub ü ')));
  t.after(() => rmSync(folder, { recursive: true }));
  const own = join(folder, 'node_modules', '@mcphub', 'host', 'dist', 'binary.js');
  for (const [machine, program] of [
    ['linux-arm64', 'mcphub'],
    ['win32-x64', 'mcphub.exe'],
  ] as const) {
    const bin = join(folder, 'node_modules', '@mcphub', `bin-${machine}`, 'bin');
    mkdirSync(bin, { recursive: true });
    writeFileSync(
      join(bin, '..', 'package.json'),
      JSON.stringify({ name: `@mcphub/bin-${machine}`, version: '1.0.0' }),
    );
    writeFileSync(join(bin, program), '');
    assert.equal(installedBinary(machine, own), join(bin, program));
  }
  assert.throws(() => installedBinary('darwin-arm64', own), {
    name: 'HubError',
    code: 'not_found',
    reason: 'BINARY_NOT_INSTALLED',
    message: /@mcphub\/bin-darwin-arm64.*--omit=optional/,
  });
  assert.throws(() => installedBinary('freebsd-x64', own), {
    reason: 'BINARY_NOT_INSTALLED',
    message: /no package with mcphub for freebsd-x64, only for linux-x64/,
  });
});

test('a host that names no program hears at its start which package is missing', async () => {
  const hub = new Hub();
  const error = await failure(hub.start());
  assert.deepEqual([error.reason, hub.state], ['BINARY_NOT_INSTALLED', 'failed']);
  assert.ok(error.message.includes(`@mcphub/bin-${process.platform}-${process.arch}`), error.message);
});
