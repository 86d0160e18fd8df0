// The notifications of questions, in a fake editor.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import { ApprovalScope } from '@mcphub/host';
import type { Prompt } from '@mcphub/host';
import type { Answers } from '../src/questions/answers.js';
import { patienceMs, visiblePatienceMs } from '../src/questions/attention.js';
import { Notifier, type Pages } from '../src/questions/notify.js';
import type { Change, Standing } from '../src/hub/standing.js';
import type { WatcherListener, WatcherWindow } from '../src/hub/watcherwindow.js';
import { EventEmitter, newEditor, type Editor } from './fakevscode.js';

const prompt = (promptId: string): Prompt =>
  ({ promptId, server: 's', question: { case: 'sampling', value: { requestJson: '{}' } } }) as unknown as Prompt;
const launch = (promptId: string): Prompt => {
  const names = { args: [], environment: [], environmentReferences: [], inputReferences: [], inheritedNames: [] };
  const more = {
    environmentNames: [],
    headerNames: [],
    envFile: '',
    envFileNames: [],
    directory: '',
    launchHash: 'hash',
  };
  const texts = { url: 'https://example.com', command: '', resolvedCommand: '', resolvedTarget: '', resolvedFrom: '' };
  const value = { ...names, ...more, ...texts, configFile: '/mcp.json', configLine: 1, allowedTools: [], files: [] };
  return { promptId, server: 's', question: { case: 'serverLaunch', value } } as unknown as Prompt;
};
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A notifier with a fake editor and fake pages. */
function scene(t: TestContext): {
  editor: Editor;
  change: (change: Change) => void;
  inView: (...promptIds: string[]) => void;
  revealed: string[];
  answered: unknown[];
  pages: { visible: boolean };
  notifier: Notifier;
} {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  const editor = newEditor();
  const answered: unknown[] = [];
  let change: (change: Change) => void = () => assert.fail('nobody listens');
  const watcher = {
    listen: (listener: WatcherListener) => {
      change = (c) => {
        for (const p of c.opened ?? []) watcher.standing.prompts.set(p.promptId, p);
        listener.changed?.(c, watcher.standing as unknown as Standing);
      };
      return () => undefined;
    },
    standing: { prompts: new Map<string, Prompt>() },
    answer: (answer: unknown) => Promise.resolve(answered.push(answer)),
  };
  const answers = { lookFor: () => undefined, looksFor: () => false } as unknown as Answers;
  const viewChanged = new EventEmitter<void>();
  const revealed: string[] = [];
  let seen: readonly string[] = [];
  const pages = {
    visible: false,
    sees: (promptId: string) => seen.includes(promptId),
    onDidChangeView: viewChanged.event,
    show: (promptId: string) => Promise.resolve(void revealed.push(promptId)),
  } as Pages & { visible: boolean };
  const notifier = new Notifier(watcher as unknown as WatcherWindow, answers, pages);
  t.after(() => notifier.dispose());
  const inView = (...promptIds: string[]): void => {
    seen = promptIds;
    viewChanged.fire();
  };
  return { editor, change: (c) => change(c), inView, revealed, answered, pages, notifier };
}

