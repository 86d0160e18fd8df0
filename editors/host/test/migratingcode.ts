// The code of docs/migrating.md for Cline and Kilo Code, which quotes it from here. The tests of this package run it on
// a hub of their own, those of the extension by its API.
import type { McpHub, McpServerName, McpWrite } from '../dist/index.js';

type Source = 'global' | 'project';
const named = (name: string, source: Source): McpServerName => ({
  name,
  source: source === 'project' ? 'workspace' : 'user',
});
export { named };

/** Writes a server, changes it, calls it and removes it. Returns the first write, and the text of the call's result. */
export async function writing(mcphub: McpHub): Promise<{ write: McpWrite; found: string }> {
  const write = await mcphub.addServer({
    name: 'notes',
    entry: { command: 'npx', args: ['-y', '@example/notes'], env: { NOTES_TOKEN: '${env:NOTES_TOKEN}' } },
    source: 'user',
  });
  await mcphub.updateServer('notes', { alwaysAllow: { search: true }, timeouts: { totalMs: 60_000 } });
  const found = await mcphub.callTool({ server: 'notes', tool: 'search', arguments: { text: 'milk' } });
  await mcphub.updateServer('notes', { enabled: false });
  await mcphub.removeServer({ name: 'notes', source: 'user' });
  return { write, found: found.resultJson };
}
