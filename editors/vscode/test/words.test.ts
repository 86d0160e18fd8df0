import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { chooseModel } from '@mcphub/host/contract';
import { binaryPath, graceMilliseconds, keepKey } from '../src/hub/hubplace.js';
import { logText } from '../src/log/logtext.js';
import { modelRequest, modelResult, withinTokens } from '../src/questions/modelrequest.js';
import { secretKey } from '../src/questions/secretkeys.js';
import { statusWords } from '../src/status/statustext.js';
import { argumentsProblem, skeleton, takesArguments } from '../src/commands/toolarguments.js';
import { webUrl } from '../src/questions/weburl.js';

const counts = { hub: 'ready', responsive: true, message: '', running: 0, prompts: 0 } as const;

test('the status bar counts what runs and what waits', () => {
  assert.equal(statusWords(counts).text, '$(plug) MCP');
  assert.equal(statusWords({ ...counts, running: 3 }).text, '$(sync~spin) MCP 3');
  const busy = statusWords({ ...counts, running: 1, prompts: 2 });
  assert.equal(busy.text, '$(sync~spin) MCP 1 $(question) 2');
  assert.match(busy.tooltip, /1 request is running, 2 questions wait for you\./u);
  assert.equal(busy.prominence, 'warning');
});

test('the status bar says how the hub is', () => {
  assert.equal(statusWords({ ...counts, hub: 'failed', message: 'No program.' }).prominence, 'error');
  assert.match(statusWords({ ...counts, hub: 'failed', message: 'No program.' }).label, /No program\./u);
  assert.match(statusWords({ ...counts, hub: 'restarting', running: 5 }).tooltip, /restarting/u);
  assert.doesNotMatch(statusWords({ ...counts, hub: 'starting', running: 5 }).text, /5/u);
  const silent = statusWords({ ...counts, responsive: false, running: 5 });
  assert.match(silent.tooltip, /not responding/u);
  assert.equal(silent.prominence, 'warning');
});

test('the key of a secret belongs to one input of one file', () => {
  const keys = [
    ['/a', 'token'],
    ['/b', 'token'],
    ['/a', 'other'],
    ['/a"', '"token'],
  ].map(([file = '', inputId = '']) => secretKey({ file, inputId }));
  assert.equal(new Set(keys).size, 4);
  assert.equal(keys[0], secretKey({ file: '/a', inputId: 'token' }));
  assert.ok(
    keys.every((k) => /^mcphub\.input\.[0-9a-f]{40}$/u.test(k)),
    'no path in a name that a keyring shows',
  );
});

test('the program is the one of the setting, never one of the current folder', () => {
  assert.equal(binaryPath('', '/ext', 'linux'), path.join('/ext', 'bin', 'mcphub'));
  assert.equal(binaryPath('', '/ext', 'win32'), path.join('/ext', 'bin', 'mcphub.exe'));
  assert.equal(binaryPath(' /opt/mcphub ', '/ext', 'linux'), '/opt/mcphub');
  assert.equal(binaryPath('mcphub', '/ext', 'linux'), '/mcphub');
});

test('a hub is kept for the same folders and the same program', () => {
  const key = keepKey(['file:///repos/a'], undefined, '/ext-1/bin/mcphub');
  assert.equal(key, keepKey(['file:///repos/a'], undefined, '/ext-1/bin/mcphub'));
  assert.notEqual(key, keepKey(['file:///repos/a'], undefined, '/ext-2/bin/mcphub'));
  assert.notEqual(key, keepKey(['file:///repos/b'], undefined, '/ext-1/bin/mcphub'));
});

test('the grace is bounded, and nonsense is the default', () => {
  assert.deepEqual([0, 2.5, -1, 1e9, 'x', NaN].map(graceMilliseconds), [0, 2500, 0, 300_000, 20_000, 20_000]);
});

test('only addresses of the web are opened, spelled as they came', () => {
  assert.equal(webUrl('https://x.example/a?b=%3D%2F&c=d+e'), 'https://x.example/a?b=%3D%2F&c=d+e');
  for (const evil of [
    'file:///etc/passwd',
    'command:workbench.action.quit',
    'vscode://x/y',
    'javascript:alert(1)',
    'https://',
    'nonsense',
    'https://x/ y',
  ]) {
    assert.equal(webUrl(evil), undefined, evil);
  }
});

