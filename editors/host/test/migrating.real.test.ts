// The code of docs/migrating.md for hosts with a hub of their own, which quotes it from here. It runs.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { McpServerForm, MemoryServer } from '../dist/index.js';
import { long, realBinary, stage } from './stage.js';

interface Options extends Pick<McpServerForm, 'command' | 'args' | 'env' | 'cwd' | 'url'> {
  readonly id: string;
  readonly type?: 'stdio' | 'sse' | 'streamable-http';
  readonly timeout?: number; // of the connecting, in ms
  readonly requestOptions?: { readonly headers: Readonly<Record<string, string>> };
}

const serverOf = ({ id, type, timeout, requestOptions, ...entry }: Options): MemoryServer => ({
  ...entry,
  name: id,
  ...requestOptions,
  ...(type === 'sse' && { transport: 'sse' }),
  ...(timeout !== undefined && { timeouts: { connectMs: timeout } }),
});

test('what the guide for Continue shows does what its manager of connections did', async (t) => {
  const options: Options[] = [{ id: 'notes', command: realBinary(), args: ['demo-server'], timeout: long }];
  const hub = await stage(t).owned({ approvals: 'host' }); // Continue asks by itself
  await hub.setServers(options.map(serverOf));
  assert.deepEqual(
    hub.servers.map(({ name, source }) => [name, source]),
    [['notes', 'host']],
  );
  assert.equal((await hub.restartServer('notes')).state, 'ready');
  const stop = new AbortController();
  const called = hub.callTool({ server: 'notes', tool: 'long_task', arguments: { steps: 1 }, signal: stop.signal });
  assert.match((await called).resultJson, /content/);
  assert.deepEqual(await hub.setServers([]), { problems: [], stopped: ['notes'] });
});
