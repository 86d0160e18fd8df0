// What a card shows, and what it does for its kind of prompt.

import assert from 'node:assert/strict';
import { mainTest, pageTest, unfoldAll } from '../harness/pagetest.js';
import { prompts, request, server } from '../harness/world.js';

mainTest(
  'an approval shows the arguments whole, and numbers as they are spelled',
  { snapshot: { prompts: [prompts.approval] } },
  async ({ by }) => {
    const text = await by('prompt-p-approval').innerText();
    for (const part of [
      'write_file',
      'files',
      '/repos/shop/orders.csv',
      'overwrite',
      '9007199254740993',
      '1.0',
      '12.50',
    ])
      assert.ok(text.includes(part), part);
  },
);

pageTest(
  'arguments of 200 KB can be read to the end',
  {
    snapshot: {
      prompts: [
        {
          ...prompts.approval,
          toolApproval: {
            ...prompts.approval.toolApproval,
            argumentsJson: JSON.stringify({ text: 'x'.repeat(200_000), last: 'the very end' }),
          },
        },
      ],
    },
  },
  async ({ by, settle }) => {
    const card = by('prompt-p-approval');
    await card.waitFor();
    await unfoldAll(card);
    await settle();
    assert.ok((await card.textContent())?.includes('the very end'));
  },
);

mainTest(
  'a launch shows all that would be run, word for word',
  { snapshot: { prompts: [prompts.launch] } },
  async ({ by }) => {
    const text = await by('prompt-p-launch').innerText();
    for (const part of [
      'npx',
      '-y',
      'lint-mcp@3',
      '--root',
      '/repos/my shop',
      '/repos/shop',
      'LINT_LEVEL',
      'GITHUB_TOKEN',
      'lint_*',
      '/repos/shop/.vscode/mcp.json',
      'lint-key',
    ])
      assert.ok(text.includes(part), part);
  },
);

// Finding C1: the danger is written in words, not only shown by a colour.
mainTest(
  'a launch shows the program that runs, what is set, and as a danger of its own what loads code',
  {
    snapshot: {
      prompts: [
        {
          ...prompts.launch,
          serverLaunch: {
            ...prompts.launch.serverLaunch,
            resolvedCommand: '/repos/my shop/bin/npx',
            resolvedTarget: '/repos/my shop/evil',
            environmentNames: ['LINT_LEVEL', 'PATH'],
            environment: [
              { name: 'LINT_LEVEL', value: 'strict' },
              { name: 'PATH', value: '/repos/my shop/bin', loadsCode: true },
            ],
          },
        },
      ],
    },
  },
  async ({ by }) => {
    const card = by('prompt-p-launch');
    const text = await card.innerText();
    for (const part of ['/repos/my shop/bin/npx', '/repos/my shop/evil', 'LINT_LEVEL=strict'])
      assert.ok(text.includes(part), part);
    const danger = await card.getByTestId('loads-code').innerText();
    assert.match(danger, /Danger:.*load other code/);
    assert.ok(danger.includes('PATH=/repos/my shop/bin') && !danger.includes('LINT_LEVEL'), danger);
  },
);

mainTest(
  'a URL shows its host large and itself whole, and warns of what is odd',
  {
    snapshot: {
      prompts: [
        {
          ...prompts.url,
          elicitationUrl: {
            ...prompts.url.elicitationUrl,
            url: 'http://user@xn--pypal-4ve.com:8080/a?b=c',
            urlHost: 'xn--pypal-4ve.com',
          },
        },
      ],
    },
  },
  async ({ by }) => {
    const card = by('prompt-p-url');
    const text = await card.innerText();
    assert.ok(text.includes('http://user@xn--pypal-4ve.com:8080/a?b=c'));
    for (const warning of [
      /punycode|xn--|look like|other letters/i,
      /not (use )?https|unencrypted|not encrypted|http:/i,
      /user/i,
      /port/i,
    ])
      assert.match(text.replace('http://user@xn--pypal-4ve.com:8080/a?b=c', ''), warning);
    const sizes = await card.evaluate((element) => {
      const host = [...element.querySelectorAll('*')]
        .filter((one) => one.children.length === 0 && one.textContent === 'xn--pypal-4ve.com')
        .map((one) => Number.parseFloat(getComputedStyle(one).fontSize));
      return { host: Math.max(0, ...host), body: Number.parseFloat(getComputedStyle(document.body).fontSize) };
    });
    assert.ok(sizes.host > sizes.body, 'the host is larger than the text around it');
  },
);

