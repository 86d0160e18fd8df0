// The page as the binary serves it, with a real hub and real servers. MCPHUB_BINARY names the binary.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** @typedef {import('playwright-core').Page} Page */

export const binary = process.env['MCPHUB_BINARY'] ?? '';

/**
 * Starts the binary in a folder of its own, and returns the link that it prints, which can be used once.
 *
 * @param {(folder: string) => Promise<string[]> | string[]} prepare returns its arguments
 */
export async function startBinary(prepare) {
  assert.notEqual(binary, '', 'MCPHUB_BINARY names the binary to test');
  const folder = await mkdtemp(join(tmpdir(), 'mcphub-page-'));
  const env = { ...process.env, HOME: folder, TMPDIR: folder, XDG_CONFIG_HOME: folder };
  const running = spawn(binary, await prepare(folder), { stdio: ['ignore', 'pipe', 'pipe'], env });
  const ended = once(running, 'exit');
  let said = '';
  running.stderr.on('data', (/** @type {Buffer} */ text) => (said += text.toString()));
  const end = async () => {
    running.kill('SIGINT');
    await ended;
    await rm(folder, { recursive: true, force: true });
    return running.exitCode;
  };
  for await (const line of createInterface(running.stdout)) {
    const link = /http:\/\/127\.0\.0\.1:\d+\/\?token=\w+/.exec(line)?.[0];
    if (link) return { link, end };
  }
  await end();
  throw new Error(`it printed no link: ${said}`);
}

/** @param {Page} page @param {string} id */
export const by = (page, id) => page.locator(`[data-testid=${JSON.stringify(id)}]`);

/** Opens a tool of a server, and starts the server if it does not run. @param {Page} page @param {string} server @param {string} name */
export async function openTool(page, server, name) {
  const back = page.locator('#opened .back');
  while (await back.isVisible()) await back.click();
  const row = by(page, `server-${server}`);
  await row.getByRole('button').first().click();
  const opened = page.locator('#opened');
  const tool = opened.locator(`[data-testid="tool-${name}"]`);
  const start = opened.getByTestId('start-server');
  await tool.or(start).first().waitFor();
  if (await start.isVisible()) await start.click();
  await tool.getByRole('button').first().click();
  return tool;
}
