import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { toJson } from '@bufbuild/protobuf';
import { AttachRequestSchema, RegistryService } from '../dist/contract.js';
import type { AttachResponseJson, RelayOptions } from '../dist/contract.js';
import { PageRelay } from '../dist/relay.js';
import { registry } from '../dist/windowcalls.js';
import { FakeSource, call, settle } from './fakestream.js';

const { searchRegistry, getRegistryServer, readBundle } = RegistryService.method;

/** Attaches a page to a fake hub. It returns what the hub gets, and the replies that the page gets without the hub. */
async function scene(t: TestContext, options: RelayOptions) {
  const source = new FakeSource();
  const posted: AttachResponseJson[] = [];
  let say: (m: unknown) => void = () => {};
  const page = {
    post: (m: AttachResponseJson) => void posted.push(m),
    onMessage: (listener: (m: unknown) => void) => {
      say = listener;
      return () => {};
    },
  };
  const relay = new PageRelay(source, page, { configWrites: true, ...options });
  t.after(() => relay.dispose());
  say({ hello: {} });
  source.stream(0).welcome();
  await settle();
  posted.splice(0);
  return {
    say: async (m: unknown) => {
      say(m);
      await settle();
    },
    heard: () =>
      source
        .stream(0)
        .sent.splice(0)
        .map((m) => toJson(AttachRequestSchema, m, { registry })),
    told: () =>
      posted
        .splice(0)
        .map(({ reply }) => `${reply?.messageId} ${reply?.error?.code ?? 'done'} ${reply?.error?.reason ?? ''}`),
  };
}

test('the registry is the one that the host says, whatever the page names', async (t) => {
  const { say, heard, told } = await scene(t, { registry: () => 'https://registry.example' });
  await say({ messageId: '1', call: call(searchRegistry, { registryUrl: 'http://127.0.0.1', query: 'q' }) });
  await say({ messageId: '2', call: call(getRegistryServer, { registryUrl: 'http://127.0.0.1', name: 'a/b' }) });
  assert.deepEqual(heard(), [
    { messageId: '1', call: call(searchRegistry, { registryUrl: 'https://registry.example', query: 'q' }) },
    { messageId: '2', call: call(getRegistryServer, { registryUrl: 'https://registry.example', name: 'a/b' }) },
  ]);
  assert.deepEqual(told(), []);
});

test('a host without a registry has the hub say so', async (t) => {
  const { say, heard } = await scene(t, {});
  await say({ messageId: '1', call: call(searchRegistry, { registryUrl: 'http://127.0.0.1' }) });
  assert.deepEqual(heard(), [{ messageId: '1', call: call(searchRegistry) }]);
});

test('a file is read only when a person has chosen it', async (t) => {
  let chosen: string | undefined = '/tmp/a.mcpb';
  const { say, heard, told } = await scene(t, { chooseBundle: () => Promise.resolve(chosen) });
  await say({ messageId: '1', call: call(readBundle, { path: '/etc/passwd' }) });
  assert.deepEqual(heard(), []);
  assert.deepEqual(told(), ['1 PERMISSION_DENIED BUNDLE_NOT_CHOSEN']);
  await say({ messageId: '1', call: call(readBundle) });
  assert.deepEqual(told(), ['1 PERMISSION_DENIED BUNDLE_NOT_CHOSEN'], 'it names no proposal');
  await say({ messageId: '2', chooseBundle: {} });
  await say({ messageId: '3', call: call(readBundle, { proposalId: 'p' }) });
  assert.deepEqual(heard(), [
    { messageId: '2', call: call(readBundle, { path: '/tmp/a.mcpb' }) },
    { messageId: '3', call: call(readBundle, { proposalId: 'p' }) },
  ]);
  chosen = undefined;
  await say({ messageId: '4', chooseBundle: {} });
  assert.deepEqual(heard(), []);
  assert.deepEqual(told(), ['4 CANCELLED BUNDLE_NOT_CHOSEN']);
});

test('a host without a dialog, and one whose dialog fails, are told to the page', async (t) => {
  const without = await scene(t, {});
  await without.say({ messageId: '1', chooseBundle: {} });
  assert.deepEqual(without.told(), ['1 UNIMPLEMENTED BUNDLE_NOT_CHOSEN']);
  const failing = await scene(t, { registry: () => Promise.reject(new Error('no')) });
  await failing.say({ messageId: '1', call: call(searchRegistry) });
  assert.match(failing.told()[0] ?? '', /^1 /);
  assert.deepEqual(failing.heard(), []);
});

test('what waits for the host is given up there, and what waits for the hub is given up at the hub', async (t) => {
  let choose: (address: string) => void = () => {};
  const { say, heard, told } = await scene(t, { registry: () => new Promise((done) => (choose = done)) });
  await say({ messageId: '1', call: call(searchRegistry) });
  await say({ messageId: '2', giveUp: { messageId: '1' } });
  assert.deepEqual(told(), ['2 done ']);
  choose('https://registry.example');
  await settle();
  assert.deepEqual(heard(), []);
  assert.deepEqual(told(), ['1 CANCELLED CANCELLED']);
  await say({ messageId: '3', call: call(searchRegistry) });
  choose('https://registry.example');
  await settle();
  await say({ messageId: '4', giveUp: { messageId: '3' } });
  assert.deepEqual(
    heard().map((m) => Object.keys(m as object).join()),
    ['messageId,call', 'messageId,giveUp'],
  );
});

test('a page cannot have the host wait for ever more', async (t) => {
  const { say, told } = await scene(t, { chooseBundle: () => new Promise(() => {}) });
  for (let i = 0; i < 17; i++) {
    await say({ messageId: `m${i}`, chooseBundle: {} });
  }
  await say({ messageId: 'm0', chooseBundle: {} });
  assert.deepEqual(told(), ['m16 RESOURCE_EXHAUSTED ', 'm0 RESOURCE_EXHAUSTED ']);
});
