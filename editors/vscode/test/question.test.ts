import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApprovalScope } from '@mcphub/host/contract';
import type { Prompt } from '@mcphub/host/contract';
import { commandLine } from '../src/questions/launch.js';
import { mostInTitle, question } from '../src/questions/question.js';

const ask = (kind: string, value: object): Prompt =>
  ({ promptId: 'p', server: 'files', question: { case: kind, value } }) as unknown as Prompt;
const approval = (more: object = {}): Prompt =>
  ask('toolApproval', {
    tool: 'delete',
    title: '',
    argumentsJson: '{"path":"/a"}',
    definitionJson: '{"name":"delete"}',
    previousDefinitionJson: '',
    ...more,
  });
const launch = (more: object = {}): Prompt =>
  ask('serverLaunch', {
    command: 'npx',
    args: ['-y', 'two words'],
    url: '',
    configFile: '/repos/a/.vscode/mcp.json',
    configLine: 3,
    environmentReferences: ['TOKEN'],
    inputReferences: [],
    allowedTools: [],
    files: [],
    changed: false,
    resolvedCommand: '',
    resolvedTarget: '',
    resolvedFrom: '',
    inheritedNames: [],
    environment: [],
    environmentNames: [],
    headerNames: [],
    envFile: '',
    envFileNames: [],
    directory: '',
    launchHash: 'hash of all of it',
    ...more,
  });

const loading = { name: 'NODE_OPTIONS', value: '--require ./x.js', unset: false, loadsCode: true };

const every: readonly Prompt[] = [
  approval(),
  approval({ previousDefinitionJson: '{}' }),
  approval({ definitionJson: '{"annotations":{"destructiveHint":true}}' }),
  launch(),
  launch({ changed: true }),
  launch({ command: '', url: 'https://x/mcp' }),
  ask('sampling', { requestJson: '{}' }),
  ask('elicitationForm', { message: 'Who?', schemaJson: '{}' }),
  ask('elicitationUrl', { message: 'm', url: 'https://x/', urlHost: 'x', waiting: false }),
  ask('elicitationUrl', { message: 'm', url: 'https://x/', urlHost: 'x', waiting: true }),
  ask('signIn', { url: 'https://x/', urlHost: 'x', waiting: false }),
  ask('signIn', { url: 'https://x/', urlHost: 'x', waiting: true }),
  ask('configInput', { inputId: 'token', description: '', configFile: '/f', configLine: 1 }),
  ask('somethingNew', {}),
];

test('a question begins with its server, names the tool by its title, and is read at a glance', () => {
  assert.equal(question(approval({ title: 'Delete file' })).title, 'files: Run Delete file?');
  assert.equal(question(approval()).title, 'files: Run delete?');
  assert.match(question(approval({ title: 'Delete file' })).detail, /^Tool: “Delete file” \(“delete”\)$/mu);
  assert.match(question(approval({ title: 'delete' })).detail, /^Tool: “delete”$/mu);
  for (const prompt of every) {
    assert.match(question(prompt).title, /^files(?::| asks:) [A-Z]/u);
    const long = 'long '.repeat(50);
    const value = { ...prompt.question.value, tool: long, message: long, urlHost: long, description: long };
    const { title } = question({ ...prompt, server: long, question: { ...prompt.question, value } } as Prompt);
    assert.match(title, /^long long long long…/u);
    assert.ok(Array.from(title).length <= mostInTitle, title);
  }
});

test('the first choice, which has the focus, never allows anything', () => {
  for (const prompt of every) {
    assert.equal(question(prompt).choices[0]?.choice.kind, 'open', prompt.question.case);
  }
});

test('every question can be declined without a page', () => {
  for (const prompt of every) {
    assert.ok(
      question(prompt).choices.some((c) => c.choice.kind === 'decline'),
      prompt.question.case,
    );
  }
});

test('a dialog is for the start of a workspace server and for tools that destroy, and nothing else', () => {
  assert.deepEqual(
    every.filter((p) => question(p).dangerous).map((p) => p.question.case),
    ['toolApproval', 'toolApproval', 'serverLaunch', 'serverLaunch', 'serverLaunch'],
  );
  assert.equal(question(approval()).dangerous, false, 'a server that says nothing of its tool');
});

test('what a dialog cannot show whole cannot be accepted in it', () => {
  for (const prompt of [
    approval({ previousDefinitionJson: '{}' }),
    approval({ argumentsJson: JSON.stringify({ text: 'x'.repeat(2_000) }) }),
    launch({ changed: true }),
    launch({ allowedTools: ['*'] }),
    launch({ files: ['/f'] }),
    launch({ environment: [loading] }),
    launch({ args: ['x'.repeat(2_000)] }),
    launch({ args: Array.from({ length: 400 }, () => 'a\nb') }),
    launch({ writtenBy: { name: 'an extension', windowId: '' }, args: ['x'.repeat(2_000)] }),
    launch({
      writtenBy: { name: 'an extension', windowId: '' },
      headerNames: Array.from({ length: 200 }, (_, i) => `X-${i}`),
    }),
  ]) {
    assert.ok(!question(prompt).choices.some((c) => c.choice.kind === 'accept'), JSON.stringify(prompt.question));
  }
});

