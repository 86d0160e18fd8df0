// Takes the ten scenes of ADR 76 of the page as it is, each at three widths in three themes, in one sheet:
// node --import ./test/harness/typescript.js test/scenes.js FOLDER [SCENE...]

import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { promisify } from 'node:util';
import { launchBrowser, openPage, stop } from './harness/pagetest.js';
import { ended, png } from './harness/results.js';
import { openServer, openTool } from './harness/servers.js';
import { at, cancelled, finished, prompts, request, server, tool } from './harness/world.js';

/** @typedef {import('./harness/pagetest.js').Opened} Opened */
/** @typedef {import('./harness/pagetest.js').Setup} Setup */
/** @typedef {{ setup?: Setup, act?: (opened: Opened) => Promise<void> }} Scene */

const widths = [300, 420, 900];
const height = 560;
const themes = ['dark', 'light', 'high-contrast'];

const servers = [
  server('files'),
  server('github'),
  server('booking'),
  server('tickets', { state: 'SERVER_STATE_STOPPED', signIn: 'SIGN_IN_STATE_NEEDED' }),
  server('metrics', { state: 'SERVER_STATE_FAILED', lastExit: 'exit code 1' }),
  server('reviews', { state: 'SERVER_STATE_DISABLED' }),
];
const user = /** @type {const} */ ('ORIGIN_USER');
const history = [
  finished('h-8', { server: 'github', tool: 'search', title: 'Search issues', caller: 'Claude Code' }, -3700),
  cancelled(
    'h-7',
    {
      server: 'reviews',
      title: 'Review change',
      cancellation: { origin: 'ORIGIN_TIMEOUT', reason: 'no sign of life for 10 min', time: at(-1440) },
    },
    -1440,
  ),
  finished('h-6', { server: 'github', tool: 'search', title: 'Search issues', argumentsPreview: 'label:bug' }, -720),
  finished('h-5', { tool: 'read', title: 'Read file', argumentsPreview: 'src/orders/total.ts' }, -180),
  cancelled('h-4', { title: 'Index folder', cancellation: { origin: user, reason: 'wrong folder', time: at(-120) } }),
];
const review = request('r-review', {
  server: 'reviews',
  tool: 'review',
  title: 'Review change',
  caller: 'Claude Code',
  argumentsPreview: '{"change":"8f31c2"}',
  startTime: at(-75),
  progress: { progress: 3, total: 12, message: 'Reading 12 files' },
});
const index = request('r-index', {
  title: 'Index folder',
  argumentsPreview: '{"folder":"src/orders"}',
  startTime: at(-4),
  progress: { progress: 640, total: 1000, message: 'src/orders, 640 of 1,000 files' },
});
const base = { servers, history };

const form = {
  ...prompts.form,
  parentRequestId: 'r-book',
  elicitationForm: {
    message: 'Who travels on Friday?',
    schemaJson: JSON.stringify({
      type: 'object',
      properties: {
        name: { type: 'string', title: 'Full name' },
        seats: { type: 'integer', title: 'Seats', default: 2 },
        bicycle: { type: 'boolean', title: 'Bring a bicycle' },
      },
    }),
  },
};
const booking = request('r-book', { server: 'booking', tool: 'book', title: 'Book seats', startTime: at(-6) });

const tools = Array.from({ length: 40 }, (_, i) =>
  tool('files', `tool_${i}`, undefined, {
    title: ['Read file', 'Write file', 'List folder', 'Search text', 'Index folder'][i % 5] ?? '',
    description: ['Text of a file', 'Puts a text in the place of a file', 'Names, sizes and dates'][i % 3] ?? '',
    policy: i % 5 === 1 ? 'APPROVAL_POLICY_ASK' : 'APPROVAL_POLICY_ALLOW',
  }),
);
const search = tool(
  'files',
  'search',
  { type: 'object', properties: { expression: { type: 'string', title: 'Expression', default: 'total\\(' } } },
  { title: 'Search text', description: 'Lines that match an expression.', policy: 'APPROVAL_POLICY_ALLOW' },
);

