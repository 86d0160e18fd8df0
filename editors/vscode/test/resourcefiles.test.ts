import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type * as vscode from 'vscode';
import { HubError, ServerState, type AttachResponse } from '@mcphub/host/contract';
import { ResourceFiles, type ResourceWorld } from '../src/resources/resourcefiles.js';
import { documentUri } from '../src/resources/resourceuri.js';
import { newEditor } from './fakevscode.js';

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A fake server "s". The text of its resources says how often they were read. */
function worldWith(t: TestContext) {
  newEditor();
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const reads: string[] = [];
  let held: Promise<void> | undefined;
  const orders: string[] = [];
  let hear: (said: AttachResponse) => void = () => assert.fail('nobody listens');
  let fail: Error | undefined;
  const server = { name: 's', state: ServerState.READY, capabilitiesJson: '{"resources":{"subscribe":true}}' };
  const standing = { servers: new Map([['s', server]]) };
  const world = {
    ready: () => Promise.resolve(),
    warn: (text: string) => orders.push(text),
    process: {
      hub: {
        servers: {
          readResource: async ({ uri }: { uri: string }) => {
            await settle();
            if (fail !== undefined) {
              throw fail;
            }
            reads.push(uri);
            const value = JSON.stringify({ contents: [{ uri, text: `${uri} ${reads.length}` }] });
            await held;
            return { outcome: { case: 'resultJson', value } };
          },
        },
      },
    },
    watcher: {
      standing,
      listen: ({ event }: { event: typeof hear }) => {
        hear = event;
        return () => undefined;
      },
      call: ({ localName }: { localName: string }, { uri }: { uri: string }) => {
        orders.push(`${localName} ${uri}`);
        return Promise.resolve({});
      },
    },
  };
  const files = new ResourceFiles(world as unknown as ResourceWorld);
  t.after(() => files.dispose());
  const changes: string[] = [];
  files.onDidChangeFile((all) => changes.push(...all.map(({ uri }) => uri.path)));
  const say = (event: unknown): void => hear({ event } as AttachResponse);
  return {
    files,
    reads,
    orders,
    changes,
    server,
    say,
    updated: (uri: string) => say({ case: 'resourceUpdated', value: { server: 's', uri } }),
    holding: (until: Promise<void> | undefined) => (held = until),
    failing: (error: Error | undefined) => (fail = error),
    read: async (document: vscode.Uri) => Buffer.from(await files.readFile(document)).toString(),
    pass: (ms: number) => t.mock.timers.tick(ms),
  };
}

test('a document is read once for all who look at it, and only by reading', async (t) => {
  const w = worldWith(t);
  const document = documentUri({ server: 's', uri: 'x:a' });
  const [stat, text] = await Promise.all([w.files.stat(document), w.read(document)]);
  assert.deepEqual([text, stat.size, stat.permissions, w.reads.length], ['x:a 1', 5, 1, 1]);
  for (const write of ['writeFile', 'delete', 'rename', 'createDirectory'] as const) {
    assert.throws(() => w.files[write](document), /NoPermissions/u);
  }
  w.files.put(document, '{"contents":[{"text":"by a command"}]}');
  assert.equal(await w.read(document), 'by a command');
  w.failing(new HubError('unavailable', 'SERVER_FAILED', 'the server has ended'));
  await assert.rejects(w.read(documentUri({ server: 's', uri: 'x:b' })), /Unavailable: the server has ended/u);
});