pageTest(
  'in a browser of its own the page opens the address itself, only after the hub has said yes',
  { snapshot: { prompts: [prompts.url] }, surface: { kind: 'web', socket: '/stream', opensUrls: true } },
  async ({ by, hub, page, pass }) => {
    await page
      .context()
      .route('https://pay.example.com/**', (route) => route.fulfill({ body: 'paid', contentType: 'text/plain' }));
    const card = by('prompt-p-url');
    await card.waitFor();
    await pass(700);
    const opening = page.context().waitForEvent('page');
    await card.locator('[data-testid="accept"]').click();
    const popup = await opening;
    const sent = await hub.next('answerPrompt');
    assert.equal(popup.url(), 'about:blank', 'nothing is visited before the answer is taken');
    await hub.reply(sent);
    await popup.waitForURL('https://pay.example.com/checkout?order=81');
    assert.ok(await popup.evaluate(() => window.opener === null), 'the page that is visited cannot reach back');
  },
);

pageTest(
  'an address that the hub refuses is not visited',
  { snapshot: { prompts: [prompts.url] }, surface: { kind: 'web', socket: '/stream', opensUrls: true } },
  async ({ by, hub, page, pass }) => {
    const card = by('prompt-p-url');
    await card.waitFor();
    await pass(700);
    const opening = page.context().waitForEvent('page');
    await card.locator('[data-testid="accept"]').click();
    const popup = await opening;
    const sent = await hub.next('answerPrompt');
    const closing = popup.isClosed() ? Promise.resolve() : popup.waitForEvent('close');
    await hub.reply(sent, { error: { code: 'NOT_FOUND', reason: 'PROMPT_CLOSED', message: 'The prompt is closed.' } });
    await closing;
  },
);

pageTest(
  'in an editor the host opens the address: the page opens nothing',
  { snapshot: { prompts: [prompts.signin] } },
  async ({ by, hub, page, pass }) => {
    const card = by('prompt-p-signin');
    await card.waitFor();
    await pass(700);
    await card.locator('[data-testid="accept"]').click();
    await hub.next('answerPrompt');
    assert.equal(page.context().pages().length, 1);
  },
);

pageTest(
  'a secret is not shown while it is typed, unless the user wants to see it',
  { snapshot: { prompts: [prompts.input] } },
  async ({ by }) => {
    const card = by('prompt-p-input');
    const field = card.locator('input').first();
    assert.equal(await field.getAttribute('type'), 'password');
    assert.match((await field.getAttribute('autocomplete')) ?? '', /off|new-password/);
    await card
      .getByRole('button', { name: /show/i })
      .or(card.getByRole('checkbox', { name: /show/i }))
      .first()
      .click();
    assert.equal(await field.getAttribute('type'), 'text');
  },
);

mainTest(
  'a changed definition is shown as before and after',
  {
    snapshot: {
      prompts: [
        {
          ...prompts.approval,
          toolApproval: {
            ...prompts.approval.toolApproval,
            previousDefinitionJson: '{"description":"Writes a text."}',
            changes: [
              { path: 'description', beforeJson: '"Writes a text."', afterJson: '"Writes text and mails it."' },
            ],
          },
        },
      ],
    },
  },
  async ({ by }) => {
    const text = await by('prompt-p-approval').innerText();
    assert.match(text, /changed this tool since you approved it/);
    for (const part of ['description', 'Writes a text.', 'Writes text and mails it.'])
      assert.ok(text.includes(part), part);
  },
);

pageTest(
  'a deadline that is near is counted down, and a far one is not shown',
  {
    snapshot: {
      prompts: [
        { ...prompts.form, deadline: new Date(Date.parse('2026-10-05T12:20:00Z')).toISOString() },
        { ...prompts.url, deadline: '2026-10-05T12:04:00Z' },
      ],
    },
  },
  async ({ by, pass }) => {
    await by('prompt-p-url').waitFor();
    assert.doesNotMatch(await by('prompt-p-form').innerText(), /closes in/i);
    assert.match(await by('prompt-p-url').innerText(), /closes in 4 min/i);
    await pass(200_000);
    assert.match(await by('prompt-p-url').innerText(), /closes in (3\d|40) s/i);
  },
);