/** @type {Record<string, Scene>} */
const scenes = {
  'nothing-live': { setup: { snapshot: base } },
  'running': { setup: { snapshot: { ...base, requests: [review, index, request('r-3', { server: 'github' })] } } },
  'just-cancelled': {
    setup: { snapshot: { ...base, requests: [review, index] } },
    act: async ({ by, hub, pass, settle }) => {
      const about = { server: 'files', tool: 'index_folder', title: 'Index folder', method: 'tools/call' };
      const requestId = 'r-index';
      await hub.say({
        mcpRequestCancelled: {
          requestId,
          ...about,
          direction: 'REQUEST_DIRECTION_OUTGOING',
          cancellation: { origin: user, reason: 'wrong folder', time: at(0) },
          delivery: 'CANCEL_DELIVERY_DELIVERED',
          serverMayContinue: true,
        },
      });
      await settle();
      await pass(3_400);
      await hub.say({
        mcpRequestAnsweredLate: { requestId, server: 'files', answer: { after: '3.4s' } },
      });
      hub.silent.add('cancelMcpRequest');
      await by('request-r-review').getByTestId('cancel').click();
      await pass(4_000);
    },
  },
  'form': { setup: { snapshot: { ...base, requests: [booking, review], prompts: [form] } } },
  'withdrawn': {
    setup: {
      snapshot: {
        ...base,
        requests: [booking],
        prompts: [
          form,
          { ...form, promptId: 'p-2', server: 'files', elicitationForm: { message: 'Replace 3 files?' } },
        ],
      },
    },
    act: async ({ by, hub, pass, settle }) => {
      await by('prompt-p-form').getByLabel('Full name').first().fill('Ada Lovelace');
      const why = { cause: /** @type {const} */ ('PROMPT_CAUSE_WITHDRAWN'), reason: 'the train is full' };
      await hub.say({ promptClosed: { promptId: 'p-form', ...why } });
      await settle();
      await pass(2_000);
    },
  },
  'approval': {
    setup: {
      snapshot: {
        ...base,
        requests: [request('r-write', { server: 'github', caller: 'Claude Code', tool: 'delete_branch' }), review],
        prompts: [
          {
            ...prompts.approval,
            server: 'github',
            toolApproval: {
              tool: 'delete_branch',
              title: 'Delete branch',
              destructiveHint: true,
              argumentsJson: '{"repo":"mcphub/site","branch":"main","force":true}',
            },
          },
        ],
      },
    },
  },
  'server': { setup: { snapshot: base, tools: { files: tools } }, act: (opened) => openServer(opened) },
  'result': {
    setup: { snapshot: base, tools: { files: [search] } },
    act: async (opened) => {
      const { by, hub, settle } = opened;
      await openServer(opened);
      await openTool(opened, 'search');
      await by('call').click();
      const { requestId = '' } = (await hub.next('callTool')).callTool;
      await hub.say({ mcpRequestStarted: { request: request(requestId, { tool: 'search', title: 'Search text' }) } });
      const result = {
        content: [
          { type: 'text', text: 'Two of 14 files match.' },
          { type: 'image', mimeType: 'image/png', data: png(320, 90) },
        ],
        structuredContent: { matches: [{ file: 'src/orders/total.ts', line: 31 }], truncated: false },
      };
      await hub.say({ mcpRequestFinished: { ...ended(requestId, result).finished, requestId } });
      await settle();
      await by('result').waitFor();
      await settle();
    },
  },
  'history': { setup: { snapshot: base }, act: ({ by }) => by('ended-h-4').click() },
  'first-start': { setup: { snapshot: {}, surface: { configWrites: true } } },
};

const [folder = '.', ...only] = process.argv.slice(2);
await mkdir(folder, { recursive: true });
const browser = await launchBrowser();
try {
  for (const [name, { setup, act }] of Object.entries(scenes)) {
    if (only.length > 0 && !only.includes(name)) continue;
    const pictures = [];
    for (const theme of themes)
      for (const width of widths) {
        const opened = await openPage({ ...setup, theme, viewport: { width, height } });
        await opened.hub.next('hello');
        await opened.pass(1_000);
        await act?.(opened);
        await opened.settle();
        await opened.page.mouse.move(0, 0);
        pictures.push(
          `<img width="${width}" src="data:image/png;base64,${(await opened.page.screenshot()).toString('base64')}">`,
        );
        await opened.close();
      }
    const page = await browser.newPage({ viewport: { width: 1684, height: 3 * (height + 16) + 16 } });
    await page.setContent(
      `<style>body{margin:16px;background:#777;display:grid;grid-template-columns:300px 420px 900px;gap:16px}</style>${pictures.join('')}`,
    );
    const path = `${folder}/${name}.png`;
    await page.screenshot({ path });
    await page.close();
    await promisify(execFile)('pngquant', ['--force', '--output', path, '48', path]).catch(() => undefined); // smaller
    console.log(name);
  }
} finally {
  await browser.close();
  await stop();
}
