import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HubError } from '@mcphub/host/contract';
import { callTool } from '../src/commands/calltool.js';
import type { CommandWorld } from '../src/commands/commandworld.js';
import { newEditor } from './fakevscode.js';

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('a cancel that fails is told, and the call goes on', async () => {
  const editor = newEditor();
  let fail: (error: Error) => void = () => assert.fail('nothing was called');
  const world = {
    watcher: { listen: () => () => undefined },
    cancel: () => Promise.reject(new HubError('failed_precondition', 'UNCANCELLABLE', 'this one cannot be cancelled')),
    process: {
      hub: {
        servers: {
          listServers: () => Promise.resolve({ servers: [{ name: 's', state: 0, lastError: '' }] }),
          listTools: () =>
            Promise.resolve({ tools: [{ name: 't', title: '', description: '', definitionJson: '{}' }] }),
        },
        requests: {
          callTool: () =>
            new Promise((_, reject) => {
              fail = reject;
            }),
        },
      },
    },
  } as unknown as CommandWorld;
  const over = callTool(world);
  while (![...editor.notifications].some((title) => title.includes('“t”'))) {
    await settle();
  }
  editor.stopPressed.fire();
  await settle();
  assert.match(editor.messages.join(), /Unable to cancel.*this one cannot be cancelled/u);
  assert.equal(editor.notifications.size, 1);
  fail(new HubError('unavailable', 'HUB_DIED', 'the hub has died'));
  await over;
  assert.match(editor.messages.at(-1) ?? '', /the hub has died/u);
});
