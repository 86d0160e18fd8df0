// Whole tasks without a mouse: everything can be reached with Tab, and done with Enter, Space and the arrows.

import assert from 'node:assert/strict';
import { mainTest, pageTest } from '../harness/pagetest.js';
import { membersOf } from '../harness/schema.js';
import {
  busySnapshot,
  cancelled,
  filesTools,
  finished,
  formSchema,
  prompts,
  request,
  server,
} from '../harness/world.js';

/** @typedef {import('../harness/pagetest.js').Page} Page */

/**
 * Presses Tab until the focus is on an element that matches the selector.
 *
 * @param {Page} page
 * @param {string} selector
 * @param {'Tab' | 'Shift+Tab'} [key]
 */
async function tabTo(page, selector, key = 'Tab') {
  /** @type {string[]} */
  const passed = [];
  for (let step = 0; step < 80; step++) {
    const there = await page.evaluate((wanted) => {
      const element = document.activeElement;
      return {
        found: element?.matches(wanted) ?? false,
        what: `${element?.tagName} ${element?.getAttribute('data-testid') ?? ''} ${element?.textContent.trim().slice(0, 24)}`,
      };
    }, selector);
    if (there.found) return;
    passed.push(there.what);
    await page.keyboard.press(key);
  }
  assert.fail(`${selector} is not reached by ${key}; on the way: ${passed.slice(0, 40).join(' > ')}`);
}

mainTest(
  'a tool is called by keyboard: open the server, go to the tool, fill the form, call, cancel with a reason',
  { snapshot: { servers: [server('files')] }, tools: { files: filesTools }, viewport: { width: 480, height: 1400 } },
  async ({ by, hub, page, settle }) => {
    await by('server-files').waitFor();
    await tabTo(page, '[data-testid="server-files"] .open');
    await page.keyboard.press('Enter');
    await by('tool-index_folder').waitFor();
    const asked = await hub.next('listTools');
    assert.deepEqual(asked.listTools, { server: 'files', allowCached: true });
    await tabTo(page, '.tools .open');
    await page.keyboard.type('index');
    await page.keyboard.press('Enter');
    await by('call').first().waitFor();
    const path = page.getByRole('textbox', { name: /folder/i }).first();
    await tabTo(page, 'input[type="text"], input:not([type]), textarea');
    for (let step = 0; step < 10 && !(await path.evaluate((element) => element === document.activeElement)); step++)
      await page.keyboard.press('Tab');
    await page.keyboard.type('/repos/shop');
    await tabTo(page, '[data-testid="call"]');
    await page.keyboard.press('Enter');
    const sent = await hub.next('callTool');
    const { requestId, ...call } = sent.callTool;
    assert.match(requestId ?? '', /^[0-9a-f-]{36}$/);
    assert.ok(sent.messageId);
    assert.deepEqual(
      { ...call, argumentsJson: membersOf(call.argumentsJson) },
      { server: 'files', tool: 'index_folder', argumentsJson: { path: '/repos/shop', depth: 3, hidden: false } },
    );
    await hub.say({ mcpRequestStarted: { request: request(requestId ?? '') } });
    await by(`request-${requestId}`).waitFor();
    await tabTo(page, `[data-testid="request-${requestId}"] [data-testid="cancel"]`, 'Shift+Tab');
    // The reason is in the menu beside the button.
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await settle();
    await page.keyboard.type('wrong folder');
    await page.keyboard.press('Enter');
    const cancel = await hub.next('cancelMcpRequest');
    assert.deepEqual(cancel.cancelMcpRequest, { requestId, reason: 'wrong folder' });
  },
);

pageTest(
  'a form is answered by keyboard: invalid first, then valid',
  { snapshot: { servers: [server('booking')], prompts: [prompts.form] } },
  async ({ by, hub, page, pass, settle }) => {
    await by('prompt-p-form').waitFor();
    await pass(700);
    await tabTo(page, '[data-testid="prompt-p-form"] input');
    await page.keyboard.type('A');
    await page.keyboard.press('Tab');
    await page.keyboard.type('no mail');
    await tabTo(page, '[data-testid="accept"]');
    await page.keyboard.press('Enter');
    await settle();
    assert.deepEqual(hub.all('answerPrompt'), []);
    assert.equal(await by('prompt-p-form').locator('[aria-invalid="true"]').count(), 2);
    assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('aria-invalid')), 'true');
    await page.keyboard.press('Control+A');
    await page.keyboard.type('Ada');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Control+A');
    await page.keyboard.type('ada@example.com');
    await tabTo(page, '[data-testid="accept"]');
    await page.keyboard.press('Enter');
    const sent = await hub.next('answerPrompt');
    const content = membersOf(sent.answerPrompt.accept?.contentJson);
    assert.equal(content['name'], 'Ada');
    assert.equal(content['email'], 'ada@example.com');
    assert.ok(Object.keys(content).every((key) => key in formSchema.properties));
  },
);

