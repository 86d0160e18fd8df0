// Code as the author of another extension writes it against api.d.ts: correct uses must compile, and wrong uses must
// not. The compiler checks it. Only the test itself runs.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type * as host from '@mcphub/host';
import type { McpHub, McpHubApi, McpServer, McpServerName, McpSource, McpWrite } from '../api.js';

test('the API is typed as its users need it', () => undefined);

test('api.d.ts ends with the types of the host package, as they are now', () => {
  const types = readFileSync(join(process.cwd(), '../host/src/api/mcphub.ts'), 'utf8');
  const ours = readFileSync(join(process.cwd(), 'api.d.ts'), 'utf8');
  const [, copied = ''] = ours.split('npm run api -w vscode.\n');
  assert.equal(copied, types.slice(types.indexOf('\n\n') + 1), 'run: npm run api -w vscode');
});

/** One object is both APIs. */
export const same = (hub: host.McpHub): McpHub => hub;
export const back = (hub: McpHub): host.McpHub => hub;

export async function use(api: McpHubApi, extension: { id: string; packageJSON: unknown }): Promise<void> {
  const mcphub: McpHub = api.connect(extension);
  await mcphub.ready();
  const servers: readonly McpServer[] = mcphub.servers;
  const which: McpServerName[] = servers.flatMap(({ name, configName, source }) => [
    name,
    { name: configName, source },
  ]);
  for (const server of which) {
    await mcphub.tools(server);
    await mcphub.callTool({ server, tool: 't', arguments: { a: 1 }, timeouts: { totalMs: 1000 }, label: 'l' });
    await mcphub.readResource({ server, uri: 'x://y', signal: new AbortController().signal });
    await mcphub.complete({ server, of: { prompt: 'p' }, argument: 'a', value: '' });
    await mcphub.cancelRequests({ server }, 'enough');
  }
  const added: McpWrite = await mcphub.addServer({
    name: 'n',
    entry: { command: 'npx', args: ['-y', 'x'], env: { A: 'b', HTTP_PROXY: null } },
    source: 'workspace' satisfies McpSource,
    enabled: true,
    alwaysAllow: { read: true },
    timeouts: { totalMs: 60_000, idleMs: null },
  });
  await mcphub.addServer({ name: 'n', entry: '{"mcpServers": {}}' });
  await mcphub.updateServer({ name: 'n', source: 'user' }, { approvals: { 'delete_*': 'deny', 'x': 'default' } });
  await mcphub.updateServer('n', { patch: { disabledTools: ['t'] }, enabled: false });
  await mcphub.removeServer(added.server ?? 'n');
  await mcphub.undo(added);
  const until: Date | undefined = servers[0]?.nextStartTime;
  const consent: 'needed' | 'asking' | 'given' | 'declined' | '' = servers[0]?.consent ?? '';
  facts(until, consent);

  // @ts-expect-error: what others call project is workspace
  await mcphub.tools({ name: 'n', source: 'project' });
  // @ts-expect-error: an entry has a form
  await mcphub.addServer({ name: 'n' });
  // @ts-expect-error: a policy is a word
  await mcphub.updateServer('n', { approvals: { t: true } });
  // @ts-expect-error: a clock is a number
  await mcphub.updateServer('n', { timeouts: { totalMs: '60s' } });
  // @ts-expect-error: nothing of a server can be changed in place
  servers[0].name = 'm';
}

function facts(...all: readonly unknown[]): readonly unknown[] {
  return all;
}

type Without<T, Name extends string> = Name extends keyof T ? never : true;
/** Without a connection nothing can be written, and only the user answers questions. */
export const missing: readonly [Without<McpHubApi, 'addServer'>, Without<McpHub, 'answerQuestion'>] = [true, true];
