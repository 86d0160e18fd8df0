// What a screen reader gets, and that axe finds no violations in four themes.

import assert from 'node:assert/strict';
import { fillAddForm } from '../harness/addform.js';
import { violations } from '../harness/axe.js';
import { browseCommands, browseScenes, browseSetup } from '../harness/browsescenes.js';
import { mainTest, pageTest, unfoldAll } from '../harness/pagetest.js';
import { ended, markdown, png, wav } from '../harness/results.js';
import { themeNames } from '../harness/themes.js';
import { choose } from '../harness/servers.js';
import {
  at,
  busySnapshot,
  cancelled,
  filesTools,
  finished,
  prompts,
  promptNames,
  request,
  server,
} from '../harness/world.js';

/** The rules about colours, and the tags of all rules that are checked. */
const ofColours = ['color-contrast', 'link-in-text-block'];
const ofAll = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/**
 * Rules that depend on the theme are checked in each theme, the others in only one: `make soak-page` checks all in
 * each.
 *
 * @param {import('../harness/themes.js').ThemeName} theme
 */
const rulesFor = (theme) => (theme === 'dark' || process.env['MCPHUB_SOAK'] ? ofAll : ofColours);

/** @param {import('../harness/pagetest.js').Page} page @param {string} what @param {string[]} [rules] */
async function assertNoViolations(page, what, rules = ofAll) {
  const found = (await violations(page, rules)).map(
    ({ id, help, nodes }) =>
      `${id}: ${help}\n${nodes
        .slice(0, 3)
        .map(
          (node) => `    ${node.html.slice(0, 160)}\n      ${node.failureSummary?.replaceAll('\n', ' ').slice(0, 260)}`,
        )
        .join('\n')}`,
  );
  assert.deepEqual(found, [], `axe on ${what}:\n${found.join('\n')}`);
}

/**
 * @typedef {object} Scene
 * @property {string} what
 * @property {import('../harness/pagetest.js').SnapshotJson} snapshot
 * @property {Partial<import('../../src/surface.js').Surface>} [surface]
 * @property {(opened: import('../harness/pagetest.js').Opened) => Promise<void>} [act]
 */