pageTest(
  'a question says which call it belongs to',
  {
    snapshot: {
      servers: [server('booking')],
      requests: [
        {
          requestId: 'r-book',
          server: 'booking',
          tool: 'book_room',
          direction: 'REQUEST_DIRECTION_OUTGOING',
          method: 'tools/call',
          state: 'REQUEST_STATE_AWAITING_INPUT',
        },
      ],
      prompts: [prompts.form],
    },
  },
  async ({ by }) => {
    const text = await by('prompt-p-form').innerText();
    assert.match(text, /booking/);
    assert.match(text, /book_room|call/);
  },
);

pageTest(
  'a message of a role that has the name of what every object has shows that name',
  {
    snapshot: {
      prompts: [
        {
          ...prompts.sampling,
          sampling: {
            requestJson: JSON.stringify({
              messages: [{ role: 'constructor', content: { type: 'text', text: 'Hi.' } }],
              maxTokens: 5,
            }),
          },
        },
      ],
    },
  },
  async ({ by }) => {
    assert.equal(
      await by('prompt-p-sampling').getByRole('list', { name: 'Messages' }).locator('h4').first().innerText(),
      'constructor',
    );
  },
);

pageTest(
  'a card names who asked for the call: the call to approve, and the call that a question comes from',
  {
    snapshot: {
      prompts: [prompts.approval, prompts.form, { ...prompts.url, parentRequestId: 'r-own' }],
      requests: [
        request('r-write', { tool: 'write_file', caller: 'Some <b>agent</b>' }),
        request('r-book', { server: 'booking', tool: 'book', caller: 'A client' }),
        request('r-own', { server: 'booking', tool: 'pay' }),
      ],
    },
  },
  async ({ by }) => {
    assert.match(await by('prompt-p-approval').innerText(), /Some <b>agent<\/b> asks\n/);
    assert.match(await by('prompt-p-form').innerText(), /booking asks, for book, called by A client\n/);
    const own = await by('prompt-p-url').innerText();
    assert.match(own, /booking asks, for pay\n/);
    assert.doesNotMatch(own, /called by/);
  },
);

pageTest(
  'flat arguments are a list of names and values, in which no text passes for another kind of value',
  {
    snapshot: {
      prompts: [
        {
          ...prompts.approval,
          toolApproval: {
            ...prompts.approval.toolApproval,
            argumentsJson: '{"branch":"main","force":true,"said":"true","n":1.50,"end":"x ","none":""}',
          },
        },
      ],
    },
  },
  async ({ by }) => {
    const list = by('prompt-p-approval').locator('dl[aria-label="Arguments"]');
    assert.deepEqual(await list.locator('dt').allInnerTexts(), ['branch', 'force', 'said', 'n', 'end', 'none']);
    assert.deepEqual(await list.locator('dd').allInnerTexts(), ['main', 'true', '"true"', '1.50', '"x "', '""']);
  },
);

pageTest(
  'arguments that a list would not say whole are shown as they are spelled: a name that stands twice, a text like an object',
  {
    snapshot: {
      prompts: ['{"path":"a.txt","path":"/etc/passwd"}', '{"path":"\\u0061.txt"}'].map((argumentsJson, i) => ({
        ...prompts.approval,
        promptId: `p-${i}`,
        toolApproval: { ...prompts.approval.toolApproval, title: 'Read of github', argumentsJson },
      })),
    },
  },
  async ({ by }) => {
    assert.match(await by('prompt-p-0').locator('pre').innerText(), /"path": "a\.txt",\s+"path": "\/etc\/passwd"/);
    assert.match(await by('prompt-p-1').locator('pre').innerText(), /"path": "\\u0061\.txt"/);
    const text = await by('prompt-p-0').innerText();
    assert.match(text, /Server\s+files/, 'a title may claim anything');
    assert.match(text, /Tool\s+write_file/);
  },
);

pageTest(
  'the title of a form is its question, and a long one stands whole below it',
  {
    snapshot: {
      prompts: [
        prompts.form,
        {
          ...prompts.form,
          promptId: 'p-long',
          elicitationForm: { ...prompts.form.elicitationForm, message: `First line\u202e\nSecond ${'x'.repeat(400)}` },
        },
      ],
    },
  },
  async ({ by }) => {
    assert.equal(await by('prompt-p-form').getByRole('heading').first().innerText(), 'Who is the booking for?');
    const long = by('prompt-p-long');
    assert.equal(await long.getByRole('heading').first().innerText(), 'First line⟨U+202E⟩');
    assert.match(await long.locator('.prose').first().innerText(), /Second x{400}/);
  },
);
