// Makes the animated picture of the extension's README, docs/images/loop.png: a call runs, a server asks and withdraws
// its question, the call is cancelled with a reason, and the history shows who cancelled it.

import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { animated } from './harness/apng.js';
import { openPage, stop } from './harness/pagetest.js';
import { at, cancelled, prompts, request, server } from './harness/world.js';

const target = fileURLToPath(new URL('../../../docs/images/loop.png', import.meta.url));
const opened = await openPage({
  theme: 'dark',
  viewport: { width: 440, height: 620 },
  place: 'editor',
  snapshot: {
    servers: [server('files'), server('booking')],
    requests: [
      request('r-1', { argumentsPreview: 'path: "/repos/shop"' }),
      request('r-2', { server: 'booking', tool: 'book' }),
    ],
  },
});
/** @type {{ png: Buffer, ms: number }[]} */
const frames = [];
try {
  const { by, hub, page, pass } = opened;
  /** @param {number} ms */
  const shoot = async (ms) => {
    await opened.settle();
    frames.push({ png: await page.screenshot(), ms });
  };
  /** @param {number} progress */
  const work = async (progress) => {
    await hub.say({
      mcpRequestProgressed: {
        requestId: 'r-1',
        server: 'files',
        state: 'REQUEST_STATE_RUNNING',
        progress: { progress, total: 1000, message: `${progress} of 1000 files` },
      },
    });
    await pass(1_000);
  };
  await hub.next('hello');
  await pass(1_000);
  await work(160);
  await shoot(1_000);
  await work(310);
  await shoot(900);
  await hub.say({ promptOpened: { prompt: { ...prompts.form, requestId: 'r-ask', parentRequestId: 'r-2' } } });
  await work(420);
  await shoot(2_200);
  await hub.say({
    promptClosed: {
      promptId: 'p-form',
      cause: 'PROMPT_CAUSE_WITHDRAWN',
      reason: 'it was found elsewhere',
      origin: 'ORIGIN_SERVER',
    },
  });
  await work(560);
  await shoot(2_200);
  await by('request-r-1').getByTestId('cancel-more').click();
  await by('cancel-with-reason').click();
  await by('request-r-1').getByRole('textbox').pressSequentially('wrong folder');
  await work(640);
  await shoot(1_600);
  await by('request-r-1').getByRole('textbox').press('Enter');
  await page.mouse.move(2, 2);
  const cancellation = { origin: 'ORIGIN_USER', reason: 'wrong folder', time: at(1) };
  await hub.say({
    mcpRequestCancelling: { requestId: 'r-1', server: 'files', cancellation: /** @type {object} */ (cancellation) },
  });
  await pass(1_000);
  await shoot(1_200);
  const { cancelled: end } = cancelled('r-1', { cancellation: /** @type {object} */ (cancellation) }, 2);
  if (end) await hub.say({ mcpRequestCancelled: end });
  await pass(1_000);
  await shoot(3_000);
} finally {
  await opened.close();
  await stop();
}
await writeFile(target, animated(frames));
console.log(`${target}: ${frames.length} pictures`);