/** @type {Scene[]} */
const scenes = [
  { what: 'the empty page', snapshot: {} },
  {
    what: 'a busy page with everything unfolded',
    snapshot: busySnapshot(),
    act: async ({ hub, page, pass }) => {
      await hub.say({
        logMessage: { server: 'files', level: 'warning', logger: 'index', dataJson: '"3 files skipped"' },
      });
      await unfoldAll(page);
      // axe reports a button that is half below the strip of questions as too small, so the page is scrolled to the
      // top.
      await page.evaluate(() => scrollTo(0, 0));
      await pass(1_100);
    },
  },
  {
    what: 'a card of every kind, unfolded',
    snapshot: { servers: [server('files')], prompts: promptNames.map((name) => prompts[name]) },
    act: async ({ page }) => {
      await unfoldAll(page.locator('#cards'));
    },
  },
  {
    what: 'an approval with a changed definition',
    snapshot: {
      servers: [server('files')],
      prompts: [
        {
          ...prompts.approval,
          toolApproval: {
            ...prompts.approval.toolApproval,
            previousDefinitionJson: '{"name":"write_file","description":"Writes a text."}',
            changes: [
              {
                path: 'description',
                beforeJson: '"Writes a text."',
                afterJson: '"Writes text to a file, and mails it."',
              },
            ],
          },
        },
      ],
    },
  },
  {
    what: 'the cards that wait',
    snapshot: {
      prompts: [
        { ...prompts.url, elicitationUrl: { ...prompts.url.elicitationUrl, waiting: true } },
        { ...prompts.signin, signIn: { ...prompts.signin.signIn, waiting: true } },
      ],
    },
  },
  {
    what: 'an invalid form',
    snapshot: { servers: [server('files')], prompts: [prompts.form] },
    act: async ({ by, pass }) => {
      await pass(700);
      await by('prompt-p-form').locator('[data-testid="accept"]').click();
      await pass(50);
    },
  },
  {
    what: 'a closed card',
    snapshot: { prompts: [prompts.form] },
    act: async ({ hub, settle }) => {
      await hub.say({
        promptClosed: {
          promptId: 'p-form',
          cause: 'PROMPT_CAUSE_WITHDRAWN',
          reason: 'no longer needed',
          origin: 'ORIGIN_SERVER',
        },
      });
      await settle();
    },
  },
  {
    what: 'the history with an end unfolded',
    snapshot: {
      servers: [server('files')],
      history: [
        finished('h-1', {
          resultJson: '{"content":[{"type":"text","text":"42 lines"}],"structuredContent":{"lines":42}}',
          resultSizeBytes: '47',
        }),
        cancelled('h-2'),
      ],
    },
    act: async ({ by, settle }) => {
      await by('ended-h-1').click();
      await by('facts').getByText('Details').click();
      await settle();
    },
  },
  {
    what: 'a result with everything that can be in one',
    snapshot: {
      servers: [server('files')],
      history: [
        ended('h-0', { content: [] }),
        ended(
          'h-1',
          {
            content: [
              { type: 'text', text: markdown },
              { type: 'image', mimeType: 'image/png', data: png(40, 20) },
              { type: 'audio', mimeType: 'audio/wav', data: wav() },
              { type: 'resource_link', uri: 'https://example.com/x', name: 'On the web' },
            ],
            structuredContent: { files: [{ name: 'a.go' }] },
          },
          { argumentsPreview: 'path: "/a"' },
        ),
      ],
    },
    surface: { commands: ['mcphub.openPart', 'mcphub.savePart', 'mcphub.copyPart', 'mcphub.compareResults'] },
    act: async ({ by, hub, page, settle }) => {
      hub.kept['h-1 ARGUMENTS'] = '{"path":"/a","deep":{"n":1}}';
      await by('ended-h-1').click();
      await page.getByTestId('result').getByRole('button', { name: 'Markdown' }).click();
      await page.getByTestId('markdown').waitFor();
      await by('arguments').getByText('"deep"').waitFor();
      await settle();
    },
  },
  {
    what: 'a cancel that drags on',
    snapshot: {
      servers: [server('files')],
      requests: [
        request('r-1', {
          state: 'REQUEST_STATE_CANCELLING',
          cancellation: { origin: 'ORIGIN_USER', reason: 'x', time: at(-9) },
        }),
      ],
    },
    act: async ({ pass }) => {
      await pass(1_100);
    },
  },
  {
    what: 'the list of keys',
    snapshot: busySnapshot(),
    act: async ({ page }) => {
      await page.keyboard.press('?');
    },
  },
  {
    what: 'a request for a completion with several models',
    snapshot: { servers: [server('review')], prompts: [prompts.sampling] },
    surface: {
      models: [
        { id: 'a', name: 'Model A', family: 'a' },
        { id: 'b', name: 'Model B', family: 'b' },
      ],
    },
  },
  {
    what: 'a hub that does not answer',
    snapshot: busySnapshot(),
    surface: { commands: ['mcphub.restartHub'] },
    act: async ({ hub, settle }) => {
      await hub.say({
        hubConnection: { state: 'HUB_CONNECTION_STATE_UNRESPONSIVE', message: 'McpHub does not answer.' },
      });
      await settle();
    },
  },
  {
    what: 'the form that adds a server, with all that it says',
    snapshot: { servers: [server('files')] },
    surface: { configWrites: true, commands: ['mcphub.openConfig'] },
    act: async (opened) => {
      await fillAddForm(opened);
      await unfoldAll(opened.by('adding'));
    },
  },
  {
    what: 'an entry that is changed, after another one was removed',
    snapshot: { servers: [server('files'), server('notes')] },
    surface: { configWrites: true, commands: ['mcphub.openConfig'] },
    act: async (opened) => {
      const { by, hub, settle } = opened;
      await choose(opened, 'notes', 'remove-entry');
      await by('remove-now').click();
      const write = { server: 'notes', configFile: '/config/mcp.json', undoId: 'u-1' };
      for (const message of [await hub.next('removeServer'), await hub.next('removeServer')])
        await hub.wrote(message, write);
      await choose(opened, 'files', 'edit-entry');
      await hub.reply(await hub.next('getServerEntry'), {
        getServerEntry: {
          entry: {
            server: 'files',
            line: 2,
            form: { url: 'https://files.example/mcp', headers: { Authorization: 'Bearer s3cret', Level: 'debug' } },
            settings: { approvals: { 'read_*': 'APPROVAL_POLICY_ALLOW' }, timeouts: { total: '90s' } },
            entryJson: '{}',
          },
          file: { path: '/config/mcp.json', takesInputs: true, environmentReference: '${env:NAME}' },
        },
      });
      await settle();
      await by('adding-save').click();
      await settle();
    },
  },
  {
    what: 'the lost connection',
    snapshot: busySnapshot(),
    act: async ({ hub, settle }) => {
      await hub.say({
        hubConnection: { state: 'HUB_CONNECTION_STATE_FAILED', message: 'The hub has failed five times in a row.' },
      });
      await settle();
    },
  },
];

