import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AttachResponse } from '@mcphub/host';
import { PageHello } from '../src/page/pagehello.js';

const welcome = (hubId: string): AttachResponse =>
  ({ event: { case: 'welcome', value: { hubId } } }) as unknown as AttachResponse;
const from = (hubId: string): { hubId: string; afterSequence: string } => ({ hubId, afterSequence: '7' });

test('a page is the window that the extension says, on the folders that it says', () => {
  const hello = new PageHello('vscode-sidebar', () => [{ uri: 'file:///repos/a', name: 'a' }]);
  assert.deepEqual(hello.complete({ windowId: 'its own', title: 'page', roots: [] }), {
    windowId: 'vscode-sidebar',
    title: 'page',
    roots: [{ uri: 'file:///repos/a', name: 'a' }],
  });
});

test('after a reload a page goes on where it was', () => {
  const hello = new PageHello('w', () => []);
  assert.deepEqual(hello.complete({ resume: from('kept') }).resume, from('kept'));
  hello.heard(welcome('kept'));
  assert.deepEqual(hello.complete({ resume: from('kept') }).resume, from('kept'), 'and after a broken stream');
});

test('a page that says hello again to a new hub does not name the one that has gone', () => {
  const hello = new PageHello('w', () => []);
  hello.complete({ resume: from('gone') });
  assert.equal('resume' in hello.complete({ resume: from('gone') }), false, 'before the welcome');
  hello.heard(welcome('new'));
  assert.equal('resume' in hello.complete({ resume: from('gone') }), false, 'and after it');
});
