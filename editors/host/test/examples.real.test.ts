import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';
import type { OwnedHub, Page } from '../dist/index.js';
import { realBinary, stage, untilChanged } from './stage.js';

// The folder examples is compiled as a reader finds it.
const examples = resolve(import.meta.dirname, 'examples');

/** Creates a folder of packages with the package of the program, as npm would install it. */
function installed(directory: string): string {
  const packages = join(directory, 'packages');
  const name = join(packages, '@mcphub', `bin-${process.platform}-${process.arch}`);
  mkdirSync(join(name, 'bin'), { recursive: true });
  writeFileSync(join(name, 'package.json'), '{}');
  symlinkSync(realBinary(), join(name, 'bin', 'mcphub'));
  return packages;
}

test('the example of a whole host asks, calls, cancels on Ctrl+C, and leaves nothing', async (t) => {
  const s = stage(t);
  const record = join(s.directory, 'record');
  const config = join(s.directory, 'mcp.json');
  writeFileSync(
    config,
    JSON.stringify({ mcpServers: { demo: { command: realBinary(), args: ['demo-server', '--record', record] } } }),
  );
  const host = spawn(
    process.execPath,
    [join(examples, 'embed.js'), config, 'demo', 'sleep', '{"seconds":600,"steps":1}'],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, MCPHUB_STATE_DIR: '', NODE_PATH: installed(s.directory) },
    },
  );
  t.after(() => host.kill('SIGKILL'));
  const over = once(host, 'exit');
  const lines: string[] = [];
  const read = (async () => {
    for await (const line of createInterface(host.stdout)) {
      lines.push(line);
      if (line.includes('y or n')) host.stdin.write('y\n');
    }
  })();
  const started = untilChanged(record, (text) => text?.includes('"event":"started"') === true);
  assert.equal(await Promise.race([over, started]), undefined, `it has ended: ${lines.join('\n')}`);
  host.kill('SIGINT');
  assert.deepEqual((await over)[0], 1); // the call has no result
  await read;
  assert.match(lines[0] ?? '', /demo-server/); // what would be started, of a workspace's file
  const asked = lines.filter((line) => line.startsWith('May ') || line.startsWith('No longer asked'));
  assert.deepEqual(asked, [
    'May this be started? y or n',
    'May sleep be called with {"seconds":600,"steps":1}? y or n',
  ]);
  assert.match(readFileSync(record, 'utf8'), /"event":"cancel_received"/, 'the server has not heard of it');
  assert.match(readFileSync(record, 'utf8'), /"reason":"Ctrl\+C"/);
  assert.deepEqual(s.sockets(), []);
});

test('in the home of a user for whom a program wrote the entry, the yes of the example counts, and the call ends', async (t) => {
  const s = stage(t);
  const config = join(s.directory, 'mcp.json');
  const used = { MCPHUB_STATE_DIR: join(s.directory, 'state') };
  writeFileSync(config, '{}');
  const before = s.hub({ env: used });
  await before.start();
  await before.servers.reloadConfig({ sources: [{ path: config, scope: 'workspace' }] });
  await before.configs.addServer({
    server: 'demo',
    configFile: config,
    entry: { case: 'entryJson', value: JSON.stringify({ command: realBinary(), args: ['demo-server'] }) },
    writtenBy: 'Some Program',
  });
  await before.stop();
  const host = spawn(process.execPath, [join(examples, 'embed.js'), config, 'demo', 'echo', '{"text":"well used"}'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...used, NODE_PATH: installed(s.directory) },
  });
  t.after(() => host.kill('SIGKILL'));
  const over = once(host, 'exit');
  const lines: string[] = [];
  for await (const line of createInterface(host.stdout)) {
    lines.push(line);
    if (line.includes('y or n')) host.stdin.write('y\n');
  }
  assert.deepEqual((await over)[0], 0, lines.join('\n'));
  assert.match(lines.join('\n'), /Some Program/);
  assert.match(lines.join('\n'), /"text":"well used"/);
});

test('the example of a page is attached, and detached with its port', async (t) => {
  const { showPage } = (await import(join(examples, 'page.js'))) as {
    showPage: (hub: OwnedHub, port: MessagePort) => Page;
  };
  const hub = await stage(t).owned();
  const { port1: page, port2: host } = new MessageChannel();
  const came: Record<string, unknown>[] = [];
  page.on('message', (message: Record<string, unknown>) => came.push(message));
  showPage(hub, host);
  page.postMessage({ hello: { promptKinds: ['PROMPT_KIND_TOOL_APPROVAL'] } });
  while (!came.some((message) => 'snapshot' in message)) {
    await once(page, 'message');
  }
  page.close();
  await once(host, 'close');
});
