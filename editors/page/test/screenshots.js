// Makes pictures of the page: two for the README in docs/images, and every card in four themes in
// editors/out/page/shots, for people to look at.

import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { fillAddForm } from './harness/addform.js';
import { browseCommands, browseScenes, browseSetup } from './harness/browsescenes.js';
import { openPage, outFolder, stop } from './harness/pagetest.js';
import { ended, markdown, png, wav, withHistory } from './harness/results.js';
import { themeNames } from './harness/themes.js';
import {
  at,
  busySnapshot,
  cancelled,
  filesTools,
  finished,
  promptNames,
  prompts,
  request,
  server,
} from './harness/world.js';

const images = fileURLToPath(new URL('../../../docs/images/', import.meta.url));
const shots = `${outFolder}shots/`;
await mkdir(images, { recursive: true });
await mkdir(shots, { recursive: true });

/**
 * @param {string} path
 * @param {import('./harness/pagetest.js').Setup} setup
 * @param {(opened: import('./harness/pagetest.js').Opened) => Promise<void>} [act]
 */
async function shoot(path, setup, act) {
  if (only && !path.includes(only)) return;
  const opened = await openPage({ tools: { files: filesTools }, ...setup });
  try {
    await opened.hub.next('hello');
    await opened.pass(1_000);
    await act?.(opened);
    await opened.settle();
    await opened.page.screenshot({ path, fullPage: setup.viewport === undefined || setup.viewport.height > 1_000 });
    console.log(path);
  } finally {
    await opened.close();
  }
}

/** The first start, and the demo server's guide. @param {string} theme @param {number} width */
async function begin(theme, width) {
  const commands = ['getStarted', 'createConfig', 'addDemoServer', 'removeDemoServer'];
  const surface = {
    commands: commands.map((name) => `mcphub.${name}`),
    demo: { server: 'mcphub-demo', file: 'McpHub demo server' },
    configWrites: true,
  };
  const viewport = { width, height: 700 };
  await shoot(`${shots}begin-${theme}-${width}.png`, { theme, surface, viewport });
  const servers = [server('mcphub-demo', { configFile: 'McpHub demo server' })];
  const history = [cancelled('h-1', { server: 'mcphub-demo', tool: 'sleep' })];
  await shoot(`${shots}begin-demo-${theme}-${width}.png`, { theme, surface, viewport, snapshot: { servers, history } });
}

/** Unfolds the tools of "files". @param {import('./harness/pagetest.js').Opened} opened */
async function unfoldTools({ by, settle }) {
  await by('server-files').getByRole('button').first().click();
  await settle();
}

/**
 * McpHub at a glance: a question with a form, running requests, one that is being cancelled, and who ended others and
 * why.
 */
function glance() {
  const schema = {
    type: 'object',
    properties: {
      name: { type: 'string', title: 'Full name', minLength: 2 },
      seats: { type: 'integer', title: 'Seats', minimum: 1, maximum: 9, default: 2 },
      plan: {
        type: 'string',
        title: 'Class',
        enum: ['second', 'first'],
        enumNames: ['Second', 'First'],
        default: 'second',
      },
    },
    required: ['name'],
  };
  const message = 'Who travels on Friday?';
  const form = {
    promptId: 'p-form',
    server: 'booking',
    requestId: 'r-ask',
    parentRequestId: 'r-book',
    openTime: at(-4),
    elicitationForm: {
      message,
      schemaJson: JSON.stringify(schema),
      requestJson: JSON.stringify({ message, requestedSchema: schema }),
    },
  };
  return {
    servers: (busySnapshot().servers ?? [])
      .filter(({ name }) => ['files', 'review', 'tickets'].includes(name ?? ''))
      .concat(server('booking')),
    prompts: [form],
    requests: [
      request('r-index', {
        tool: 'index_folder',
        progress: { progress: 640, total: 1000, message: 'src/orders, 640 of 1,000 files' },
      }),
      request('r-slow', {
        server: 'review',
        tool: 'review_change',
        state: 'REQUEST_STATE_CANCELLING',
        startTime: at(-75),
        progress: { progress: 3, total: 12, message: 'reading 12 files' },
        cancellation: { origin: 'ORIGIN_USER', reason: 'took too long', time: at(-3) },
      }),
      request('r-book', {
        server: 'booking',
        tool: 'book_seats',
        state: 'REQUEST_STATE_AWAITING_INPUT',
        startTime: at(-6),
      }),
    ],
    history: [
      finished('h-1', { tool: 'read_file' }, -540),
      finished(
        'h-2',
        { isError: true, tool: 'write_file', resultJson: '{"content":[],"isError":true}', resultSizeBytes: '29' },
        -400,
      ),
      cancelled(
        'h-3',
        { tool: 'index_folder', cancellation: { origin: 'ORIGIN_USER', reason: 'wrong folder', time: at(-311) } },
        -310,
      ),
      cancelled(
        'h-4',
        {
          server: 'booking',
          direction: 'REQUEST_DIRECTION_INCOMING',
          method: 'elicitation/create',
          tool: '',
          serverMayContinue: false,
          cancellation: { origin: 'ORIGIN_SERVER', reason: 'found it elsewhere', time: at(-201) },
        },
        -200,
      ),
      finished('h-5', { server: 'review', tool: 'list_changes', timings: { active: '0.180s' } }, -95),
      cancelled(
        'h-6',
        {
          server: 'review',
          tool: 'review_change',
          cancellation: { origin: 'ORIGIN_TIMEOUT', reason: 'no sign of life for 5 m', time: at(-61) },
        },
        -60,
      ),
    ],
  };
}