scenes.push(
  ...browseScenes.map(({ what, act }) => ({ what, act, ...browseSetup, surface: { commands: browseCommands } })),
);

for (const { what, snapshot, surface, act } of scenes) {
  const setting = { snapshot, tools: { files: filesTools }, ...(surface && { surface }) };
  pageTest(`axe finds nothing on ${what}, in any theme`, setting, async (opened) => {
    await act?.(opened);
    await opened.settle();
    for (const theme of themeNames) {
      await opened.retheme(theme);
      await assertNoViolations(opened.page, `${what}, ${theme}`, rulesFor(theme));
    }
  });
}

for (const theme of /** @type {const} */ (['light', 'dark'])) {
  pageTest(
    `axe finds nothing in a browser of its own, ${theme}`,
    {
      theme,
      snapshot: { ...busySnapshot(), prompts: [prompts.approval, prompts.form] },
      surface: { kind: 'web', socket: '/stream', opensUrls: true },
    },
    async ({ by, page, settle }) => {
      await by('prompt-p-form').waitFor();
      await settle();
      await assertNoViolations(page, 'the web surface');
    },
  );
}

pageTest('axe sees what it is there to see', { snapshot: {} }, async ({ page, retheme }) => {
  await page.evaluate(() => {
    document.querySelector('main')?.append(Object.assign(document.createElement('button'), { className: 'nameless' }));
  });
  await assert.rejects(assertNoViolations(page, 'a button without a name'), /button-name/);
  for (const [theme, ground] of /** @type {const} */ ([
    ['light', 'rgb(248, 248, 248)'],
    ['high-contrast', 'rgb(0, 0, 0)'],
  ])) {
    await retheme(theme);
    assert.equal(await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor), ground, theme);
  }
});

pageTest('landmarks, headings in order, and named regions', { snapshot: busySnapshot() }, async ({ page, by }) => {
  await by('prompt-p-approval').waitFor();
  assert.equal(await page.getByRole('main').count(), 1);
  for (const name of [/^now/i, /^servers/i, /^history/i])
    assert.equal(await page.getByRole('region', { name }).count(), 1, String(name));
  const levels = await page.evaluate(() =>
    [...document.querySelectorAll('h1, h2, h3, h4, h5, h6')]
      .filter((element) => element.getClientRects().length > 0)
      .map((element) => Number(element.tagName[1])),
  );
  assert.equal(levels[0], 1);
  for (let index = 1; index < levels.length; index++)
    assert.ok((levels[index] ?? 0) <= (levels[index - 1] ?? 0) + 1, `h${levels[index]} after h${levels[index - 1]}`);
  assert.equal(levels.filter((level) => level === 1).length, 1);
  const positive = await page
    .locator('[tabindex]')
    .evaluateAll((elements) => elements.filter((element) => Number(element.getAttribute('tabindex')) > 0).length);
  assert.equal(positive, 0, 'no positive tabindex');
});

