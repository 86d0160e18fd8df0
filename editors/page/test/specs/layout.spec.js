// Narrow and zoomed pages, reduced motion, and cards that move under the pointer.

import assert from 'node:assert/strict';
import { mainTest, pageTest, unfoldAll } from '../harness/pagetest.js';
import { themeNames } from '../harness/themes.js';
import { openServer, openTool } from '../harness/servers.js';
import {
  at,
  busySnapshot,
  filesTools,
  finished,
  prompts,
  promptNames,
  request,
  server,
  tool,
} from '../harness/world.js';

const everything = () => ({ ...busySnapshot(), prompts: promptNames.map((name) => prompts[name]) });

/** The elements that extend beyond the right edge of the page. @param {import('../harness/pagetest.js').Page} page */
const overflow = (page) =>
  page.evaluate(() => {
    const root = document.scrollingElement ?? document.documentElement;
    const out = [...document.querySelectorAll('body *')].filter((element) => {
      const box = element.getBoundingClientRect();
      if (box.width === 0 || box.right <= innerWidth + 1) return false;
      for (let above = element.parentElement; above; above = above.parentElement) {
        if (
          above !== document.body
          && above !== document.documentElement
          && getComputedStyle(above).overflowX !== 'visible'
        )
          return false;
      }
      return true;
    });
    return {
      wide: root.scrollWidth > innerWidth,
      out: out
        .slice(0, 5)
        .map((element) => `${element.tagName}.${element.className} ${element.textContent.slice(0, 40)}`),
    };
  });

for (const [name, setup] of /** @type {const} */ ([
  ['215 px wide', { viewport: { width: 215, height: 900 } }],
  ['300 px wide', { viewport: { width: 300, height: 900 } }],
  ['640 px at 200 % zoom', { viewport: { width: 320, height: 450 }, deviceScaleFactor: 2 }],
  ['300 px wide in German', { viewport: { width: 300, height: 900 }, surface: { language: 'de' } }],
])) {
  pageTest(
    `${name}: nothing scrolls sideways, with everything open`,
    { ...setup, snapshot: everything(), tools: { files: filesTools } },
    async (opened) => {
      const { by, page, settle } = opened;
      await by('prompt-p-input').waitFor();
      await unfoldAll(page);
      await settle();
      assert.deepEqual(await overflow(page), { wide: false, out: [] });
      await openServer(opened);
      await by('server-details').locator('summary').click();
      assert.deepEqual(await overflow(page), { wide: false, out: [] }, 'a server');
      await openTool(opened, 'index_folder');
      assert.deepEqual(await overflow(page), { wide: false, out: [] }, 'a tool');
    },
  );
}

for (const language of ['en', 'de']) {
  pageTest(
    `215 px wide, ${language}: a name is no narrower than what stands beside it`,
    {
      viewport: { width: 215, height: 900 },
      surface: { language },
      snapshot: {
        servers: [server('continuous-integration', { state: 'SERVER_STATE_CONNECTING' })],
        requests: [
          request('r-1', { server: 'continuous-integration', tool: 'create_pull_request', startTime: at(-4000) }),
          request('r-2', { server: 'continuous-integration', tool: 'create_pull_request', parentRequestId: 'r-1' }),
        ],
        history: [finished('r-0', { server: 'continuous-integration', tool: 'create_pull_request' })],
      },
    },
    async ({ by, settle }) => {
      await settle();
      for (const row of ['server-continuous-integration', 'request-r-1', 'request-r-2']) {
        const line = by(row).locator('.open, .card-head, .first, .line').first();
        const box = await line.locator('.name').boundingBox();
        for (const beside of await line.locator('.state, .time, .of, .what').all()) {
          const other = await beside.boundingBox();
          if (!box || !other || other.y >= box.y + box.height) continue; // below it, or not visible
          assert.ok(box.width >= other.width, `${row}: ${box.width} px beside ${other.width} px`);
        }
      }
    },
  );
}

