// The ways to begin, in a fake editor.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Origin, PromptCause } from '@mcphub/host/contract';
import type { WatcherListener, WatcherWindow } from '@mcphub/host/contract';
import type * as vscode from 'vscode';
import { beginCommands, tellWalkthrough } from '../src/begin/begin.js';
import { demoFile, demoName, demoSource, DemoServer } from '../src/begin/demoserver.js';
import type { ConfigFiles } from '../src/config/configfiles.js';
import type { HubProcess } from '../src/hub/hubprocess.js';
import { newEditor } from './fakevscode.js';

function memento(): vscode.Memento {
  const kept = new Map<string, unknown>();
  return {
    get: (key: string) => kept.get(key),
    update: (key: string, value: unknown) => {
      if (value === undefined) {
        kept.delete(key);
      } else {
        kept.set(key, value);
      }
      return Promise.resolve();
    },
    keys: () => [...kept.keys()],
  } as vscode.Memento;
}

interface World {
  readonly commands: ReturnType<typeof beginCommands>;
  readonly demo: DemoServer;
  readonly did: string[];
  readonly kept: vscode.Memento;
}

function world(files: Partial<ConfigFiles> = {}): World {
  const did: string[] = [];
  const kept = memento();
  const process = {
    binary: '/ext/bin/mcphub',
    hub: {
      servers: { startServer: ({ server }: { server: string }) => Promise.resolve(void did.push(`start ${server}`)) },
    },
  } as unknown as HubProcess;
  const demo = new DemoServer(kept, process);
  const configFiles = {
    ...files,
    reloadNow: () => Promise.resolve(void did.push(`reload with ${demo.sources().length} of its own`)),
  } as unknown as ConfigFiles;
  const show = (): Promise<void> => Promise.resolve(void did.push('show'));
  return { commands: beginCommands({ demo, configFiles, show }), demo, did, kept };
}

test('one command adds the demo server, starts it and shows it; another takes it away without a trace', async () => {
  newEditor();
  const { commands, demo, did, kept } = world();
  assert.deepEqual(demo.sources(), []);
  await commands['mcphub.addDemoServer']?.();
  assert.deepEqual(did, ['show', 'reload with 1 of its own', `start ${demoName}`]);
  assert.equal(demo.sources()[0]?.path, demoFile);
  await commands['mcphub.removeDemoServer']?.();
  assert.equal(did.at(-1), 'reload with 0 of its own');
  assert.deepEqual(kept.keys(), []);
});

test('the demo server is the program itself, of the host, and only what its guide calls is allowed', () => {
  const { json, scope } = demoSource('C:\\ext "1"\\mcphub.exe');
  assert.equal(scope, 'host');
  assert.deepEqual(JSON.parse(json), {
    mcpServers: {
      [demoName]: {
        command: 'C:\\ext "1"\\mcphub.exe',
        args: ['demo-server'],
        era: 'legacy',
        alwaysAllow: ['sleep', 'ask_then_withdraw'],
      },
    },
  });
});

test('a config file is begun where there is none, and one that is there is left as it is', async (t) => {
  const editor = newEditor();
  const folder = mkdtempSync(join(tmpdir(), 'mcphub-begin-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const open = async (file: string): Promise<void> => {
    const files = (): ReturnType<ConfigFiles['files']> =>
      Promise.resolve({ ours: [{ file, exists: false }], others: [] });
    await world({ files }).commands['mcphub.createConfig']?.(); // the list's first row is chosen
  };
  await open(join(folder, 'new', 'mcp.json'));
  assert.deepEqual(JSON.parse(readFileSync(join(folder, 'new', 'mcp.json'), 'utf8')), { servers: {} });
  await open(join(folder, '.mcp.json'));
  assert.deepEqual(JSON.parse(readFileSync(join(folder, '.mcp.json'), 'utf8')), { mcpServers: {} });
  mkdirSync(join(folder, 'old'));
  writeFileSync(join(folder, 'old', 'mcp.json'), '// mine');
  await open(join(folder, 'old', 'mcp.json'));
  assert.equal(readFileSync(join(folder, 'old', 'mcp.json'), 'utf8'), '// mine');
  assert.equal(editor.shown.length, 3);
});

test('the walkthrough hears of what was done: a call stopped by the user, a question gone, a server of their own', () => {
  const editor = newEditor();
  const contexts: unknown[] = [];
  editor.commands.set('setContext', (key) => contexts.push(key));
  let listener: WatcherListener = {};
  tellWalkthrough({
    listen: (one: WatcherListener) => {
      listener = one;
      return () => undefined;
    },
  } as unknown as WatcherWindow);
  const event = (kind: string, value: object): void => listener.event?.({ event: { case: kind, value } } as never);
  const servers = (...names: string[]): void =>
    listener.changed?.({ servers: true }, { servers: new Map(names.map((name) => [name, {}])) } as never);
  event('mcpRequestCancelled', { cancellation: { origin: Origin.TIMEOUT } });
  servers(demoName);
  assert.deepEqual(contexts, []);
  event('mcpRequestCancelled', { cancellation: { origin: Origin.USER } });
  event('mcpRequestCancelled', { cancellation: { origin: Origin.USER } });
  event('promptClosed', { cause: PromptCause.ANSWERED });
  servers(demoName, 'files');
  assert.deepEqual(contexts, ['mcphub.done.stopped', 'mcphub.done.asked', 'mcphub.done.server']);
});