test('a log line of a server is readable, and bounded', () => {
  assert.deepEqual(logText({ server: 's', level: 'stderr', logger: '', dataJson: '"started\\u001b[31m"' }), {
    level: 'info',
    text: '[s] started⟨U+001B⟩[31m',
  });
  assert.deepEqual(logText({ server: 's', level: 'critical', logger: 'db', dataJson: '{"a":1.0}' }), {
    level: 'error',
    text: '[s/db] {"a":1.0}',
  });
  assert.ok(
    logText({ server: 's', level: 'info', logger: '', dataJson: JSON.stringify('x'.repeat(1e6)) }).text.length < 9000,
  );
});

test('arguments begin with what the schema requires', () => {
  const definition = JSON.stringify({
    inputSchema: {
      properties: {
        path: { type: 'string' },
        n: { type: 'integer' },
        how: { enum: ['a', 'b'] },
        opt: {},
        d: { default: [1] },
      },
      required: ['path', 'n', 'how', 'd'],
    },
  });
  assert.equal(skeleton(definition), '{"path":"","n":0,"how":"a","d":[1]}');
  assert.equal(skeleton('nonsense'), '{}');
  assert.ok(takesArguments(definition));
  assert.ok(!takesArguments('{"inputSchema":{"type":"object"}}'));
});

test('arguments are an object, and what is wrong with others is said', () => {
  assert.equal(argumentsProblem('{"n": 12345678901234567890}'), undefined);
  assert.equal(argumentsProblem(' '), undefined);
  assert.match(argumentsProblem('[1]') ?? '', /object/u);
  assert.match(argumentsProblem('{') ?? '', /Not valid JSON/u);
});

test('a sampling request becomes a chat, and what a model is not given is refused', () => {
  const text = (t: string): object => ({ type: 'text', text: t });
  const request = modelRequest(
    JSON.stringify({
      systemPrompt: 'Be brief.',
      messages: [
        { role: 'user', content: text('Hi') },
        { role: 'assistant', content: [text('a'), text('b')] },
      ],
      modelPreferences: { hints: [{ name: 'gpt-5' }, {}] },
      maxTokens: 200,
    }),
  );
  assert.deepEqual(request, {
    turns: [
      { role: 'user', text: 'Be brief.' },
      { role: 'user', text: 'Hi' },
      { role: 'assistant', text: 'a\nb' },
    ],
    hints: ['gpt-5'],
    maxTokens: 200,
  });
  assert.throws(
    () => modelRequest(JSON.stringify({ messages: [{ role: 'user', content: { type: 'image', data: '' } }] })),
    /image/u,
  );
  assert.throws(() => modelRequest(JSON.stringify({ tools: [{}], messages: [{}] })), /tools/u);
  assert.throws(() => modelRequest('{"messages":[]}'), /no messages/u);
});

test('the model is the one that a hint names, else the first', () => {
  const models = [
    { id: 'a', name: 'A', family: 'x' },
    { id: 'b', name: 'GPT-5 mini', family: 'y' },
  ];
  assert.equal(chooseModel(models, ['nothing', 'gpt-5'])?.id, 'b');
  assert.equal(chooseModel(models, [])?.id, 'a');
  assert.equal(chooseModel<(typeof models)[number]>([], ['a']), undefined);
  const close = [
    { id: 'x-mini', name: 'X mini', family: 'x' },
    { id: 'x', name: 'X', family: 'big' },
  ];
  assert.equal(chooseModel(close, ['x'])?.id, 'x', 'what is chosen exactly is meant');
  assert.deepEqual(JSON.parse(modelResult('b', 'Hello', 'endTurn')), {
    role: 'assistant',
    content: { type: 'text', text: 'Hello' },
    model: 'b',
    stopReason: 'endTurn',
  });
});

test('what a model says ends where the server wants no more, and the rest is not waited for', async () => {
  const words = (text: string): Promise<number> => Promise.resolve(text.split(' ').filter((w) => w !== '').length);
  let asked = 0;
  async function* endless(): AsyncGenerator<string> {
    for (;;) {
      asked++;
      yield await Promise.resolve('parrot ');
    }
  }
  const { text, cut } = await withinTokens(endless(), 5, words);
  assert.equal(await words(text), 5);
  assert.equal(cut, true);
  assert.ok(asked < 100, `${asked} parts were read`);
  async function* brief(): AsyncGenerator<string> {
    yield await Promise.resolve('Little happened.');
  }
  assert.deepEqual(await withinTokens(brief(), 5, words), { text: 'Little happened.', cut: false });
  assert.deepEqual(await withinTokens(brief(), undefined, words), { text: 'Little happened.', cut: false });
});
