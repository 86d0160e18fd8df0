import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startEnvironment } from '../src/hub/hubplace.js';

test('the hub hears of a start from a desktop, and of no other', () => {
  const desktop = { MCPHUB_DESKTOP: '1' };
  assert.deepEqual(startEnvironment({ PATH: '/usr/bin:/bin' }, 'darwin'), desktop);
  assert.deepEqual(startEnvironment({ DISPLAY: ':0' }, 'linux'), desktop);
  assert.deepEqual(startEnvironment({ SHLVL: '1' }, 'linux'), {});
  assert.deepEqual(startEnvironment({ VSCODE_CLI: '1' }, 'darwin'), {});
  assert.deepEqual(startEnvironment({}, 'win32'), {});
});
