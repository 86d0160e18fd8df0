// The code of docs/migrating.md beside McpHub's extension, which quotes it from here: over a real hub, by the API that
// the extension gives to others, with what the user has allowed them.
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import * as vscode from 'vscode';
import { Hub, Mirror, PromptKind, Subscriptions, untilShown, WatcherWindow } from '@mcphub/host/contract';
import { named, writing } from '../../host/test/migratingcode.js';
import { createApi } from '../src/api/api.js';
import { Grants } from '../src/api/grants.js';
import { newEditor } from './fakevscode.js';
import type { Editor } from './fakevscode.js';
import type { McpHub, McpHubApi } from '@mcphub/vscode-api';

export async function openMcpHub(context: vscode.ExtensionContext): Promise<McpHub> {
  const extension = vscode.extensions.getExtension<McpHubApi>('mcphub.mcphub');
  if (extension === undefined) throw new Error('The extension McpHub is not installed.');
  return (await extension.activate()).connect(context.extension);
}

/** A program npx that installs nothing: a server of notes. */
const npx = `#!${process.execPath}
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  const text = () => params.arguments.text + ', by ' + process.env.NOTES_TOKEN;
  const results = {
    'initialize': () => ({ protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'notes', version: '1' } }),
    'tools/list': () => ({ tools: [{ name: 'search', inputSchema: { type: 'object' } }] }),
    'tools/call': () => ({ content: [{ type: 'text', text: text() }] }),
  };
  if (id === undefined) return;
  say(results[method] ? { id, result: results[method]() } : { id, error: { code: -32601, message: 'there is none' } });
});
`;

interface Scene {
  readonly editor: Editor;
  readonly mcphub: McpHub;
  readonly file: string;
  /** The servers whose launch the user has agreed to, and who had written them. */
  readonly launches: string[];
}

async function scene(t: TestContext): Promise<Scene> {
  const binary = process.env['MCPHUB_BINARY'] ?? join(import.meta.dirname, '../../../../bin/mcphub');
  assert.ok(existsSync(binary), 'go build -o bin/ ./cmd/mcphub');
  const directory = mkdtempSync(join(tmpdir(), 'migrating-'));
  writeFileSync(join(directory, 'npx'), npx);
  chmodSync(join(directory, 'npx'), 0o755);
  const file = join(directory, 'mcp.json');
  writeFileSync(file, '{"servers": {}}');
  const hub = new Hub({
    binary,
    env: {
      MCPHUB_STATE_DIR: join(directory, 'state'),
      NOTES_TOKEN: 'secret',
      PATH: `${directory}${delimiter}${process.env['PATH']}`,
    },
    stopTimeoutMs: 300_000,
  });
  const failed = (error: unknown): void => assert.fail(String(error));
  const watcher = new WatcherWindow({ promptKinds: [PromptKind.SERVER_LAUNCH] }, [], failed);
  const launches: string[] = [];
  watcher.listen({
    changed: ({ opened = [] }) => {
      for (const { promptId, server, question } of opened) {
        assert.ok(question.case === 'serverLaunch');
        launches.push(`${server}, written by ${question.value.writtenBy?.name}`);
        const { launchHash } = question.value;
        void watcher.answer({ promptId, action: { case: 'accept', value: { launchHash } } });
      }
    },
  });
  t.after(async () => {
    await hub.stop();
    await watcher.close();
    rmSync(directory, { recursive: true, force: true });
  });
  watcher.follow(hub);
  await hub.start();
  const { signal } = new AbortController();
  const sources = [{ path: file, scope: 'user', dialect: 'vscode' }];
  await untilShown(watcher, (await hub.servers.reloadConfig({ sources })).servers, signal);
  const editor = newEditor();
  const kept = new Map<string, unknown>();
  const memory = {
    get: (key: string, otherwise: unknown) => kept.get(key) ?? otherwise,
    update: (key: string, value: unknown) => Promise.resolve(void kept.set(key, value)),
  };
  const api = createApi({
    hub: () => hub,
    ready: () => Promise.resolve(),
    mirrored: () => Promise.resolve(),
    watcher,
    mirror: new Mirror(watcher, failed),
    subscriptions: new Subscriptions(() => hub),
    grants: new Grants(memory as never),
  });
  editor.extensions.set('mcphub.mcphub', {});
  editor.extensions.set('some.agent', { displayName: 'Some Agent' });
  editor.apis.set('mcphub.mcphub', api);
  const mcphub = await openMcpHub({ extension: { id: 'some.agent', packageJSON: {} } } as never);
  return { editor, mcphub, file, launches };
}

test('what the guide shows of writing runs as soon as the user has allowed it', async (t) => {
  const { editor, mcphub, file, launches } = await scene(t);
  const text = readFileSync(file, 'utf8');
  await assert.rejects(writing(mcphub), { code: 'permission_denied', reason: 'NOT_GRANTED' });
  assert.equal(readFileSync(file, 'utf8'), text, 'nothing is written without the permission');

  editor.answer = 'Allow';
  const asked = editor.messages.length;
  const { write, found } = await writing(mcphub);
  assert.equal(editor.messages.length - asked, 2, 'to write servers, and to have tools called without a question');
  assert.match(found, /milk, by secret/);
  assert.deepEqual(launches, ['notes, written by some.agent (Some Agent)']);
  assert.deepEqual([write.configFile, write.needsConsent], [file, true]);
  await assert.rejects(mcphub.undo(write), { code: 'failed_precondition' });
});

test('a server is named by the source that Kilo Code calls global or project', async (t) => {
  const { editor, mcphub } = await scene(t);
  editor.answer = 'Allow';
  const entry = { command: 'npx', args: [], env: { NOTES_TOKEN: 'mine' } };
  const write = await mcphub.addServer({ name: 'notes', entry, source: 'user' });
  const call = { tool: 'search', arguments: { text: 'milk' }, preapproved: true };
  const { resultJson } = await mcphub.callTool({ ...call, server: named('notes', 'global') });
  assert.match(resultJson, /milk, by mine/);
  await assert.rejects(mcphub.callTool({ ...call, server: named('notes', 'project') }), { code: 'not_found' });
  await mcphub.undo(write);
  await assert.rejects(mcphub.callTool({ ...call, server: named('notes', 'global') }), { code: 'not_found' });
});
