// The view in the side bar, in a fake editor.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Hub, RelayOptions } from '@mcphub/host/contract';
import type * as vscode from 'vscode';
import type { PageWorld } from '../src/page/pageview.js';
import { Sidebar } from '../src/page/sidebar.js';
import { EventEmitter, newEditor, Uri, type Editor } from './fakevscode.js';

class Scene {
  readonly editor: Editor = newEditor();
  readonly revealed: string[] = [];
  inView: (promptIds: readonly string[]) => void = () => assert.fail('there is no relay');
  readonly sidebar: Sidebar;
  readonly view: { visible: boolean; badge?: { value: number } };
  readonly #visibility = new EventEmitter<void>();

  /** @param resolved the editor has made the view already */
  constructor(resolved = true) {
    const hub = {
      relay: (_: unknown, options: RelayOptions) => {
        this.inView = (promptIds) => options.inView?.([...promptIds]);
        return {
          reveal: (promptId: string) => void this.revealed.push(promptId),
          dispose: () => undefined,
        };
      },
    } as unknown as Hub;
    this.sidebar = new Sidebar({
      extensionUri: Uri.file('/extension'),
      roots: () => [],
      process: { onDidStart: new EventEmitter<Hub>().event, started: hub },
      sampling: { look: () => new Promise(() => undefined) },
      frames: { addresses: () => Promise.resolve([]) },
      output: { hub: { error: () => undefined } },
    } as unknown as PageWorld);
    this.view = {
      visible: true,
      webview: { onDidReceiveMessage: () => ({ dispose: () => undefined }) },
      onDidChangeVisibility: this.#visibility.event,
      onDidDispose: () => undefined,
    } as unknown as Scene['view'];
    this.editor.commands.set('mcphub.view.focus', () => this.see(true));
    if (resolved) {
      this.resolve();
    }
  }

  resolve(): void {
    this.sidebar.resolveWebviewView(this.view as unknown as vscode.WebviewView);
  }

  see(visible: boolean): void {
    if (visible !== this.view.visible) {
      this.view.visible = visible;
      this.#visibility.fire();
    }
  }

  /** Another view covers this one for a moment. */
  reopen(): void {
    this.see(false);
    this.see(true);
  }
}

test('a view that is opened while questions are open shows the oldest, unless the card of one is in view', () => {
  const scene = new Scene();
  scene.reopen();
  assert.deepEqual(scene.revealed, [], 'no question is open');
  scene.sidebar.asks(['a', 'b']);
  assert.equal(scene.view.badge?.value, 2);
  scene.see(false);
  assert.deepEqual(scene.revealed, [], 'the view is hidden');
  scene.see(true);
  assert.deepEqual(scene.revealed, ['']);
  scene.inView(['b']);
  scene.reopen();
  assert.deepEqual(scene.revealed, [''], 'one is in view');
  scene.sidebar.asks(['a']);
  scene.reopen();
  assert.deepEqual(scene.revealed, ['', ''], 'the one in view is over');
  scene.sidebar.asks([]);
  scene.reopen();
  assert.deepEqual(scene.revealed, ['', '']);
  assert.equal(scene.view.badge, undefined);
});

test('a view that is opened for something shows just that', async () => {
  const scene = new Scene();
  scene.sidebar.asks(['a', 'b']);
  scene.see(false);
  await scene.sidebar.show('b');
  scene.see(false);
  await scene.sidebar.show();
  assert.deepEqual(scene.revealed, ['b']);
  scene.reopen();
  assert.deepEqual(scene.revealed, ['b', '']);
});

test('a view that is about to be shown for the first time counts as visible, so that no dialog comes in between', async () => {
  const scene = new Scene(false);
  let changes = 0;
  scene.sidebar.onDidChangeView(() => changes++);
  assert.equal(scene.sidebar.visible, false);
  const shown = scene.sidebar.show('a');
  assert.equal(scene.sidebar.visible, true);
  assert.equal(changes, 1);
  await shown;
  assert.equal(scene.sidebar.visible, true, 'the editor is still making it');
  scene.resolve();
  assert.deepEqual(scene.revealed, ['a']);
  scene.see(false);
  assert.equal(scene.sidebar.visible, false);
});
