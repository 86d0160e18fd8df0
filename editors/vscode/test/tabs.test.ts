// The editor tabs with one thing each, in a fake editor.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Hub } from '@mcphub/host';
import type * as vscode from 'vscode';
import type { PageWorld } from '../src/page/pageview.js';
import { Tabs } from '../src/page/tabs.js';
import { EventEmitter, FakePanel, newEditor, Uri } from './fakevscode.js';
import { KnownScene } from './knownscene.js';

class Scene extends KnownScene {
  readonly editor = newEditor();
  /** What the pages were told to open, and the ids of their windows. */
  readonly told: unknown[] = [];
  readonly tabs: Tabs;

  constructor(readonly kept = new Map<string, unknown>()) {
    super();
    const hub = {
      relay: (_: unknown, options: { hello: (said: object) => { windowId: string } }) => {
        const { windowId } = options.hello({});
        return {
          open: (thing: object) => void this.told.push([windowId, thing]),
          openAddServer: () => void this.told.push([windowId, 'the form']),
          leave: () => undefined,
          dispose: () => undefined,
        };
      },
    } as unknown as Hub;
    const world = {
      extensionUri: Uri.file('/extension'),
      roots: () => [],
      process: { onDidStart: new EventEmitter<Hub>().event, started: hub },
      sampling: { look: () => new Promise(() => undefined) },
      frames: { addresses: () => Promise.resolve([]) },
      output: { hub: { error: () => undefined } },
    } as unknown as PageWorld;
    const memento = {
      get: (key: string, otherwise: unknown) => this.kept.get(key) ?? otherwise,
      update: (key: string, value: unknown) => Promise.resolve(void this.kept.set(key, value)),
    } as unknown as vscode.Memento;
    this.tabs = new Tabs(world, this.known, memento);
  }
}

const ended = (requestId: string) => ({
  history: [
    {
      end: {
        case: 'finished' as const,
        value: { requestId, server: 's', method: 'tools/call', tool: 't', title: 'Tee' },
      },
    },
  ],
});

test('each thing has one tab, which is shown again when it is opened again', () => {
  const scene = new Scene();
  scene.snapshot({ servers: [{ name: 's' }], ...ended('r1') });
  scene.tabs.open({ server: 's' });
  scene.tabs.open({ server: 's', tool: 't' });
  scene.tabs.open({ requestId: 'r1' });
  scene.tabs.open({ server: 's', tool: 't' });
  assert.deepEqual(
    scene.editor.panels.map(({ title, revealed }) => [title, revealed]),
    [
      ['s', 0],
      ['t', 1],
      ['Tee', 0],
    ],
  );
  assert.deepEqual(
    scene.told.map((one) => (one as unknown[])[1]),
    [
      { server: 's' },
      { server: 's', thing: { case: 'tool', value: 't' } },
      { server: '', thing: { case: 'requestId', value: 'r1' } },
    ],
  );
  scene.editor.panels[1]?.dispose();
  scene.tabs.open({ server: 's', tool: 't' });
  assert.equal(scene.editor.panels.length, 4, 'one that was closed is made anew');
});

test('a tab comes back after a reload with its thing, and closes if that is gone', () => {
  const before = new Scene();
  before.snapshot({ servers: [{ name: 's' }, { name: 'gone' }], ...ended('r1') });
  before.tabs.open({ server: 's', tool: 't' });
  before.tabs.open({ server: 'gone' });
  before.tabs.open({ requestId: 'r1' });
  const ids = before.told.map((one) => String((one as unknown[])[0]));
  assert.equal(new Set(ids).size, 3);

  const scene = new Scene(before.kept);
  const panels = ids.map((windowId) => {
    const panel = new FakePanel('');
    scene.editor.restore(panel, { windowId });
    return panel;
  });
  const closed: number[] = [];
  panels.forEach((panel, index) => panel.onDidDispose(() => closed.push(index)));
  assert.deepEqual(scene.told[0], [ids[0], { server: 's', thing: { case: 'tool', value: 't' } }]);
  assert.deepEqual(closed, [], 'nothing is known yet');
  scene.snapshot({ servers: [{ name: 's' }] });
  assert.deepEqual(closed, [1, 2]);
  scene.tabs.open({ server: 's', tool: 't' });
  assert.equal(panels[0]?.revealed, 1);
});

test('what a page remembers opens nothing else', () => {
  const scene = new Scene();
  for (const state of [undefined, 'x', { windowId: 7 }, { windowId: '__proto__' }, { windowId: 'vscode-tab-0' }]) {
    const panel = new FakePanel('');
    let closed = false;
    panel.onDidDispose(() => (closed = true));
    scene.editor.restore(panel, state);
    assert.ok(closed);
  }
  assert.deepEqual(scene.told, []);
});

test('the form that adds a server has a tab of its own', () => {
  const scene = new Scene();
  scene.tabs.addServer();
  scene.tabs.addServer();
  assert.equal(scene.editor.panels.length, 1);
  assert.deepEqual(
    scene.told.map((one) => (one as unknown[])[1]),
    ['the form', 'the form'],
  );
});
