// Quick picks of requests: what was requested, and by whom.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { RequestDirection, RequestSchema } from '@mcphub/host/contract';
import type { Request } from '@mcphub/host/contract';
import type { CommandWorld } from '../src/commands/commandworld.js';
import { pickRequest, requestItem } from '../src/commands/picks.js';
import { newEditor } from './fakevscode.js';

const request = (fields: MessageInitShape<typeof RequestSchema>): Request =>
  create(RequestSchema, { requestId: 'r', server: 'files', method: 'tools/call', tool: 'delete', ...fields });

test('of a request that may be cancelled one sees its arguments and who asked for it', async () => {
  const editor = newEditor();
  const running = [
    request({ argumentsPreview: '{"path":"/a"}', caller: 'Some Agent', progress: { message: 'half' } }),
    request({ requestId: 'titled', title: 'Delete a File', argumentsPreview: '{"path":"/b"}' }),
    request({ requestId: 'question', direction: RequestDirection.INCOMING }),
  ];
  const standing = { requests: new Map(running.map((r) => [r.requestId, r])) };
  const chosen = await pickRequest({ watcher: { standing } } as unknown as CommandWorld, 'Cancel');
  assert.equal(chosen?.requestId, 'r');
  assert.deepEqual(
    editor.offered.map((item) => ({ ...(item as object), request: undefined })),
    [
      {
        label: 'delete',
        description: 'files · by Some Agent',
        detail: '{"path":"/a"} · half',
        request: undefined,
      },
      { label: 'Delete a File', description: 'delete · files', detail: '{"path":"/b"}', request: undefined },
    ],
  );
});

test('a long name of a tool does not hide who called it', () => {
  newEditor();
  const { description } = requestItem(request({ title: 'T', tool: 'x'.repeat(5000), caller: '$(alert) Agent\n' }));
  assert.ok(description.length < 300, `${description.length} characters`);
  assert.match(description, / · files · by \\\$\(alert\) Agent\s*$/u);
});
