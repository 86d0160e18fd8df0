// The tree of what has ended, on the messages of a hub.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { CancelDelivery, Origin, RequestDirection, RequestState } from '@mcphub/host/contract';
import { HistoryTree } from '../src/views/historytree.js';
import { newEditor, type TreeItem } from './fakevscode.js';
import { KnownScene } from './knownscene.js';

class Scene extends KnownScene {
  readonly tree: HistoryTree;

  constructor() {
    super();
    newEditor();
    this.tree = new HistoryTree(this.known);
    this.snapshot({});
  }

  items(): TreeItem[] {
    return this.tree.getChildren().map((entry) => this.tree.getTreeItem(entry) as unknown as TreeItem);
  }

  ends(requestId: string, seconds: bigint, how: object = {}): void {
    const value = { requestId, server: 'files', method: 'tools/call', tool: 'read', ...how };
    if ('cancellation' in how) {
      this.say({ case: 'mcpRequestCancelled', value }, seconds);
    } else {
      this.say({ case: 'mcpRequestFinished', value: { state: RequestState.DONE, ...value } }, seconds);
    }
  }
}

/** Sets the time. The first message tells that the hub's clock is right. */
function atTime(t: TestContext, seconds: number): void {
  t.mock.timers.enable({ apis: ['Date', 'setTimeout'], now: seconds * 1000 });
}

test('the newest stands first, with its end where that was not the normal one, and how long ago that was', (t) => {
  atTime(t, 1_000_000);
  const scene = new Scene();
  t.after(() => scene.tree.dispose());
  scene.ends('a', 999_700n, { title: 'Read file' });
  scene.ends('b', 999_990n, {
    cancellation: { origin: Origin.USER, reason: 'wrong folder' },
    delivery: CancelDelivery.DELIVERED,
    serverMayContinue: true,
  });
  scene.ends('c', 1_000_000n, { state: RequestState.FAILED, mcpError: { code: -1, message: 'tag exists' } });
  assert.deepEqual(
    scene.items().map(({ label, description }) => `${label} | ${description}`),
    [
      'read | files · The server said: tag exists · now',
      'read | files · Cancelled by you: wrong folder · now',
      'Read file | read · files · 5 min',
    ],
  );
  const [failed, cancelled, done] = scene.items();
  assert.deepEqual(
    [failed, cancelled, done].map((item) => item?.iconPath?.id),
    ['error', 'circle-slash', 'check'],
  );
  assert.match(
    cancelled?.tooltip?.value ?? '',
    /^Cancelled by you: wrong folder\. The server was told; it may still be working\.\n\nfiles · /u,
  );
  assert.equal(cancelled?.accessibilityInformation?.label, 'read, Cancelled by you: wrong folder, files, now');
  assert.deepEqual(cancelled.command?.arguments, [{ requestId: 'b' }]);
});

test('a row changes with what becomes known, and keeps its place', (t) => {
  atTime(t, 1_000);
  const scene = new Scene();
  t.after(() => scene.tree.dispose());
  let drawn = 0;
  scene.tree.onDidChangeTreeData(() => drawn++);
  scene.ends('a', 1_000n, { cancellation: { origin: Origin.USER }, delivery: CancelDelivery.PENDING });
  const before = scene.items()[0]?.id;
  scene.say({ case: 'mcpRequestCancelDelivery', value: { requestId: 'a', delivery: CancelDelivery.DELIVERED } });
  const [row] = scene.items();
  assert.equal(row?.id, before);
  assert.match(row?.tooltip?.value ?? '', /The server was told/u);
  t.mock.timers.tick(1_000);
  assert.equal(drawn, 1, 'changes that come together are drawn together');
});

test('only what the hub can do once more is offered again', (t) => {
  atTime(t, 1_000);
  const scene = new Scene();
  t.after(() => scene.tree.dispose());
  scene.ends('a', 1n);
  scene.ends('b', 2n, { direction: RequestDirection.INCOMING, method: 'elicitation/create', tool: '' });
  scene.ends('c', 3n, { method: 'initialize', tool: '' });
  assert.deepEqual(
    scene.items().map(({ contextValue }) => contextValue),
    [' ended ', ' ended again '], // a start that succeeded is not listed, as on the page
  );
  scene.say({ case: 'welcome', value: { hubId: 'another' } });
  assert.equal(scene.items().at(-1)?.contextValue, ' ended ');
});

test('of a long history the newest are shown', (t) => {
  atTime(t, 100_000);
  const scene = new Scene();
  t.after(() => scene.tree.dispose());
  for (let i = 0; i < 1_100; i++) {
    scene.ends(`r${i}`, BigInt(i));
  }
  const rows = scene.tree.getChildren();
  assert.deepEqual([rows.length, rows[0]?.requestId, rows.at(-1)?.requestId], [1_000, 'r1099', 'r100']);
});
