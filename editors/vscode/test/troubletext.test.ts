import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failure } from '../src/hub/troubletext.js';

test('a program that the setting names and that is not there: the setting is named, and opened by a button', () => {
  const { text, actions } = failure('BINARY_NOT_FOUND', '/repos/mcphub was not found', '/repos/mcphub');
  assert.match(text, /mcphub\.binaryPath names \/repos\/mcphub, which does not exist/);
  assert.equal(actions[0], 'Open Settings');
  assert.ok(actions.includes('Restart McpHub'));
});

test('a program that may not be executed', () => {
  assert.match(failure('BINARY_NOT_STARTED', 'EACCES', '/repos/mcphub').text, /mcphub\.binaryPath.*must be executable/);
});

test('the program of the extension is missing, or is one of another platform', () => {
  assert.match(failure('BINARY_NOT_FOUND', '', '').text, /is missing\. Reinstall the extension/);
  assert.match(failure('BINARY_NOT_STARTED', '', '').text, /cannot run on this machine/);
  assert.ok(!failure('BINARY_NOT_FOUND', '', '').actions.includes('Restart McpHub'), 'it would fail again');
});

test('any other failure is told as the host tells it', () => {
  assert.deepEqual(failure('HUB_DIED', 'The hub ended.', '/repos/mcphub'), {
    text: 'McpHub is not running. The hub ended.',
    actions: ['Restart McpHub', 'Show Logs'],
  });
});
