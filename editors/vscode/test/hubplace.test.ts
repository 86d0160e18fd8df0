import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { graceMilliseconds, graceSeconds, proxyOf, startEnvironment } from '../src/hub/hubplace.js';

test('the hub hears of a start from a desktop, and of no other', () => {
  const desktop = { MCPHUB_DESKTOP: '1' };
  assert.deepEqual(startEnvironment({ PATH: '/usr/bin:/bin' }, 'darwin'), desktop);
  assert.deepEqual(startEnvironment({ DISPLAY: ':0' }, 'linux'), desktop);
  assert.deepEqual(startEnvironment({ SHLVL: '1' }, 'linux'), {});
  assert.deepEqual(startEnvironment({ VSCODE_CLI: '1' }, 'darwin'), {});
  assert.deepEqual(startEnvironment({}, 'win32'), {});
});

test('a window is waited for as long as the user says; else longer for one whose extensions are on another machine', () => {
  const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
    contributes: { configuration: { properties: Record<string, { default: unknown }> } };
  };
  const defaultValue = manifest.contributes.configuration.properties['mcphub.reloadGraceSeconds']?.default;
  const rows: [setting: Parameters<typeof graceSeconds>[0], remote: boolean, milliseconds: number][] = [
    [{ defaultValue }, false, 20_000],
    [{ defaultValue }, true, 120_000],
    [{ defaultValue, globalValue: 45 }, false, 45_000],
    [{ defaultValue, globalValue: 45 }, true, 45_000],
    [{ defaultValue, globalValue: 0 }, true, 0],
    [{ defaultValue, globalValue: 'long' }, false, 20_000],
    [undefined, false, 20_000],
    [undefined, true, 120_000],
  ];
  for (const [setting, remote, milliseconds] of rows) {
    const told = `${JSON.stringify(setting)} ${remote ? 'on another machine' : 'here'}`;
    assert.equal(graceMilliseconds(graceSeconds(setting, remote)), milliseconds, told);
  }
});

test("the editor's proxy is that of the hub, unless the editor names none or is told to use none", () => {
  const of = (http: Readonly<Record<string, unknown>>) => proxyOf((name) => http[name]);
  const url = 'http://proxy.example.com:8080';
  assert.deepEqual(of({ proxy: ` ${url} `, noProxy: ['localhost', 7], proxySupport: 'override' }), {
    url,
    except: ['localhost'],
  });
  assert.deepEqual(of({ proxy: url }), { url, except: [] });
  for (const none of [{}, { proxy: '' }, { proxy: 7 }, { proxy: url, proxySupport: 'off' }]) {
    assert.equal(of(none), undefined, JSON.stringify(none));
  }
});