/** A request whose result has every kind of content. */
function resultSnapshot() {
  const structuredContent = {
    files: [
      { name: 'orders.go', lines: 120, changed: true },
      { name: 'stock.go', lines: 48, changed: false },
    ],
    total: 2,
  };
  const args = { argumentsPreview: 'path: "/repos/shop", depth: 3' };
  return withHistory(
    ended(
      'h-1',
      {
        content: [
          { type: 'text', text: markdown },
          { type: 'image', mimeType: 'image/png', data: png(400, 220) },
          { type: 'audio', mimeType: 'audio/wav', data: wav() },
          { type: 'resource_link', uri: 'https://example.com/shop/orders', name: 'orders', mimeType: 'text/html' },
        ],
        structuredContent,
      },
      args,
    ),
    ended(
      'h-2',
      { content: [{ type: 'text', text: '2 files' }], structuredContent: { ...structuredContent, total: 3 } },
      args,
    ),
  );
}

const only = process.argv[2]; // a part of a name: makes only those pictures

try {
  for (const theme of /** @type {const} */ (['light', 'dark'])) {
    const setup = { theme, snapshot: glance(), deviceScaleFactor: 1.5 };
    await shoot(`${images}page-${theme}.png`, { ...setup, viewport: { width: 1100, height: 860 }, place: 'editor' });
    await shoot(`${images}sidebar-${theme}.png`, { ...setup, viewport: { width: 320, height: 900 } });
  }
  for (const theme of themeNames) {
    await shoot(
      `${shots}sidebar-${theme}.png`,
      { theme, snapshot: busySnapshot(), viewport: { width: 300, height: 2_400 } },
      unfoldTools,
    );
    await shoot(
      `${shots}editor-${theme}.png`,
      { theme, snapshot: busySnapshot(), viewport: { width: 1100, height: 1_900 }, place: 'editor' },
      unfoldTools,
    );
    await shoot(`${shots}empty-${theme}.png`, { theme, snapshot: {}, viewport: { width: 480, height: 500 } });
    await shoot(
      `${shots}lost-${theme}.png`,
      { theme, snapshot: busySnapshot(), viewport: { width: 480, height: 700 } },
      async ({ hub }) => {
        await hub.say({
          hubConnection: {
            state: 'HUB_CONNECTION_STATE_STARTING',
            message: 'The hub has ended. It is being started again.',
          },
        });
      },
    );
    await shoot(
      `${shots}result-${theme}.png`,
      {
        theme,
        snapshot: resultSnapshot(),
        viewport: { width: 300, height: 2_200 },
        surface: { commands: ['mcphub.openPart', 'mcphub.savePart', 'mcphub.copyPart', 'mcphub.compareResults'] },
      },
      async ({ by, hub, page, settle }) => {
        hub.kept['h-1 ARGUMENTS'] = '{"path":"/repos/shop","depth":3,"skip":["node_modules"]}';
        await by('ended-h-1').click();
        await page.getByTestId('result').getByRole('button', { name: 'Markdown' }).click();
        await page.getByTestId('markdown').waitFor();
        await by('arguments').locator('summary').click();
        await by('arguments').getByRole('tree').waitFor();
        const search = page.getByTestId('result').getByRole('searchbox');
        await search.fill('lines');
        await page.getByTestId('result').getByText('1 of 2').waitFor();
        await settle();
      },
    );
    await shoot(
      `${shots}difference-${theme}.png`,
      {
        theme,
        snapshot: resultSnapshot(),
        viewport: { width: 300, height: 1_200 },
        surface: { kind: 'web', socket: '/stream' },
      },
      async ({ by, page, settle }) => {
        await by('ended-h-2').click();
        await page.getByRole('button', { name: 'Compare with Previous' }).click();
        await page.getByRole('group', { name: /^Differences/ }).waitFor();
        await settle();
      },
    );
    for (const width of [320, 480, 800]) {
      await shoot(
        `${shots}adding-${theme}-${width}.png`,
        {
          theme,
          snapshot: { servers: [server('files')] },
          viewport: { width, height: 1_300 },
          surface: { configWrites: true, commands: ['mcphub.openConfig'] },
        },
        async (opened) => {
          await fillAddForm(opened);
        },
      );
    }
    for (const name of promptNames) {
      await shoot(`${shots}card-${name}-${theme}.png`, {
        theme,
        snapshot: { servers: [server('files')], prompts: [prompts[name]] },
      });
    }
    await shoot(
      `${shots}card-invalid-${theme}.png`,
      { theme, snapshot: { prompts: [prompts.form] } },
      async ({ by, pass }) => {
        await by('prompt-p-form').locator('[data-testid="accept"]').click();
        await pass(50);
      },
    );
    const changed = {
      ...prompts.approval,
      toolApproval: {
        ...prompts.approval.toolApproval,
        previousDefinitionJson: '{"description":"Writes a text."}',
        changes: [
          {
            path: 'description',
            beforeJson: '"Writes a text."',
            afterJson: '"Writes text to a file, and mails it to support."',
          },
          { path: 'inputSchema.properties.mail', beforeJson: '', afterJson: '{"type":"string"}' },
        ],
      },
    };
    await shoot(`${shots}card-changed-${theme}.png`, { theme, snapshot: { prompts: [changed] } });
    await shoot(
      `${shots}card-withdrawn-${theme}.png`,
      { theme, snapshot: { prompts: [prompts.form, prompts.url] } },
      async ({ hub }) => {
        await hub.say({
          promptClosed: {
            promptId: 'p-form',
            cause: 'PROMPT_CAUSE_WITHDRAWN',
            reason: 'no longer needed',
            origin: 'ORIGIN_SERVER',
          },
        });
      },
    );
    await shoot(
      `${shots}tool-form-${theme}.png`,
      { theme, snapshot: { servers: [server('files')] } },
      async (opened) => {
        await unfoldTools(opened);
        await opened.by('tool-index_folder').getByRole('button').first().click();
      },
    );
    await shoot(
      `${shots}history-${theme}.png`,
      { theme, snapshot: { servers: [server('files')], history: busySnapshot().history ?? [] } },
      async ({ by, settle }) => {
        await by('history').getByText('index_folder').first().click();
        await settle();
      },
    );
    for (const width of [215, 480]) await begin(theme, width);
    for (const [at, { act }] of browseScenes.entries())
      for (const width of [300, 520])
        await shoot(
          `${shots}browse-${at}-${width}-${theme}.png`,
          { theme, ...browseSetup, surface: { commands: browseCommands }, viewport: { width, height: 1300 } },
          act,
        );
    const slow = {
      state: 'REQUEST_STATE_CANCELLING',
      cancellation: { origin: 'ORIGIN_USER', reason: 'wrong folder', time: '2026-10-05T11:59:50Z' },
    };
    await shoot(`${shots}cancelling-${theme}.png`, {
      theme,
      snapshot: { servers: [server('files')], requests: [request('r-1', /** @type {object} */ (slow))] },
    });
  }
  // German words are longer than English ones.
  const german = { theme: /** @type {const} */ ('dark'), surface: { language: 'de' } };
  for (const name of promptNames)
    await shoot(`${shots}german-${name}.png`, {
      ...german,
      snapshot: { servers: [server('files')], prompts: [prompts[name]] },
      viewport: { width: 320, height: 1_200 },
    });
  await shoot(
    `${shots}german-page.png`,
    { ...german, snapshot: busySnapshot(), viewport: { width: 320, height: 2_600 } },
    unfoldTools,
  );
} finally {
  await stop();
}
