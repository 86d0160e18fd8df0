// The figures inside the extension host of a real VS Code, driven as VS Code's own integration tests are: the extension
// and its "tests" come with the address.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launchBrowser } from '../vscode/e2e/browser.mjs';
import { installedEditor } from '../vscode/e2e/editor.mjs';
import { freePort } from '../vscode/e2e/server.mjs';
import { until } from '../vscode/e2e/until.mjs';

const here = import.meta.dirname;
const timeoutMs = 240_000;
const editor = installedEditor(process.argv[2] ?? 'newest');
const home = mkdtempSync(join(tmpdir(), 'mcphub-figures-'));
mkdirSync(join(home, 'user', 'User'), { recursive: true });
// What would take the host's time beside the figures.
const quiet = {
  'telemetry.telemetryLevel': 'off',
  'workbench.startupEditor': 'none',
  'chat.disableAIFeatures': true,
  'git.enabled': false,
  'extensions.autoUpdate': false,
};
writeFileSync(join(home, 'user', 'User', 'settings.json'), JSON.stringify(quiet));

const port = await freePort();
const server = spawn(
  editor.node,
  [
    editor.entry,
    '--user-data-dir',
    join(home, 'user'),
    '--extensions-dir',
    join(home, 'extensions'),
    '--server-data-dir',
    join(home, 'data'),
    '--host',
    '127.0.0.1',
    '--port',
    String(port),
    '--without-connection-token',
    '--accept-server-license-terms',
    '--telemetry-level',
    'off',
    '--disable-workspace-trust',
    '--enable-smoke-test-driver', // without it a built server ignores the payload
  ],
  { env: { ...process.env, HOME: home, EXTENSIONS_GALLERY: '{}' }, detached: true, stdio: 'ignore' },
);
const end = () => {
  if (server.pid !== undefined)
    try {
      process.kill(-server.pid, 'SIGKILL');
    } catch {
      /* it is gone */
    }
};
process.on('exit', end);
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) process.once(signal, () => process.exit(1));

const browser = await launchBrowser();
try {
  await until('the VS Code server answers', async () => (await fetch(`http://127.0.0.1:${port}`)).ok);
  const page = await browser.newPage();
  /** @type {(code: number) => void} */
  let ended = () => {};
  /** @type {Promise<number>} */
  const over = new Promise((resolve) => {
    ended = resolve;
  });
  /** @type {unknown[]} */
  const said = [];
  await page.exposeFunction('codeAutomationExit', (/** @type {number} */ code) => ended(code));
  await page.exposeFunction('codeAutomationLog', (/** @type {string} */ _, /** @type {unknown[]} */ args) => {
    for (const arg of args) {
      const figure = /figure: (.*)/.exec(String(arg))?.[1];
      if (figure === undefined) said.push(arg);
      else console.log(figure);
    }
  });
  const remote = (/** @type {string} */ path) => `vscode-remote://127.0.0.1:${port}${path}`;
  const payload = [
    ['extensionDevelopmentPath', remote(here)],
    ['extensionTestsPath', remote(join(here, 'build', 'inhost.cjs'))],
  ];
  await page.goto(
    `http://127.0.0.1:${port}/?folder=${encodeURIComponent(here)}&payload=${encodeURIComponent(JSON.stringify(payload))}`,
  );
  const timer = setTimeout(() => ended(-1), timeoutMs);
  const code = await over;
  clearTimeout(timer);
  if (code !== 0) {
    console.error(
      code === -1 ? `no figures within ${timeoutMs / 1000} s` : `the extension host ended with ${code}`,
      ...said.slice(-20),
    );
    process.exitCode = 1;
  }
} finally {
  await browser.close();
  const gone = server.exitCode === null ? once(server, 'exit') : undefined;
  end();
  await gone;
  rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}
