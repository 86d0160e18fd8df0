// A page in a webview: what the webview is given, and where the messages of the page go.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectPage } from '../embed/connectpage.js';
import { pageFolder } from '../embed/pagefiles.js';

/** A webview with the members of VS Code's that connectPage uses. Its page speaks by `say`. */
class FakeWebview {
  options = {};
  cspSource = 'https://*.example';
  /** @type {((message: unknown) => void)[]} */
  listeners = [];
  /** @type {object[]} */
  posted = [];
  shown = '';
  closed = false;
  /** How many listened when the page was drawn. */
  listened = 0;
  get html() {
    return this.shown;
  }
  set html(html) {
    if (this.closed) throw new Error('Webview is disposed');
    this.listened = this.listeners.length;
    this.shown = html;
  }
  /** @param {{ fsPath: string }} uri */
  asWebviewUri({ fsPath }) {
    return { toString: () => `https://files.example${fsPath}` };
  }
  /** @param {object} message */
  postMessage(message) {
    this.posted.push(message);
    return this.closed ? Promise.reject(new Error('Webview is disposed')) : Promise.resolve(true);
  }
  /** @param {(message: unknown) => void} listener */
  onDidReceiveMessage(listener) {
    this.listeners.push(listener);
    return { dispose: () => void (this.listeners = this.listeners.filter((one) => one !== listener)) };
  }
  /** @param {unknown} message */
  say(message) {
    this.listeners.forEach((listener) => listener(message));
  }
}

/** A hub that keeps what it is told, and by what it tells. */
class FakeHub {
  /** @type {unknown[]} */
  heard = [];
  /** @type {import('@mcphub/host').PagePort | undefined} */
  port;
  /** @type {unknown} */
  options;
  disposed = false;
  /** @param {import('@mcphub/host').PagePort} port @param {import('@mcphub/host').PageOptions} [options] */
  showPage(port, options) {
    this.port = port;
    this.options = options;
    const stop = port.onMessage((message) => this.heard.push(message));
    return {
      reveal: () => undefined,
      leave: stop,
      dispose: () => {
        this.disposed = true;
        stop();
      },
    };
  }
}

const folder = { fsPath: pageFolder(), toString: () => `file://${pageFolder()}` };

test('the webview gets the page, may load its folder alone, and its messages go both ways', async () => {
  const [webview, hub] = [new FakeWebview(), new FakeHub()];
  const page = await connectPage(webview, hub, { folder, title: 'side bar', configWrites: true });
  assert.match(webview.html, /src="https:\/\/files\.example.*\/main\.js"/);
  assert.match(webview.html, /style-src https:\/\/\*\.example/);
  assert.match(webview.html, /configWrites&#34;:true/);
  assert.equal(webview.listened, 1, 'a page says hello as soon as it is drawn');
  assert.deepEqual(webview.options, {
    enableScripts: true,
    enableForms: true,
    enableCommandUris: [],
    localResourceRoots: [folder],
  });
  assert.deepEqual(hub.options, { title: 'side bar', configWrites: true });
  webview.say({ hello: {} });
  assert.deepEqual(hub.heard, [{ hello: {} }]);
  hub.port?.post({ welcome: {} });
  assert.deepEqual(webview.posted, [{ welcome: {} }]);
  page.dispose();
  assert.deepEqual(webview.listeners, []);
});

test('commands that the page runs by itself are those that were named, and the hub hears of none', async () => {
  const [webview, hub] = [new FakeWebview(), new FakeHub()];
  /** @type {unknown[]} */
  const run = [];
  await connectPage(webview, hub, {
    folder,
    commands: ['host.open'],
    runCommand: (command, args) => run.push([command, ...args]),
  });
  webview.say({ runCommand: { command: 'host.open', args: ['a'] } });
  webview.say({ runCommand: { command: 'host.deleteAll', args: [] } });
  webview.say({ runCommand: { command: 'host.open', args: 'a' } });
  webview.say({ runCommand: null });
  webview.say({ runCommand: 1 });
  assert.deepEqual(run, [['host.open', 'a']]);
  assert.deepEqual(hub.heard, [{ runCommand: null }]);
});

test('a webview that is closed meanwhile leaves no page, and what is posted to it rejects nowhere', async () => {
  const [webview, hub] = [new FakeWebview(), new FakeHub()];
  webview.closed = true;
  await assert.rejects(connectPage(webview, hub, { folder }), /disposed/);
  assert.equal(hub.disposed, true);
  hub.port?.post({ welcome: {} });
});

test('a page elsewhere is connected by its port', async () => {
  const hub = new FakeHub();
  const port = { post: () => undefined, onMessage: () => () => undefined };
  await connectPage(port, hub, { title: 'browser' });
  assert.equal(hub.port, port);
  assert.deepEqual(hub.options, { title: 'browser' });
});
