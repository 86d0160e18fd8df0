// The page of a view, in an editor that a test turns.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Hub, PageEnd, RelayOptions } from '@mcphub/host';
import type * as vscode from 'vscode';
import { PageView, type PageWorld } from '../src/pageview.js';
import { EventEmitter, Uri, newEditor } from './fakevscode.js';

/** A hub whose relays are written down. */
class Relayed {
  readonly relays: { roots: string[][]; disposed: boolean }[] = [];
  relay(_page: PageEnd, _options: RelayOptions): ReturnType<Hub['relay']> {
    const kept = { roots: [] as string[][], disposed: false };
    this.relays.push(kept);
    return {
      windowId: '',
      setRoots: (roots) => void kept.roots.push((roots ?? []).map((root) => root.uri ?? '')),
      dispose: () => void (kept.disposed = true),
    };
  }
}

test('new folders are told to the hub, and the window stays attached', () => {
  newEditor();
  const started = new EventEmitter<Hub>();
  const folders = ['file:///repos/a'];
  const hub = new Relayed();
  const world = {
    extensionUri: Uri.file('/extension'), roots: () => folders.map((uri) => ({ uri, name: uri })),
    process: { onDidStart: started.event, started: undefined }, sampling: { look: () => new Promise(() => undefined) }, output: { hub: { error: () => undefined } },
  } as unknown as PageWorld;
  const webview = { onDidReceiveMessage: () => ({ dispose: () => undefined }), postMessage: () => Promise.resolve(true) } as unknown as vscode.Webview;
  const view = new PageView(world, webview, 'side');
  view.rootsChanged(); // before there is a hub: its hello will say them
  started.fire(hub as unknown as Hub);
  folders.push('file:///repos/b');
  view.rootsChanged();
  assert.deepEqual(hub.relays, [{ roots: [['file:///repos/a', 'file:///repos/b']], disposed: false }]);
  view.dispose();
  assert.equal(hub.relays[0]?.disposed, true);
  view.rootsChanged();
  assert.equal(hub.relays[0]?.roots.length, 1);
});
