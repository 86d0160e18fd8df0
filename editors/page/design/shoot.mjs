// Draws each scene at three widths in three themes, as one sheet:
// node --import ./test/harness/typescript.js design/shoot.mjs FOLDER [SCENE...]
import { mkdir, readFile, readdir } from 'node:fs/promises';
import { chromium } from 'playwright-core';
import { bodyClassOf, themes } from '../test/harness/themes.js';
import { scenes } from './scenes.mjs';

const [folder, ...only] = process.argv.slice(2);
await mkdir(folder, { recursive: true });
const here = new URL('./styles/', import.meta.url);
const css = (
  await Promise.all(
    (await readdir(here)).sort((a, b) => order(a) - order(b)).map((f) => readFile(new URL(f, here), 'utf8')),
  )
).join('\n');
function order(file) {
  return ['base.css', 'layout.css', 'buttons.css', 'rows.css', 'cards.css', 'opened.css'].indexOf(file);
}
const widths = [300, 420, 900];
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium-headless-shell',
  args: ['--no-sandbox', '--disable-gpu'],
});
for (const [name, scene] of Object.entries(scenes)) {
  if (only.length && !only.includes(name)) continue;
  const height = 560;
  const frames = ['dark', 'light', 'high-contrast'].flatMap((theme) =>
    widths.map((width) => {
      const vars = Object.entries(themes[theme])
        .map(([k, v]) => `--vscode-${k}:${v}`)
        .join(';');
      const main = width < 720 && scene.narrow ? scene.narrow : scene.main;
      const doc = `<!doctype html><html><style>:root{${vars}} html{background:var(--vscode-sideBar-background,#000);color-scheme:${theme === 'light' ? 'light' : 'dark'}}${css}</style><body class="${bodyClassOf[theme]}"><main class="${scene.has ? 'has-opened' : ''} ${scene.alone ? 'alone' : ''}">${main}</main></body></html>`;
      return `<iframe width="${width}" height="${height}" srcdoc="${doc.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}"></iframe>`;
    }),
  );
  const page = await browser.newPage({ viewport: { width: 300 + 420 + 900 + 4 * 16, height: 3 * (height + 16) + 16 } });
  await page.setContent(
    `<style>body{margin:16px;background:#777;display:grid;grid-template-columns:300px 420px 900px;gap:16px}iframe{border:0}</style>${frames.join('')}`,
  );
  await page.waitForLoadState('networkidle');
  await page.screenshot({ path: `${folder}/${name}.png` });
  await page.close();
  console.log(name);
}
await browser.close();