pageTest(
  'every target is at least 24 px high and wide',
  { snapshot: everything(), tools: { files: filesTools }, viewport: { width: 320, height: 1200 } },
  async ({ by, page, settle }) => {
    await by('prompt-p-input').waitFor();
    await unfoldAll(page);
    await settle();
    const small = await page.evaluate(() =>
      [
        ...document.querySelectorAll(
          'button, summary, select, input, textarea, [role="button"], [role="option"][tabindex]',
        ),
      ].flatMap((element) => {
        const target =
          element instanceof HTMLInputElement && /^(checkbox|radio)$/.test(element.type)
            ? (element.labels?.[0] ?? element)
            : element;
        const box = target.getBoundingClientRect();
        if (box.width === 0 || getComputedStyle(element).visibility === 'hidden') return [];
        return box.height < 23.5 || box.width < 23.5
          ? [
              `${element.tagName} "${element.textContent.trim().slice(0, 30)}" ${element.getAttribute('aria-label') ?? ''} ${box.width.toFixed(0)}×${box.height.toFixed(0)}`,
            ]
          : [];
      }),
    );
    assert.deepEqual(small, []);
  },
);

pageTest(
  'reduced motion: nothing moves',
  { snapshot: everything(), reducedMotion: true },
  async ({ by, hub, page, settle }) => {
    await by('prompt-p-input').waitFor();
    await hub.say({
      promptClosed: { promptId: 'p-form', cause: 'PROMPT_CAUSE_WITHDRAWN', reason: 'x', origin: 'ORIGIN_SERVER' },
    });
    await settle();
    const moving = await page.evaluate(() =>
      document
        .getAnimations()
        .filter(
          (animation) =>
            animation.playState === 'running' && Number(animation.effect?.getComputedTiming().duration ?? 0) > 1,
        )
        .map((animation) => {
          const target = animation.effect instanceof KeyframeEffect ? animation.effect.target : undefined;
          return `${target?.tagName}.${target?.className}`;
        }),
    );
    assert.deepEqual(moving, []);
  },
);

pageTest(
  'forced colours: borders are there, and nothing is told by colour alone',
  { snapshot: everything(), forcedColors: true },
  async ({ by }) => {
    const border = await by('prompt-p-approval').evaluate((element) => {
      const style = getComputedStyle(element);
      return Number.parseFloat(style.borderTopWidth) + Number.parseFloat(style.outlineWidth || '0');
    });
    assert.ok(border > 0, 'a card has an edge');
    assert.match(await by('server-booking').innerText(), /Failed|Stopped/);
    assert.match(await by('server-old').innerText(), /Off/);
  },
);

pageTest(
  'a card that opens or moves under the pointer takes no yes for half a second',
  { snapshot: { servers: [server('files')], prompts: [{ ...prompts.url, promptId: 'p-first' }] } },
  async ({ by, hub, page, pass, settle }) => {
    await by('prompt-p-first').waitFor();
    await page.clock.pauseAt(new Date('2026-10-05T12:01:00Z'));
    await hub.say({ promptOpened: { prompt: prompts.approval } });
    await page.clock.runFor(50);
    const accept = by('prompt-p-approval').locator('[data-testid="accept"]');
    await accept.waitFor();
    await accept.click({ force: true });
    await settlePaused();
    assert.deepEqual(hub.all('answerPrompt'), [], 'a click that was meant for something else');
    await wait();
    // A card above goes, and this one moves up: a click in the same place may be meant for the card that was there.
    const top = () => accept.evaluate((button) => button.getBoundingClientRect().top + scrollY);
    const before = await top();
    await hub.say({ promptClosed: { promptId: 'p-first', cause: 'PROMPT_CAUSE_WITHDRAWN' } });
    await settlePaused();
    await page.getByTestId('note-p-first').waitFor();
    await by('prompt-p-approval').locator('[data-testid="accept"][aria-disabled]').waitFor();
    assert.ok((await top()) < before, 'the card has moved up');
    await accept.click({ force: true });
    await settlePaused();
    assert.deepEqual(hub.all('answerPrompt'), [], 'the card has just moved');
    await wait();
    await accept.click({ force: true });
    await settlePaused();
    assert.equal(hub.all('answerPrompt').length, 1);
    assert.ok(hub.all('answerPrompt')[0]?.answerPrompt?.accept);
    await page.clock.resume();
    await pass(10);
    await settle();

    async function settlePaused() {
      await page.clock.runFor(40);
      await drawn();
    }

    /** Lets the half second pass after the page has seen where everything stands. */
    async function wait() {
      await drawn();
      await page.clock.runFor(600);
    }

    /** Waits for a frame in which sizes were observed, as the page observes them: frames are real while time is not. */
    async function drawn() {
      await page.evaluate(
        () =>
          new Promise((seen) => {
            const sizes = new ResizeObserver(() => {
              sizes.disconnect();
              seen(undefined);
            });
            sizes.observe(document.body);
          }),
      );
    }
  },
);