/** Records what live regions announce, and returns a reader. @param {import('../harness/pagetest.js').Page} page */
async function listen(page) {
  await page.evaluate(() => {
    /** @type {string[]} */
    const said = [];
    Object.assign(window, { said });
    const observer = new MutationObserver((records) => {
      for (const { target, addedNodes } of records) {
        const element = target instanceof Element ? target : target.parentElement;
        const region = element?.closest('[aria-live], [role="status"], [role="alert"]');
        const text =
          [...addedNodes].map((node) => node.textContent).join('') || (target instanceof Text ? target.data : '');
        if (region && text.trim())
          said.push(
            `${region.getAttribute('aria-live') ?? (region.getAttribute('role') === 'alert' ? 'assertive' : 'polite')}: ${text.trim()}`,
          );
      }
    });
    observer.observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  return () => page.evaluate(() => /** @type {{ said?: string[] }} */ (window).said ?? []);
}

mainTest(
  'live regions tell a question, its withdrawal, and the end of a call',
  {
    snapshot: {
      servers: [server('booking')],
      requests: [request('r-1', { server: 'booking', tool: 'book' })],
      prompts: [],
    },
  },
  async ({ hub, page, pass }) => {
    const said = await listen(page);
    await hub.say({ promptOpened: { prompt: prompts.form } });
    await pass(1_500);
    assert.match((await said()).join('\n'), /booking.*Who is the booking for\?/s);
    await hub.say({
      promptClosed: {
        promptId: 'p-form',
        cause: 'PROMPT_CAUSE_WITHDRAWN',
        reason: 'no longer needed',
        origin: 'ORIGIN_SERVER',
      },
    });
    await pass(1_500);
    assert.match((await said()).join('\n'), /Withdrawn by booking: no longer needed\. Nothing was sent\./);
    const before = (await said()).length;
    await hub.say({
      mcpRequestFinished: {
        requestId: 'r-1',
        server: 'booking',
        direction: 'REQUEST_DIRECTION_OUTGOING',
        method: 'tools/call',
        tool: 'book',
        state: 'REQUEST_STATE_DONE',
      },
    });
    await pass(3_000);
    const ends = (await said()).slice(before);
    assert.match(ends.join('\n'), /polite: .*book/s);
  },
);

pageTest(
  'fifty calls that end together are told in one polite sentence or few',
  {
    snapshot: { servers: [server('files')], requests: Array.from({ length: 50 }, (_, index) => request(`r-${index}`)) },
  },
  async ({ by, hub, page, pass }) => {
    const said = await listen(page);
    for (let index = 0; index < 50; index++) {
      await hub.say({
        mcpRequestFinished: {
          requestId: `r-${index}`,
          server: 'files',
          direction: 'REQUEST_DIRECTION_OUTGOING',
          method: 'tools/call',
          tool: 'index_folder',
          state: 'REQUEST_STATE_DONE',
        },
      });
    }
    await pass(4_000);
    const ends = await said();
    assert.ok(ends.length >= 1 && ends.length <= 8, `${ends.length} announcements: ${ends.slice(0, 4).join(' | ')}`);
    const told = ends.map((line) =>
      /index_folder of files: Done/.test(line) ? 1 : Number(/(\d+) calls ended/.exec(line)?.[1] ?? 0),
    );
    assert.equal(
      told.reduce((sum, one) => sum + one, 0),
      50,
      `each call is told once: ${ends.join(' | ')}`,
    );
    await by('history').locator('[aria-setsize="50"]').first().waitFor();
    assert.equal(await page.locator('#now').isVisible(), false, 'what is not there takes no room');
    assert.ok(
      ends.every((line) => line.startsWith('polite')),
      'none interrupts',
    );
  },
);

pageTest(
  'elapsed time and progress are not told again and again',
  { snapshot: { servers: [server('files')], requests: [request('r-1')] } },
  async ({ hub, page, pass }) => {
    const said = await listen(page);
    for (let step = 0; step < 10; step++) {
      await hub.say({
        mcpRequestProgressed: {
          requestId: 'r-1',
          server: 'files',
          state: 'REQUEST_STATE_RUNNING',
          progress: { progress: step, total: 10, message: `step ${step}` },
        },
      });
      await pass(1_000);
    }
    assert.deepEqual(await said(), []);
  },
);

pageTest(
  'a card is a named group, its form names each field, and errors are tied to their fields',
  { snapshot: { servers: [server('booking')], prompts: [prompts.form] } },
  async ({ by, page, pass }) => {
    const card = by('prompt-p-form');
    await card.waitFor();
    const role = await card.evaluate((element) => element.getAttribute('role') ?? element.tagName.toLowerCase());
    assert.match(role, /^(group|region|article|section|form|li|alertdialog|dialog)$/);
    for (const name of ['Full name', 'E-mail', 'Seats', 'Plan', 'Newsletter'])
      assert.equal(await card.getByLabel(name, { exact: false }).first().isVisible(), true, name);
    await pass(700);
    await card.locator('[data-testid="accept"]').click();
    await pass(50);
    const field = card.getByLabel('E-mail', { exact: false }).first();
    assert.equal(await field.getAttribute('aria-invalid'), 'true');
    const described = await field.evaluate((element) =>
      (element.getAttribute('aria-describedby') ?? '')
        .split(' ')
        .map((id) => document.getElementById(id)?.textContent ?? '')
        .join(' '),
    );
    assert.match(described, /required|fill|missing|needed|enter/i);
    assert.match(described, /Where the receipt goes/);
    assert.equal(
      await page.evaluate(() => document.activeElement?.getAttribute('aria-invalid')),
      'true',
      'the focus is on the first field that is wrong',
    );
  },
);
