// The notifications of questions, in a fake editor.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import { ApprovalScope } from '@mcphub/host/contract';
import type { Change, Prompt, Standing, WatcherListener, WatcherWindow } from '@mcphub/host/contract';
import type { Answers } from '../src/questions/answers.js';
import { patienceMs, visiblePatienceMs } from '../src/questions/attention.js';
import { Notifier, renewMs, type Pages } from '../src/questions/notify.js';
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
  const listeners = new Set<WatcherListener>();
  const change = (c: Change): void => {
    for (const p of c.opened ?? []) watcher.standing.prompts.set(p.promptId, p);
    for (const listener of listeners) listener.changed?.(c, watcher.standing as unknown as Standing);
  };
  const watcher = {
    listen: (listener: WatcherListener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
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
  return { editor, change, inView, revealed, answered, pages, notifier };
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
  assert.equal(text(), 's: Answer with your model?');
  change({ opened: [prompt('b')] });
  await settle();
  assert.doesNotMatch(text(), /more/, 'its page may come up');
  t.mock.timers.tick(patienceMs);
  assert.equal(text(), 's: Answer with your model? (1 more)');
  change({ opened: [prompt('c'), prompt('d')] });
  t.mock.timers.tick(patienceMs);
  assert.match(text(), /\(3 more\)$/);
  pages.visible = true;
  inView('c', 'd');
  t.mock.timers.tick(visiblePatienceMs);
  assert.match(text(), /\(1 more\)$/, 'the others are in view');
  pages.visible = false;
  inView();
  change({ closed: ['c', 'd'].map((id) => ({ prompt: prompt(id), end: undefined })) });
  assert.match(text(), /\(1 more\)$/);
  change({ closed: [{ prompt: prompt('a'), end: undefined }] });
  await settle();
  assert.equal(text(), 's: Answer with your model?');
});

// The editor does not say that the user has closed the notification.
test('a question that comes long after the notification has one of its own, and many at once have one', async (t) => {
  const { editor, change, revealed } = scene(t);
  const text = (): string => [...editor.notifications].join('|');
  change({ opened: [prompt('a')] });
  t.mock.timers.tick(patienceMs);
  await settle();
  t.mock.timers.tick(renewMs);
  editor.notifications.clear(); // it is closed
  change({ opened: [prompt('b'), prompt('c')] });
  t.mock.timers.tick(patienceMs);
  await settle();
  assert.equal(text(), 's: Answer with your model? (2 more)');
  editor.stopPressed.fire();
  await settle();
  assert.deepEqual(revealed, ['c'], 'the latest');
});

test('the notification begins with the server, has no links, and its button leads to the card', async (t) => {
  const { editor, change, revealed } = scene(t);
  change({ opened: [prompt('a')] });
  t.mock.timers.tick(patienceMs);
  await settle();
  // The editor reads this text aloud as it is, too.
  assert.deepEqual([...editor.notifications], ['s: Answer with your model?']);
  assert.equal(editor.stopLabel, 'Open');
  editor.stopPressed.fire();
  await settle();
  assert.deepEqual(revealed, ['a']);
  assert.equal(editor.notifications.size, 0);
  await editor.commands.get('mcphub.showQuestion')?.();
  assert.deepEqual(revealed, ['a', '']);
});

test('the count and the button are in the language of the editor', async (t) => {
  const { editor, change } = scene(t);
  const german = JSON.parse(readFileSync('l10n/bundle.l10n.de.json', 'utf8')) as Record<string, string>;
  Object.entries(german).forEach(([text, translated]) => editor.texts.set(text, translated));
  change({ opened: [prompt('a'), prompt('b'), prompt('c')] });
  t.mock.timers.tick(patienceMs);
  await settle();
  assert.match([...editor.notifications].join(), /^s: .* \(2 weitere\)$/);
  assert.equal(editor.stopLabel, 'Öffnen');
});

// Finding I11.
test('a hostile name is spelled out in the notification, the dialog and the pick list', async (t) => {
  const { editor, change, pages } = scene(t);
  const tool = 'rm\u2800\u202e\u200b';
  const shown = 'rm⟨U+2800⟩⟨U+202E⟩⟨U+200B⟩';
  const value = {
    tool,
    title: '',
    argumentsJson: JSON.stringify({ tool }),
    definitionJson: '',
    previousDefinitionJson: '',
  };
  const hostile = { promptId: 'a', server: 's\u2800', question: { case: 'toolApproval', value } } as unknown as Prompt;
  const seen = (text = ''): void => {
    assert.ok(text.includes(shown), text);
    assert.doesNotMatch(text, /[\u2800\u202e\u200b]/u);
  };
  pages.visible = true;
  change({ opened: [hostile] });
  t.mock.timers.tick(visiblePatienceMs);
  await settle();
  seen([...editor.notifications].join());
  pages.visible = false;
  const picking = editor.commands.get('mcphub.answerQuestion')?.();
  seen(editor.quickPick?.title);
  seen(editor.quickPick?.placeholder);
  editor.quickPick?.hide();
  await picking;
  change({ closed: [{ prompt: hostile, end: undefined }], opened: [{ ...hostile, promptId: 'b' }] });
  t.mock.timers.tick(patienceMs);
  await settle();
  seen(editor.messages.at(-1)); // the definition is no JSON, so it counts as dangerous
  seen(editor.detail);
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

test('a launch is answered in a dialog that shows it, beside a page, too, and the yes carries what was shown', async (t) => {
  const { editor, change, pages, answered } = scene(t);
  pages.visible = true;
  const asked = launch('a');
  Object.assign(asked.question.value ?? {}, { writtenBy: { name: 'an extension', windowId: '' } });
  change({ opened: [asked] });
  t.mock.timers.tick(visiblePatienceMs);
  await settle();
  editor.choose = (_, items) => (items as { title?: string }[]).find((item) => item.title === 'Start Once');
  await editor.commands.get('mcphub.answerQuestion')?.();
  assert.match(editor.detail ?? '', /“an extension” wrote the entry/u);
  assert.deepEqual(answered, [
    { promptId: 'a', action: { case: 'accept', value: { scope: ApprovalScope.ONCE, launchHash: 'hash' } } },
  ]);
});

test('an answer to a dialog whose question is gone is told', async (t) => {
  const { editor, change } = scene(t);
  let choose: (title: string) => void = () => assert.fail('nothing is shown');
  editor.choose = (_, items) =>
    new Promise((resolve) => {
      choose = (title) => resolve((items as { title?: string }[]).find((item) => item.title === title));
    });
  change({ opened: [launch('a')] });
  t.mock.timers.tick(patienceMs);
  await settle();
  const late = choose;
  change({ closed: [{ prompt: launch('a'), end: undefined }] });
  await settle();
  late('Don’t Start');
  await settle();
  assert.match(editor.messages.at(-1) ?? '', /is no longer open/);
});
