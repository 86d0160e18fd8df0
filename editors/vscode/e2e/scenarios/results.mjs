import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { scenario } from '../stage.mjs';
import { until } from '../until.mjs';

/** @typedef {import('../hubpage.mjs').HubPage} HubPage */

const media = resolve(import.meta.dirname, '../mediaserver.mjs');

scenario('a result opens in the editor, is compared with the one before it, and is saved', async (act) => {
  const workspace = act.workspace();
  const window = await act.open(workspace);
  const page = await window.openSideBar();
  for (const text of ['the first text', 'the second text']) {
    const tab = await page.call('demo', 'echo', { text });
    await page.accept(page.card('echo'));
    await tab.frame.getByTestId('result').getByText(text).waitFor();
  }
  /** @param {HubPage} tab @param {string} item of the menu of the result */
  const choose = async ({ frame }, item) => {
    await frame.getByTestId('ended-more').click();
    await frame.getByRole('menuitem', { name: item }).click();
  };

  await choose(await window.openTool('demo', 'echo'), 'Open result in editor');
  const editor = window.page.locator('.editor-instance .view-lines').first();
  await editor.getByText('the second text').first().waitFor();
  await window.page.locator('.tabs-container .tab').filter({ hasText: 'demo-echo-result' }).first().waitFor();

  await choose(await window.openTool('demo', 'echo'), 'Compare with previous');
  const sides = window.page.locator('.monaco-diff-editor');
  await sides.locator('.editor.original').getByText('the first text').first().waitFor();
  await sides.locator('.editor.modified').getByText('the second text').first().waitFor();

  const saved = join(workspace.folder, 'saved.json');
  await page.ended('echo', /done/i).click(); // the newest comes first
  const ended = await until('what has ended is in a tab', async () => {
    const tab = await window.tab();
    return (await tab.frame.getByTestId('arguments').getByText('the second text').isVisible()) ? tab : undefined;
  });
  await choose(ended, 'Save result as…');
  await window.saveAs(saved);
  await until('the file is there', () => readFileSync(saved, 'utf8').includes('the second text'));
});

scenario('a picture and a sound of a result are shown, its files saved as they are, its link read', async (act) => {
  const workspace = act.workspace();
  workspace.brings({ media: { type: 'stdio', command: process.execPath, args: [media], alwaysAllow: ['*'] } });
  const window = await act.open(workspace);
  const page = await window.openSideBar();
  await page.server('media').waitFor();
  const listing = page.openTools('media');
  const launch = page.card(media);
  await launch.waitFor();
  await page.accept(launch);
  await listing;
  const { frame } = await page.call('media', 'show');
  const result = frame.getByTestId('result');

  const picture = result.getByTestId('picture').first().locator('img');
  await until('the picture is drawn', async () => {
    const size = await picture.evaluate((/** @type {HTMLImageElement} */ image) => image.naturalWidth);
    return size === 60;
  });
  const sound = result.getByTestId('sound').locator('audio');
  await until('the sound can be played', async () => {
    const seconds = await sound.evaluate((/** @type {HTMLAudioElement} */ player) => player.duration);
    return Math.abs(seconds - 2) < 0.1;
  });

  const notes = join(workspace.folder, 'notes.txt');
  await result.getByRole('link', { name: 'Save content as: memo://notes.txt' }).click();
  await window.saveAs(notes);
  await until(
    'the text is saved',
    () => readFileSync(notes, 'utf8') === 'first line\n"quoted" \u{1f600} \\ last line\n',
  );
  const dot = join(workspace.folder, 'dot.png');
  await result.getByRole('link', { name: 'Save content as: memo://dot.png' }).click();
  await window.saveAs(dot);
  await until('the picture is saved', () => readFileSync(dot).subarray(1, 4).toString('latin1') === 'PNG');
  assert.equal(readFileSync(dot).readUInt32BE(16), 3, 'its width');

  const link = result.getByTestId('resource-link');
  await link.getByRole('button', { name: 'Read the resource memo://notes.txt' }).click();
  await link.getByText('last line').waitFor();
});
