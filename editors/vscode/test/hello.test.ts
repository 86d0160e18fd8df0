import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hello } from '../src/hub/hello.js';
import { Frames } from '../src/page/frames.js';

test('servers are told that views are shown, unless they are turned off', async () => {
  const said = '{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}';
  assert.equal(hello(true).extensionsJson, said);
  assert.equal(hello(false).extensionsJson, '');
  const frames = new Frames('/no/such/file', { hub: { warn: () => undefined } } as never, false);
  assert.deepEqual(await frames.addresses(), []);
  frames.dispose();
});
