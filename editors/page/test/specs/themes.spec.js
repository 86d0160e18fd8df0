// The page in every theme that VS Code contains, checked with screenshots: the background is that of the theme, and all
// texts have enough contrast.

import assert from 'node:assert/strict';
import { pageTest } from '../harness/pagetest.js';
import { builtInNames, coloursOf } from '../harness/themes.js';
import { busySnapshot, filesTools, prompts } from '../harness/world.js';
import { openServer } from '../harness/servers.js';

/**
 * The places of texts, and of icons with a meaning, with the theme's own colours for them. If those have less contrast
 * than required (4.5, for icons 3), the theme's own contrast is enough.
 *
 * @type {[where: string, text?: string, ground?: string, least?: number][]}
 */
const places = [
  ['h1'],
  ['#servers-title'],
  ['.call .name', 'foreground', 'editor-background'],
  ['.call .of', 'descriptionForeground', 'editor-background'],
  ['.call .time', 'descriptionForeground', 'editor-background'],
  ['#servers .row .name', 'foreground', 'list-inactiveSelectionBackground'],
  ['#servers .row .what', 'descriptionForeground'],
  ['.problem'],
  ['#opened .row .name'],
  ['#opened .row .what', 'descriptionForeground'],
  ['#opened .facts dt', 'descriptionForeground'],
  ['#opened .tabs button', 'descriptionForeground'],
  ['.ended .one-line'],
  ['.ended .second', 'descriptionForeground'],
  ['.card h3', 'foreground', 'editor-background'],
  ['.card .danger-words', 'foreground', 'editor-background'],
  ['.card pre', 'foreground', 'textCodeBlock-background'],
  ['.card button.primary', 'button-foreground', 'button-background'],
  ['.card [data-testid=decline]', 'button-secondaryForeground', 'button-secondaryBackground'],
  ['.card button.icon', 'icon-foreground', 'editor-background', 3],
];

/**
 * Returns the background colour of the screenshot, and the contrast of each place: between its most frequent colour and
 * the colour that differs most from it.
 *
 * @param {import('../harness/pagetest.js').Page} page
 */
async function look(page) {
  const picture = (await page.screenshot({ scale: 'device' })).toString('base64');
  return page.evaluate(
    async ({ source, wheres }) => {
      const image = new Image();
      image.src = `data:image/png;base64,${source}`;
      await image.decode();
      const canvas = document.createElement('canvas');
      [canvas.width, canvas.height] = [image.width, image.height];
      const context = canvas.getContext('2d', { willReadFrequently: true });
      if (!context) throw new Error('no canvas');
      context.drawImage(image, 0, 0);
      /** @param {number} x @param {number} y @param {number} width @param {number} height */
      const coloursOf = (x, y, width, height) => {
        const { data } = context.getImageData(x, y, width, height);
        /** @type {Map<number, number>} */
        const counts = new Map();
        for (let i = 0; i < data.length; i += 4) {
          const colour = ((data[i] ?? 0) << 16) | ((data[i + 1] ?? 0) << 8) | (data[i + 2] ?? 0);
          counts.set(colour, (counts.get(colour) ?? 0) + 1);
        }
        return [...counts].sort(([, a], [, b]) => b - a).map(([colour]) => colour);
      };
      /** WCAG 2.2, "relative luminance". @param {number} colour */
      const luminance = (colour) => {
        const [r = 0, g = 0, b = 0] = [colour >> 16, (colour >> 8) & 255, colour & 255].map((part) => {
          const c = part / 255;
          return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      /** @param {number} one @param {number} other */
      const contrast = (one, other) => {
        const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
        return (high + 0.05) / (low + 0.05);
      };
      const ratio = devicePixelRatio;
      const style = getComputedStyle(document.documentElement);
      /** A colour of the theme as the browser paints it, on another one. @param {string} name @param {string} [over] */
      const painted = (name, over) => {
        if (over) painted(over);
        context.fillStyle = style.getPropertyValue(`--vscode-${name}`);
        context.fillRect(0, 0, 1, 1);
        return coloursOf(0, 0, 1, 1)[0] ?? 0;
      };
      const found = wheres.map(([where, text = 'foreground', ground = 'sideBar-background', least = 4.5]) => {
        const element = [...document.querySelectorAll(where)].find((one) => {
          const { top, bottom, width } = one.getBoundingClientRect();
          return width > 0 && top >= 0 && bottom <= innerHeight;
        });
        if (!element) return { where, contrast: NaN, least };
        const { x, y, width, height } = element.getBoundingClientRect();
        const [most = 0, ...others] = coloursOf(
          Math.ceil((x + 1) * ratio),
          Math.ceil((y + 1) * ratio),
          Math.max(1, Math.floor((width - 2) * ratio)),
          Math.max(1, Math.floor((height - 2) * ratio)),
        );
        return { where, contrast: Math.max(1, ...others.map((other) => contrast(most, other))), text, ground, least };
      });
      const [ground = 0] = coloursOf(0, 0, canvas.width, canvas.height);
      const judged = found.map(({ where, contrast: seen, text = '', ground: on = '', least }) => {
        const below = on === 'sideBar-background' ? undefined : 'sideBar-background';
        const own = text === '' ? least : contrast(painted(on, below), painted(text, on));
        return { where, seen, least: Math.min(least, own) };
      });
      return { ground: ground.toString(16), wanted: painted('sideBar-background').toString(16), judged };
    },
    { source: picture, wheres: places },
  );
}

pageTest(
  'in every theme of VS Code the ground is the theme’s, and all that is written can be read',
  {
    snapshot: { ...busySnapshot(), prompts: [prompts.approval] },
    tools: { files: filesTools },
    viewport: { width: 900, height: 2_600 },
    deviceScaleFactor: 2,
  },
  async (opened) => {
    const { by, page, pass, retheme } = opened;
    await by('history').getByText('index_folder').first().click();
    await openServer(opened);
    await by('server-details').locator('summary').click();
    await pass(1_000);
    assert.equal(builtInNames.length, 19);
    /** @type {string[]} */
    const wrong = [];
    for (const theme of builtInNames) {
      await retheme(theme);
      const { ground, wanted, judged } = await look(page);
      if (ground !== wanted) wrong.push(`${theme}: the ground is ${ground}, and not ${wanted}`);
      for (const { where, seen, least } of judged) {
        // Thin strokes are painted with less contrast than their colour has.
        if (!(seen >= least * 0.9))
          wrong.push(`${theme}: ${where} has ${seen.toFixed(2)}, and not ${least.toFixed(2)}`);
      }
    }
    assert.deepEqual(wrong, []);
    assert.notEqual(coloursOf('Red')['sideBar-background'], coloursOf('Abyss')['sideBar-background']);
  },
);