for (const width of [360, 900])
  pageTest(
    `${width} px wide: of two servers that are opened one after another, one is open`,
    {
      viewport: { width, height: 700 },
      snapshot: { servers: [server('files'), server('github')] },
      tools: { files: filesTools, github: [tool('github', 'search')] },
    },
    async ({ by, page, settle, focused }) => {
      await by('server-files').getByRole('button').first().click();
      await by('tool-index_folder').waitFor();
      if (width < 720) {
        assert.equal(await by('server-github').isVisible(), false, 'it stands in the place of the lists');
        await page.getByRole('button', { name: 'Back', exact: true }).click();
        assert.match(await focused(), /^button files/, 'the focus is where it came from');
      } else {
        const [list, opened] = [await by('servers-list').boundingBox(), await by('server').boundingBox()];
        assert.ok(list && opened && opened.x >= list.x + list.width, 'it stands beside the lists');
        assert.equal(await page.getByRole('button', { name: 'Back', exact: true }).isVisible(), false);
      }
      await by('server-github').getByRole('button').first().click();
      await by('tool-search').waitFor();
      await settle();
      assert.equal(await by('tool-index_folder').count(), 0);
      assert.ok((await page.evaluate(() => document.documentElement.scrollHeight)) <= 700, 'the page is no longer');
      await page.keyboard.press('Escape');
      assert.match(await focused(), /^button github/);
    },
  );

mainTest('an empty hub says what to do', { snapshot: {} }, async ({ page }) => {
  const text = await page.locator('main').innerText();
  assert.match(text, /Connect your first MCP server/);
});

for (const theme of themeNames) {
  pageTest(
    `what is done of a call differs from what is not, ${theme}`,
    {
      theme,
      snapshot: { servers: [server('files')], requests: [request('r-1', { progress: { progress: 1, total: 2 } })] },
    },
    async ({ by }) => {
      const [bar, done] = await by('request-r-1')
        .locator('.bar, .done')
        .evaluateAll((all) => all.map((one) => getComputedStyle(one).backgroundColor));
      assert.notEqual(done, bar);
    },
  );
}

// The color-scheme of the root decides whether a frame has a background of its own. The editor's must be visible.
for (const theme of /** @type {const} */ (['dark', 'high-contrast', 'light'])) {
  pageTest(
    `in ${theme} the editor's ground is seen through the page, and controls are drawn in its scheme`,
    { snapshot: { prompts: [prompts.form] }, theme },
    async ({ by, page }) => {
      const field = by('prompt-p-form').getByLabel('Full name').first();
      await field.waitFor();
      const scheme = (/** @type {Element} */ element) => getComputedStyle(element).colorScheme;
      assert.equal(await page.locator('html').evaluate(scheme), 'normal');
      assert.equal(await field.evaluate(scheme), theme === 'light' ? 'normal' : 'dark');
    },
  );
}