test('a document that is looked at is subscribed to; a flood of updates is one refresh at a time', async (t) => {
  const w = worldWith(t);
  const document = documentUri({ server: 's', uri: 'x:a' });
  assert.equal(await w.read(document), 'x:a 1');
  w.updated('x:a');
  w.pass(5000);
  assert.deepEqual([w.changes, w.orders], [[], []], 'no editor shows the document');
  const one = w.files.watch(document);
  const two = w.files.watch(document);
  await settle();
  assert.deepEqual(w.orders, ['subscribeResource x:a']);
  w.updated('x:ab');
  w.pass(5000);
  assert.deepEqual(w.changes, [], 'of another resource');
  for (let i = 0; i < 1000; i++) {
    w.updated(`x:a/${i}`);
  }
  w.pass(1999);
  assert.equal(w.changes.length, 0);
  w.pass(1);
  assert.equal(w.changes.length, 1);
  const before = await w.files.stat(document);
  assert.equal(await w.read(document), 'x:a 2');
  w.say({ case: 'dropped', value: { notices: 3n } });
  w.pass(2000);
  assert.equal(w.changes.length, 2);
  const after = await w.files.stat(document);
  assert.ok(after.mtime > before.mtime, 'the editor sees that it is new');
  one.dispose();
  one.dispose();
  await settle();
  assert.equal(w.orders.length, 1, 'one still looks at it');
  w.updated('x:a');
  two.dispose();
  w.pass(5000);
  await settle();
  assert.deepEqual(w.orders, ['subscribeResource x:a', 'unsubscribeResource x:a']);
  assert.equal(w.changes.length, 2, 'nothing is read for nobody');
});

test('a change that is told while the server answers is not lost; nothing is kept once nobody looks', async (t) => {
  const w = worldWith(t);
  const document = documentUri({ server: 's', uri: 'x:a' });
  const look = w.files.watch(document);
  await settle();
  let answer: () => void = () => assert.fail('nothing is held');
  void w.holding(new Promise((resolve) => (answer = resolve)));
  const slow = w.read(document);
  await settle();
  await settle();
  assert.deepEqual(w.reads, ['x:a'], 'the server has made its answer');
  w.updated('x:a');
  w.pass(2000);
  assert.equal(w.changes.length, 1);
  void w.holding(undefined);
  assert.equal(await w.read(document), 'x:a 2');
  answer();
  assert.equal(await slow, 'x:a 1');
  assert.equal(await w.read(document), 'x:a 2', 'the late answer took the place of the newer one');
  look.dispose();
  assert.equal(await w.read(document), 'x:a 3');
});

test('it is subscribed to again at another hub, once its server is there, and never starts one', async (t) => {
  const w = worldWith(t);
  w.server.state = ServerState.STOPPED;
  const watch = w.files.watch(documentUri({ server: 's', uri: 'x:a' }));
  await settle();
  assert.deepEqual(w.orders, []);
  w.server.state = ServerState.READY;
  w.say({ case: 'serverChanged', value: { server: w.server } });
  w.say({ case: 'serverChanged', value: { server: w.server } });
  await settle();
  w.say({ case: 'snapshot', value: { subscriptions: [{ server: 's', uri: 'x:a' }] } });
  await settle();
  assert.equal(w.orders.length, 1);
  w.say({ case: 'snapshot', value: { subscriptions: [] } });
  await settle();
  assert.deepEqual(w.orders, ['subscribeResource x:a', 'subscribeResource x:a']);
  w.server.capabilitiesJson = '{"resources":{}}';
  w.say({ case: 'snapshot', value: { subscriptions: [] } });
  await settle();
  assert.equal(w.orders.length, 2);
  watch.dispose();
});

test('a change that was missed while the stream was broken is read all the same', async (t) => {
  const w = worldWith(t);
  const document = documentUri({ server: 's', uri: 'x:a' });
  const watch = w.files.watch(document);
  assert.equal(await w.read(document), 'x:a 1');
  w.say({ case: 'snapshot', value: { subscriptions: [{ server: 's', uri: 'x:a' }] } });
  w.pass(2000);
  assert.equal(w.changes.length, 1);
  assert.equal(await w.read(document), 'x:a 2');
  w.say({ case: 'snapshot', value: { subscriptions: [] } });
  w.pass(2000);
  await settle();
  assert.equal(w.changes.length, 1, 'another hub starts no server for that');
  assert.deepEqual(w.orders, ['subscribeResource x:a', 'subscribeResource x:a']);
  watch.dispose();
});
