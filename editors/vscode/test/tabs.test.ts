// The editor tabs with one thing each, in a fake editor.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Hub } from '@mcphub/host/contract';
import type { PageWorld } from '../src/page/pageview.js';
import { Tabs } from '../src/page/tabs.js';
import { EventEmitter, FakePanel, newEditor, Uri } from './fakevscode.js';
import { KnownScene } from './knownscene.js';

class Scene extends KnownScene {
  readonly editor = newEditor();
  /** What the pages were told to open, and the ids of their windows. */
  readonly told: unknown[] = [];
  readonly tabs: Tabs;

  constructor() {
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
    this.tabs = new Tabs(world, this.known);
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

test('a tab comes back after a reload with the thing that its page remembers', () => {
  const before = new Scene();
  before.snapshot({ servers: [{ name: 's' }], ...ended('r1') });
  const things = [{ server: 's', tool: 't' }, { requestId: 'r1' }];
  things.forEach((thing) => before.tabs.open(thing));
  const ids = before.told.map((one) => String((one as unknown[])[0]));
  assert.equal(new Set(ids).size, 2);

  const scene = new Scene();
  const panels = things.map((opens, index) => {
    const panel = new FakePanel('');
    scene.editor.restore(panel, { windowId: ids[index], opens });
    return panel;
  });
  assert.deepEqual(scene.told, before.told, 'it is opened as soon as there is such a thing');
  scene.tabs.open({ server: 's', tool: 't' });
  assert.equal(panels[0]?.revealed, 1);
});

test('what a page remembers opens nothing else', () => {
  const scene = new Scene();
  for (const state of [
    undefined,
    'x',
    { windowId: 7 },
    { windowId: '__proto__' },
    { windowId: 'vscode-tab-0', opens: { server: 's' } },
  ]) {
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
