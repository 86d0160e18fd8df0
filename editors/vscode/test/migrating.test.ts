// The code of docs/migrating.md, which quotes it from here, so that the compiler checks it against api.d.ts. Only the
// test itself runs.
import { test } from 'node:test';
import * as vscode from 'vscode';
import type { McpHub, McpHubApi, McpServerName } from '@mcphub/vscode-api';

export async function openMcpHub(context: vscode.ExtensionContext): Promise<McpHub> {
  const extension = vscode.extensions.getExtension<McpHubApi>('mcphub.mcphub');
  if (extension === undefined) throw new Error('The extension McpHub is not installed.');
  return (await extension.activate()).connect(context.extension);
}

test('what the guide for migrating shows is typed as the API is', () => undefined);

type Source = 'global' | 'project';
const named = (name: string, source: Source): McpServerName => ({
  name,
  source: source === 'project' ? 'workspace' : 'user',
});

export async function write(mcphub: McpHub): Promise<void> {
  const write = await mcphub.addServer({
    name: 'notes',
    entry: { command: 'npx', args: ['-y', '@example/notes'], env: { NOTES_TOKEN: '${env:NOTES_TOKEN}' } },
    source: 'user',
  });
  await mcphub.updateServer('notes', { alwaysAllow: { search: true }, timeouts: { totalMs: 60_000 } });
  await mcphub.callTool({ server: 'notes', tool: 'search', arguments: { text: 'milk' } });
  await mcphub.updateServer('notes', { enabled: false });
  await mcphub.removeServer({ name: 'notes', source: 'user' });
  await mcphub.undo(write);
  await mcphub.callTool({ server: named('notes', 'global'), tool: 'search' });
}