test('what a program wrote is agreed to in a dialog that shows all of it, and the yes says so', () => {
  const asked = question(
    launch({
      writtenBy: { name: 'an extension', windowId: '' },
      directory: '/repos/a',
      environment: [{ name: 'MODE', value: 'two\nlines, TOKEN=1', unset: false, loadsCode: false }],
      headerNames: ['X-Key'],
      envFile: '/repos/a/.env',
      envFileNames: ['FROM_FILE'],
    }),
  );
  for (const fact of [
    'npx -y "two words"',
    '/repos/a',
    '"MODE=two\\nlines, TOKEN=1"',
    'The program “an extension” wrote the entry',
    'X-Key',
    '/repos/a/.env',
    'FROM_FILE',
  ])
    assert.ok(asked.detail.includes(fact), `${fact} in ${asked.detail}`);
  const accepts = asked.choices.flatMap(({ choice }) => (choice.kind === 'accept' ? [choice.launchHash] : []));
  assert.deepEqual(accepts, ['hash of all of it', 'hash of all of it']);
});

test('a command that no dialog can show is cut in it, and leads to its card', () => {
  const asked = question(launch({ args: ['x'.repeat(100_000)] }));
  assert.ok(asked.detail.length < 2_000, String(asked.detail.length));
  assert.match(asked.detail, /^This is only the beginning/u);
  assert.deepEqual(
    asked.choices.map((c) => c.choice.kind),
    ['open', 'decline'],
  );
});

test('what takes a form or opens a page is accepted in the page alone', () => {
  for (const prompt of every) {
    const accepts = question(prompt).choices.some((c) => c.choice.kind === 'accept');
    const simple =
      prompt.question.case === 'toolApproval'
      || prompt.question.case === 'serverLaunch'
      || (prompt.question.case === 'elicitationUrl' && prompt.question.value.waiting);
    assert.ok(!accepts || simple, prompt.question.case);
  }
});

test('a launch is shown whole and exact, with what it would see', () => {
  const { detail } = question(launch());
  assert.match(detail, /npx -y "two words"/u);
  assert.match(detail, /\/repos\/a\/\.vscode\/mcp\.json:3/u);
  assert.match(detail, /TOKEN/u);
});

test('a launch shows where its program was found, and what it inherits of the user', () => {
  const { detail } = question(
    launch({
      resolvedCommand: '/repos/tools/npx',
      resolvedFrom: 'the PATH of the login shell\u202e',
      inheritedNames: ['HTTPS_PROXY', 'NODE_EXTRA_CA_CERTS'],
    }),
  );
  assert.match(detail, /^Runs the program: \/repos\/tools\/npx$/mu);
  assert.match(detail, /^Found in: the PATH of the login shell⟨U\+202E⟩$/mu);
  assert.match(detail, /^Inherits your settings: HTTPS_PROXY, NODE_EXTRA_CA_CERTS$/mu);
  assert.doesNotMatch(question(launch()).detail, /Inherits|Found in/u);
});

// Finding C1: the program of a workspace.
test('a launch shows which program runs, and in words what can make it load other code', () => {
  const { detail } = question(
    launch({
      resolvedCommand: '/repos/a/bin/npx',
      resolvedTarget: '/tmp/evil',
      environment: [loading, { name: 'MODE', value: 'x', unset: false, loadsCode: false }],
    }),
  );
  assert.match(detail, /^Runs the program: \/repos\/a\/bin\/npx, \/tmp\/evil$/mu);
  assert.match(detail, /^Danger: .*NODE_OPTIONS=--require \.\/x\.js$/mu);
});

test('a command line shows where each word ends', () => {
  assert.equal(commandLine('sh', ['-c', 'rm -rf "/"', '']), 'sh -c "rm -rf \\"/\\"" ""');
});

test('approvals are offered by how long they hold, the shortest first', () => {
  const scopes = question(approval()).choices.flatMap((c) => (c.choice.kind === 'accept' ? [c.choice.scope] : []));
  assert.deepEqual(scopes, [ApprovalScope.ONCE, ApprovalScope.WORKSPACE, ApprovalScope.ALWAYS]);
});

test('texts of others can neither be links nor hide', () => {
  const { title } = question(approval({ tool: '[x](command:y)\u202e' }));
  assert.doesNotMatch(title, /\]\(|\u202e/u);
});
