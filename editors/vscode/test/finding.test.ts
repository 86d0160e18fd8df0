// The user chooses which registry is searched, and which bundle is read.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Hub, RelayOptions } from '@mcphub/host/contract';
import type * as vscode from 'vscode';
import { chooseBundle, chooseRegistry } from '../src/page/finding.js';
import { PageView, type PageWorld } from '../src/page/pageview.js';
import { EventEmitter, Uri, newEditor } from './fakevscode.js';

test('the registry of the setting is asked for nothing more', async () => {
  const editor = newEditor();
  editor.settings['registry.url'] = ' https://registry.example ';
  assert.equal(await chooseRegistry(), 'https://registry.example');
  assert.equal(editor.picks, 0);
});

test('without one a person chooses, once', async () => {
  const editor = newEditor();
  assert.equal(await chooseRegistry(), 'https://registry.modelcontextprotocol.io');
  assert.equal(await chooseRegistry(), 'https://registry.modelcontextprotocol.io');
  assert.equal(editor.picks, 1);
  const second = newEditor();
  second.picked = 1;
  assert.equal(await chooseRegistry(), undefined, 'no address was typed');
  assert.deepEqual(second.settings, {});
  second.typed = 'https://company.example';
  assert.equal(await chooseRegistry(), 'https://company.example');
  assert.equal(second.settings['registry.url'], 'https://company.example');
  const third = newEditor();
  third.picked = 5; // Escape
  assert.equal(await chooseRegistry(), undefined);
});

test('a bundle is one that a person has chosen; one that was chosen before is not asked for again', async () => {
  const editor = newEditor();
  assert.equal(await chooseBundle(), undefined);
  editor.toOpen = [Uri.file('/somewhere/a.mcpb')];
  assert.equal(await chooseBundle(), '/somewhere/a.mcpb');

  const started = new EventEmitter<Hub>();
  const webview = {
    onDidReceiveMessage: () => ({ dispose: () => undefined }),
    postMessage: () => Promise.resolve(true),
  } as unknown as vscode.Webview;
  const world = {
    extensionUri: Uri.file('/extension'),
    roots: () => [],
    process: { onDidStart: started.event, started: undefined },
    sampling: { look: () => new Promise(() => undefined) },
    output: { hub: { error: () => undefined } },
  } as unknown as PageWorld;
  const view = new PageView(world, webview, 'side');
  let options: RelayOptions = {};
  started.fire({
    relay: (_: unknown, given: RelayOptions) => {
      options = given;
      return { openAddServer: () => undefined, dispose: () => undefined };
    },
  } as unknown as Hub);
  view.openAddServer({ bundle: '/chosen/b.mcpb' });
  assert.equal(await options.chooseBundle?.(), '/chosen/b.mcpb');
  assert.equal(await options.chooseBundle?.(), '/somewhere/a.mcpb', 'the dialog, from then on');
  view.dispose();
});
