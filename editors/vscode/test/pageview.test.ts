// The page of a view, in a fake editor.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AttachResponseJson, Hub, PageEnd, RelayOptions } from '@mcphub/host/contract';
import type * as vscode from 'vscode';
import { PageView, type PageWorld } from '../src/page/pageview.js';
import { EventEmitter, Uri, newEditor } from './fakevscode.js';

/** A fake hub that records its relays. */
class Relayed {
  readonly relays: { roots: string[][]; revealed: string[]; ended: 'left' | 'disposed' | undefined }[] = [];
  readonly pages: PageEnd[] = [];
  readonly options: RelayOptions[] = [];
  relay(page: PageEnd, options?: RelayOptions): ReturnType<Hub['relay']> {
    this.pages.push(page);
    this.options.push(options ?? {});
    const kept: (typeof this.relays)[number] = { roots: [], revealed: [], ended: undefined };
    this.relays.push(kept);
    return {
      windowId: '',
      setRoots: (roots) => void kept.roots.push((roots ?? []).map((root) => root.uri ?? '')),
      reveal: (promptId) => void kept.revealed.push(promptId),
      openAddServer: (proposed) => void kept.revealed.push(proposed?.bundle === true ? 'bundle' : 'form'),
      open: () => assert.fail('nothing is opened here'),
      leave: () => void (kept.ended ??= 'left'),
      dispose: () => void (kept.ended ??= 'disposed'),
    };
  }
}

function newWorld(started: EventEmitter<Hub>, folders: readonly string[]): PageWorld {
  return {
    extensionUri: Uri.file('/extension'),
    roots: () => folders.map((uri) => ({ uri, name: uri })),
    process: { onDidStart: started.event, started: undefined },
    sampling: { look: () => new Promise(() => undefined) },
    frames: { addresses: () => Promise.resolve([]) },
    output: { hub: { error: () => undefined } },
  } as unknown as PageWorld;
}

test('new folders are told to the hub, and the window stays attached', () => {
  newEditor();
  const started = new EventEmitter<Hub>();
  const folders = ['file:///repos/a'];
  const hub = new Relayed();
  const world = newWorld(started, folders);
  const webview = {
    onDidReceiveMessage: () => ({ dispose: () => undefined }),
    postMessage: () => Promise.resolve(true),
  } as unknown as vscode.Webview;
  const view = new PageView(world, webview, 'side');
  view.rootsChanged(); // there is no hub yet: the hello will contain them
  started.fire(hub as unknown as Hub);
  folders.push('file:///repos/b');
  view.rootsChanged();
  assert.deepEqual(hub.relays, [{ roots: [['file:///repos/a', 'file:///repos/b']], revealed: [], ended: undefined }]);
  view.dispose();
  assert.equal(hub.relays[0]?.ended, 'disposed');
  view.rootsChanged();
  assert.equal(hub.relays.at(0)?.roots.length, 1);
});

test('a page that has no hub yet opens the form that adds a server when it has one', () => {
  newEditor();
  const started = new EventEmitter<Hub>();
  const hub = new Relayed();
  const webview = {
    onDidReceiveMessage: () => ({ dispose: () => undefined }),
    postMessage: () => Promise.resolve(true),
  } as unknown as vscode.Webview;
  const view = new PageView(newWorld(started, []), webview, 'side');
  view.openAddServer();
  started.fire(hub as unknown as Hub);
  assert.deepEqual(hub.relays[0]?.revealed, ['form']);
  assert.equal(hub.options[0]?.configWrites, true);
  assert.equal(hub.options[0].actsFor, undefined, 'a person clicks in it');
  view.openAddServer();
  assert.deepEqual(hub.relays[0].revealed, ['form', 'form']);
  view.openAddServer({ bundle: '/chosen.mcpb' });
  assert.deepEqual(hub.relays[0].revealed, ['form', 'form', 'bundle']);
  view.dispose();
});

test('a page is the window that the extension says, on the folders that it says', () => {
  newEditor();
  const started = new EventEmitter<Hub>();
  const hub = new Relayed();
  const webview = { onDidReceiveMessage: () => ({ dispose: () => undefined }) } as unknown as vscode.Webview;
  const view = new PageView(newWorld(started, ['file:///repos/a']), webview, 'vscode-sidebar');
  started.fire(hub as unknown as Hub);
  const said = { windowId: 'its own', title: 'page', roots: [], comesBackTo: 'the hub of before the reload' };
  assert.deepEqual(hub.options[0]?.hello?.(said), {
    windowId: 'vscode-sidebar',
    title: 'page',
    roots: [{ uri: 'file:///repos/a', name: 'file:///repos/a' }],
    comesBackTo: 'the hub of before the reload',
  });
  view.dispose();
});

