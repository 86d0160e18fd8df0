// Texts of servers are shown as text, and the CSP blocks what it should.

import assert from 'node:assert/strict';
import { mainTest, unfoldAll } from '../harness/pagetest.js';
import { at, cancelled, filesTools, finished, prompts, promptNames, request, server, tool } from '../harness/world.js';

const hostile =
  '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script><b>bold</b>\u202Etxt.exe\u200B\u0007';

/** @type {(text: string, revive: (key: string, member: unknown) => unknown) => unknown} */
const parse = JSON.parse;

/**
 * Returns the value with hostile text in every string that a server or a file can choose.
 *
 * @template T
 * @param {T} value
 * @param {RegExp} names of members to change
 * @returns {T}
 */
function poison(value, names) {
  const poisoned = parse(JSON.stringify(value), (key, member) =>
    typeof member === 'string' && names.test(key) ? `${member} ${hostile}` : member,
  );
  return /** @type {T} */ (poisoned);
}

const free =
  /^(title|description|message|version|lastError|lastExit|instructions|tool|reason|subject|command|issuer|resource|label|text|status)$/;

const poisoned = () => ({
  servers: [
    poison(
      server('files', {
        state: 'SERVER_STATE_FAILED',
        lastError: 'lost',
        lastExit: 'signal 9',
        instructions: 'do',
        stderr: [hostile, 'ok'],
        problems: [{ file: hostile, line: 1, message: 'odd' }],
      }),
      free,
    ),
  ],
  requests: [
    poison(request('r-1', { progress: { progress: 1, total: 2, message: 'at' }, subject: 'x' }), free),
    poison(
      request('r-2', {
        state: 'REQUEST_STATE_TASK_WORKING',
        task: { taskId: hostile, status: 'working', message: 'm' },
      }),
      free,
    ),
  ],
  prompts: promptNames.map((name) => poison(prompts[name], free)),
  problems: [{ file: 'x', line: 1, message: hostile }],
  history: [
    poison(
      finished('h-1', {
        resultJson: JSON.stringify({
          content: [
            { type: 'text', text: hostile },
            { type: 'image', mimeType: 'image/svg+xml', data: 'PHN2Zz4=' },
            { type: 'resource_link', uri: 'javascript:window.pwned=1', name: hostile },
          ],
        }),
        resultSizeBytes: '900',
      }),
      free,
    ),
    poison(
      finished('h-2', {
        state: 'REQUEST_STATE_FAILED',
        mcpError: { code: '-1', message: 'no', dataJson: JSON.stringify(hostile) },
      }),
      free,
    ),
    poison(cancelled('h-3'), free),
  ],
});

mainTest(
  'hostile text makes no element, runs nothing and is shown with its unseen characters escaped',
  { snapshot: poisoned(), tools: { files: [poison(filesTools[0] ?? tool('files', 'x'), free)] } },
  async ({ by, hub, page, settle }) => {
    await by('prompt-p-approval').waitFor();
    await unfoldAll(page);
    await hub.say({
      logMessage: { server: 'files', level: 'info', logger: hostile, dataJson: JSON.stringify(hostile) },
    });
    await hub.say({
      mcpRequestCancelling: {
        requestId: 'r-1',
        server: 'files',
        cancellation: { origin: 'ORIGIN_SERVER', reason: hostile, time: at(0) },
      },
    });
    await hub.say({
      promptClosed: { promptId: 'p-form', cause: 'PROMPT_CAUSE_WITHDRAWN', reason: hostile, origin: 'ORIGIN_SERVER' },
    });
    await settle();
    const found = await page.evaluate(() => ({
      pwned: 'pwned' in window,
      elements: document.querySelectorAll(
        'img[src="x"], body script:not([type="module"]), b, [onerror], a[href^="javascript"]',
      ).length,
      raw: /[\u202E\u200B\u0007]/.exec(document.body.innerText)?.[0] ?? '',
      attributes: [...document.querySelectorAll('*')]
        .flatMap((element) => [...element.attributes])
        .filter(({ value }) => /[\u202E\u0007]/.test(value))
        .map(({ name, ownerElement }) => `${ownerElement?.tagName} ${name}`),
      names: [...document.querySelectorAll('[aria-label], [title]')]
        .map((element) => element.getAttribute('aria-label') ?? '')
        .filter((text) => /[\u202E\u200B]/.test(text)),
    }));
    assert.deepEqual(found, { pwned: false, elements: 0, raw: '', attributes: [], names: [] });
    const text = await page.locator('body').innerText();
    assert.ok(text.includes('<img src=x onerror='), 'the markup is shown as it is written');
    assert.ok(text.includes('⟨U+202E⟩'), 'what turns the direction is shown by its code');
  },
);

mainTest(
  'an injected script does not run, and the page never asks for that',
  { snapshot: { servers: [server('files')] } },
  async ({ by, noise, page, settle }) => {
    await by('server-files').waitFor();
    await page.evaluate(() => {
      const script = document.createElement('script');
      script.textContent = 'window.pwned = 1';
      document.body.append(script);
      const image = document.createElement('div');
      image.setAttribute('onclick', 'window.pwned = 1');
      document.body.append(image);
      image.click();
    });
    await settle();
    assert.equal(await page.evaluate(() => 'pwned' in window), false);
    const reports = noise.splice(0).filter((line) => line.startsWith('CSP: '));
    assert.ok(reports.length >= 2, 'both were reported');
  },
);