pageTest(
  'Enter in a field of an approval does not approve',
  { snapshot: { prompts: [prompts.approval, prompts.launch] } },
  async ({ by, hub, page, pass, settle }) => {
    await by('prompt-p-launch').waitFor();
    await pass(700);
    for (const id of ['p-approval', 'p-launch']) {
      for (const field of await by(`prompt-${id}`).locator('input, select').all()) {
        if (!(await field.isVisible())) continue;
        await field.focus();
        await page.keyboard.press('Enter');
      }
    }
    await settle();
    assert.equal(hub.all('answerPrompt').filter((message) => message.answerPrompt?.accept).length, 0);
  },
);

mainTest(
  'a tool is approved and another denied by keyboard',
  {
    snapshot: {
      servers: [server('files')],
      prompts: [prompts.approval, { ...prompts.approval, promptId: 'p-second' }],
    },
  },
  async ({ by, hub, page, pass }) => {
    await by('prompt-p-second').waitFor();
    await pass(700);
    await tabTo(page, '[data-testid="prompt-p-approval"] [data-testid="accept"]');
    await page.keyboard.press('Enter');
    const yes = await hub.next('answerPrompt');
    assert.ok(yes.answerPrompt.accept);
    await hub.reply(yes);
    await hub.say({
      promptClosed: {
        promptId: 'p-approval',
        cause: 'PROMPT_CAUSE_ANSWERED',
        windowId: hub.windowId,
        origin: 'ORIGIN_USER',
      },
    });
    await pass(700);
    await tabTo(page, '[data-testid="prompt-p-second"] [data-testid="decline"]');
    await page.keyboard.press('Space');
    const no = await hub.next('answerPrompt');
    assert.deepEqual(no.answerPrompt, { promptId: 'p-second', decline: {} });
  },
);

pageTest(
  'the history is walked by keyboard: down, up, Home, End, and Enter shows what came of it',
  {
    snapshot: {
      servers: [server('files')],
      history: [
        ...Array.from({ length: 60 }, (_, index) => finished(`h-${index}`, { tool: `tool_${index}` }, index - 100)),
        cancelled('h-last', {}, -1),
      ],
    },
  },
  async ({ by, page, settle }) => {
    await by('history').scrollIntoViewIfNeeded();
    await tabTo(
      page,
      '[data-testid="history"] [aria-posinset], [data-testid="history"] [aria-posinset] *, [data-testid="history"] [role="listbox"]',
    );
    const place = async () => {
      await settle();
      return page.evaluate(() => {
        const element = document.activeElement;
        const active = element?.getAttribute('aria-activedescendant');
        return Number(
          (active ? document.getElementById(active) : element?.closest('[aria-posinset]'))?.getAttribute(
            'aria-posinset',
          ) ?? 0,
        );
      });
    };
    const first = await place();
    assert.ok(first <= 1);
    if (first === 0) await page.keyboard.press('Home');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    assert.equal(await place(), 3);
    await page.keyboard.press('ArrowUp');
    assert.equal(await place(), 2);
    await page.keyboard.press('End');
    assert.equal(await place(), 61);
    await page.keyboard.press('Home');
    assert.equal(await place(), 1);
    await page.keyboard.press('Enter');
    await settle();
    assert.match(await by('ended-details').innerText(), /wrong folder/);
  },
);

pageTest(
  'no key traps the focus: Tab comes to the end of a busy page, and back',
  { snapshot: { ...busySnapshot(), prompts: [prompts.approval, prompts.form] }, tools: { files: filesTools } },
  async ({ by, page, pass }) => {
    await by('prompt-p-form').waitFor();
    await pass(700);
    for (const key of /** @type {const} */ (['Tab', 'Shift+Tab'])) {
      let last = '';
      let same = 0;
      for (let step = 0; step < 200; step++) {
        await page.keyboard.press(key);
        const where = await page.evaluate(() => {
          const element = document.activeElement;
          return element && element !== document.body
            ? [...document.querySelectorAll('*')].indexOf(element).toString()
            : '';
        });
        if (where === '') break;
        same = where === last ? same + 1 : 0;
        assert.ok(same < 2, `${key} does not leave ${where}`);
        last = where;
        assert.notEqual(step, 199, 'Tab never comes to the end');
      }
    }
  },
);