// Finding B2: the outcome of a pending cancel comes after the end of its request, and only the page knows where to show
// it.
test('the page of a view is posted that a cancel was pending, and then what became of it', () => {
  newEditor();
  const started = new EventEmitter<Hub>();
  const hub = new Relayed();
  const posted: unknown[] = [];
  const webview = {
    onDidReceiveMessage: () => ({ dispose: () => undefined }),
    postMessage: (message: unknown) => Promise.resolve(posted.push(message) > 0),
  } as unknown as vscode.Webview;
  const view = new PageView(newWorld(started, []), webview, 'side');
  started.fire(hub as unknown as Hub);
  const said: AttachResponseJson[] = [
    { mcpRequestCancelled: { requestId: 'a', delivery: 'CANCEL_DELIVERY_PENDING' } },
    { mcpRequestCancelDelivery: { requestId: 'a', delivery: 'CANCEL_DELIVERY_DELIVERED' } },
    { mcpRequestCancelled: { requestId: 'b', delivery: 'CANCEL_DELIVERY_PENDING' } },
    { mcpRequestCancelDelivery: { requestId: 'b', delivery: 'CANCEL_DELIVERY_FAILED', error: 'HTTP 500' } },
  ];
  for (const message of said) {
    hub.pages[0]?.post(message);
  }
  assert.deepEqual(posted, said);
  view.dispose();
});

test('what is to be revealed waits for the hub, and what is in view is kept and told', () => {
  newEditor();
  const started = new EventEmitter<Hub>();
  const hub = new Relayed();
  const webview = { onDidReceiveMessage: () => ({ dispose: () => undefined }) } as unknown as vscode.Webview;
  const view = new PageView(newWorld(started, []), webview, 'side');
  let told = 0;
  view.onDidChangeInView(() => told++);
  view.reveal('p1');
  started.fire(hub as unknown as Hub);
  view.reveal('p2');
  assert.deepEqual(hub.relays[0]?.revealed, ['p1', 'p2']);
  hub.options[0]?.inView?.(['p2', 'p3']);
  assert.deepEqual([[...view.inView], told], [['p2', 'p3'], 1]);
  started.fire(hub as unknown as Hub); // another hub: what was to be revealed has been revealed
  assert.deepEqual(hub.relays[1]?.revealed, []);
  view.dispose();
});

// When a window is reloaded, the editor may dispose the view long before it ends the extension host. If the window of
// the view closed for good, its questions would be lost.
test('the window of a view that was disposed may come back, and takes part in nothing until then', () => {
  newEditor();
  const started = new EventEmitter<Hub>();
  const hub = new Relayed();
  const webview = { onDidReceiveMessage: () => ({ dispose: () => undefined }) } as unknown as vscode.Webview;
  const view = new PageView(newWorld(started, []), webview, 'side');
  started.fire(hub as unknown as Hub);
  hub.options[0]?.inView?.(['p1']);
  view.webviewGone();
  assert.deepEqual([hub.relays[0]?.ended, view.inView.size], ['left', 0]);
  started.fire(hub as unknown as Hub);
  assert.equal(hub.relays.length, 1, 'there is no webview for a new hub');
  view.dispose();
  assert.equal(hub.relays[0]?.ended, 'left');
});

test('the page runs by itself only commands that show something, and the hub does not hear of them', () => {
  const editor = newEditor();
  const started = new EventEmitter<Hub>();
  const hub = new Relayed();
  const received = new EventEmitter<unknown>();
  const webview = { onDidReceiveMessage: received.event } as unknown as vscode.Webview;
  const ran: unknown[] = [];
  for (const name of ['mcphub.open', 'mcphub.restartHub', 'workbench.action.quit']) {
    editor.commands.set(name, (...args) => ran.push([name, ...args]));
  }
  const view = new PageView(newWorld(started, []), webview, 'side', 'now');
  started.fire(hub as unknown as Hub);
  const heard: unknown[] = [];
  hub.pages[0]?.onMessage((message) => heard.push(message));
  received.fire({ runCommand: { command: 'mcphub.open', args: [{ server: 'files' }] } });
  received.fire({ runCommand: { command: 'mcphub.restartHub', args: [] } });
  received.fire({ runCommand: { command: 'workbench.action.quit', args: [] } });
  received.fire({ runCommand: { command: 'mcphub.open', args: 'no list' } });
  received.fire({ listServers: {} });
  assert.deepEqual(ran, [['mcphub.open', { server: 'files' }]]);
  assert.deepEqual(heard, [{ listServers: {} }]);
  view.dispose();
});