test('a question is taken back when it is withdrawn, and after the end none pops up', async (t) => {
  const { editor, change, notifier } = scene(t);
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

// Finding E1: an open page must not keep a notification back when the card is not in view.
test('a question out of view on an open page is told, until its card comes into view', async (t) => {
  const { editor, change, inView, pages } = scene(t);
  pages.visible = true;
  change({ opened: [prompt('a')] });
  t.mock.timers.tick(visiblePatienceMs);
  await settle();
  assert.equal(editor.notifications.size, 1);
  inView('a');
  await settle();
  assert.equal(editor.notifications.size, 0);
  inView();
  await settle();
  assert.equal(editor.notifications.size, 1, 'it was scrolled away');
});

test('a card in view tells nobody who works in another program', async (t) => {
  const { editor, change, inView, pages } = scene(t);
  pages.visible = true;
  inView('a');
  change({ opened: [prompt('a')] });
  t.mock.timers.tick(visiblePatienceMs);
  await settle();
  assert.equal(editor.notifications.size, 0);
  editor.focused = false;
  editor.focusChanged.fire();
  await settle();
  assert.equal(editor.notifications.size, 1);
  editor.focused = true;
  editor.focusChanged.fire();
  await settle();
  assert.equal(editor.notifications.size, 0);
});

test('the one notification says how many other questions wait, as they come and go', async (t) => {
  const { editor, change, inView, pages } = scene(t);
  const text = (): string => [...editor.notifications].join('|');
  change({ opened: [prompt('a')] });
  t.mock.timers.tick(patienceMs);
  await settle();
  assert.match(text(), /^\[Show\]/);
  assert.doesNotMatch(text(), /more question/);
  change({ opened: [prompt('b')] });
  await settle();
  assert.doesNotMatch(text(), /more question/, 'its page may come up');
  t.mock.timers.tick(patienceMs);
  assert.match(text(), /^\[Show\].*\) {2}\(1 more question waits\) {2}The server/);
  change({ opened: [prompt('c'), prompt('d')] });
  t.mock.timers.tick(patienceMs);
  assert.match(text(), /\(3 more questions wait\)/);
  assert.equal(editor.notifications.size, 1);
  await editor.commands.get('mcphub.question.later')?.('c');
  assert.match(text(), /\(2 more questions wait\)/, 'what is put off is counted by the status bar alone');
  pages.visible = true;
  inView('d');
  t.mock.timers.tick(visiblePatienceMs);
  assert.match(text(), /\(1 more question waits\)/, 'the other one is in view');
  pages.visible = false;
  inView();
  change({ closed: [{ prompt: prompt('d'), end: undefined }] });
  assert.match(text(), /\(1 more question waits\)/);
  change({ closed: [{ prompt: prompt('a'), end: undefined }] });
  await settle();
  assert.match(text(), /question\.open\?%5B%22b%22%5D/);
  assert.doesNotMatch(text(), /more question/);
});

test('the count is in the language of the editor, and in the text that is read aloud', async (t) => {
  const { editor, change } = scene(t);
  const german = JSON.parse(readFileSync('l10n/bundle.l10n.de.json', 'utf8')) as Record<string, string>;
  Object.entries(german).forEach(([text, translated]) => editor.texts.set(text, translated));
  editor.settings['accessibilitySupport'] = 'on';
  change({ opened: [prompt('a'), prompt('b'), prompt('c')] });
  t.mock.timers.tick(patienceMs);
  await settle();
  assert.match(editor.messages[0] ?? '', /\(2 weitere Fragen warten\)$/);
});

test('Show leads to the card of the question itself, and its links come before its text', async (t) => {
  const { editor, change, revealed } = scene(t);
  change({ opened: [prompt('a'), prompt('b')] });
  t.mock.timers.tick(patienceMs);
  await settle();
  assert.match([...editor.notifications][0] ?? '', /^\[Show\]\(command:.*The server/);
  await editor.commands.get('mcphub.question.open')?.('b');
  await editor.commands.get('mcphub.showQuestion')?.();
  assert.deepEqual(revealed, ['b', '']);
});

test('beside an open page what is dangerous is a notification, which can be taken back, and else a dialog', async (t) => {
  const { editor, change, inView, pages } = scene(t);
  pages.visible = true;
  change({ opened: [launch('a')] });
  t.mock.timers.tick(visiblePatienceMs);
  await settle();
  assert.deepEqual([editor.notifications.size, editor.messages.length], [1, 0]);
  inView('a');
  await settle();
  assert.equal(editor.notifications.size, 0);
  inView();
  pages.visible = false;
  await settle();
  change({ closed: [{ prompt: launch('a'), end: undefined }], opened: [launch('b')] });
  t.mock.timers.tick(patienceMs);
  await settle();
  assert.equal(editor.messages.length, 1);
});

test('a launch is answered in a dialog that shows it, from its notification, too, and the yes carries what was shown', async (t) => {
  const { editor, change, pages, answered } = scene(t);
  pages.visible = true;
  const asked = launch('a');
  Object.assign(asked.question.value ?? {}, { writtenBy: { name: 'an extension', windowId: '' } });
  change({ opened: [asked] });
  t.mock.timers.tick(visiblePatienceMs);
  await settle();
  editor.choose = (_, items) => (items as { title?: string }[]).find((item) => item.title === 'Start This Time');
  await editor.commands.get('mcphub.question.choose')?.('a');
  assert.match(editor.messages.join(), /which “an extension” added/u);
  assert.deepEqual(answered, [
    { promptId: 'a', action: { case: 'accept', value: { scope: ApprovalScope.ONCE, launchHash: 'hash' } } },
  ]);
});

// Finding E2: a screen reader reads the text of a notification as it was given, including the commands of its links.
test('for a screen reader a question has buttons with names, which say when it is gone', async (t) => {
  const { editor, change, revealed } = scene(t);
  editor.settings['accessibilitySupport'] = 'on';
  let choose: (title: string) => void = () => assert.fail('nothing is shown');
  let labels: string[] = [];
  editor.choose = (_, items) => {
    const buttons = items as { title: string }[];
    labels = buttons.map(({ title }) => title);
    return new Promise((resolve) => {
      choose = (title) => resolve(buttons.find((button) => button.title === title));
    });
  };
  change({ opened: [prompt('a')] });
  t.mock.timers.tick(patienceMs);
  await settle();
  assert.equal(editor.notifications.size, 0);
  assert.doesNotMatch(editor.messages.join(), /command:/);
  assert.deepEqual(labels, ['Show', 'Deny', 'Later']);
  choose('Show');
  await settle();
  assert.deepEqual(revealed, ['a']);

  change({ closed: [{ prompt: prompt('a'), end: undefined }], opened: [prompt('b')] });
  t.mock.timers.tick(patienceMs);
  await settle();
  assert.equal(editor.messages.length, 2);
  const late = choose;
  change({ closed: [{ prompt: prompt('b'), end: undefined }] });
  await settle();
  late('Deny');
  await settle();
  assert.match(editor.messages.at(-1) ?? '', /is no longer open/);
});
