// The notifications of questions, in an editor that a test turns.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Prompt } from '@mcphub/host';
import type { Answers } from '../src/questions/answers.js';
import { patienceMs } from '../src/questions/attention.js';
import { Notifier } from '../src/questions/notify.js';
import type { Change } from '../src/hub/standing.js';
import type { WatcherListener, WatcherWindow } from '../src/hub/watcherwindow.js';
import { newEditor } from './fakevscode.js';

const prompt = (promptId: string): Prompt =>
  ({ promptId, server: 's', question: { case: 'sampling', value: { requestJson: '{}' } } }) as unknown as Prompt;
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('a question is taken back when it is withdrawn, and after the end none pops up', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  const editor = newEditor();
  let change: (change: Change) => void = () => assert.fail('nobody listens');
  const watcher = {
    listen: (listener: WatcherListener) => {
      change = (c) => listener.changed?.(c, watcher.standing);
      return () => undefined;
    },
    standing: { prompts: new Map() },
  } as unknown as WatcherWindow;
  const answers = { lookFor: () => undefined, looksFor: () => false } as unknown as Answers;
  const pages = {
    visible: false,
    onDidChangeVisibility: () => ({ dispose: () => undefined }),
    show: () => Promise.resolve(),
  };
  const notifier = new Notifier(watcher, answers, pages);
  change({ opened: [prompt('a'), prompt('b')] });
  t.mock.timers.tick(patienceMs);
  await settle();
  assert.equal(editor.notifications.size, 1);
  change({ closed: [{ prompt: prompt('a'), end: undefined }] });
  await settle();
  assert.equal(editor.notifications.size, 1, 'the next one');
  notifier.dispose();
  await settle();
  t.mock.timers.tick(10 * patienceMs);
  await settle();
  assert.deepEqual([...editor.notifications], []);
});
