// What the page shows of a server: its state in the row, and in the details its era, its last error and its output.

import assert from 'node:assert/strict';
import { mainTest, pageTest } from '../harness/pagetest.js';
import { server } from '../harness/world.js';

const setup = {
  snapshot: {
    servers: [
      server('files', {
        protocolRevision: '2025-06-18',
        era: 'ERA_LEGACY',
        stderr: ['reading /repos/shop', 'ready'],
        lastError: 'it had lost its connection',
        place: 1,
      }),
      server('docs', {
        protocolRevision: '2026-07-28',
        era: 'ERA_MODERN',
        transport: 'SERVER_TRANSPORT_HTTP',
        url: 'https://docs.example',
        command: '',
        place: 2,
      }),
      server('broken', {
        state: 'SERVER_STATE_GIVEN_UP',
        processId: 0,
        failures: 5,
        lastError: 'it ended with status 3 before it answered',
        lastExit: 'status 3',
        stderr: ['no token: set TOKEN'],
        place: 3,
      }),
    ],
  },
};

mainTest(
  'a server shows its state, and opened its era, its last error and its stderr',
  setup,
  async ({ by, settle }) => {
    await settle();
    assert.match(await by('server-files').innerText(), /files\s+Running/);
    assert.match(
      await by('server-broken').innerText(),
      /broken\s+Error, given up.*5 failures in a row\s+it ended with status 3/s,
      'what went wrong is there without a click',
    );
    assert.doesNotMatch(
      await by('server-files').innerText(),
      /lost its connection/,
      'an old error is no news of a server that is ready',
    );

    for (const name of ['files', 'docs', 'broken']) await by(`server-${name}`).getByRole('button').first().click();
    await settle();
    const details = (/** @type {string} */ name) => by(`server-${name}`).getByTestId('server-details');
    assert.equal(await details('broken').getAttribute('open'), '', 'it says why it does not run');
    for (const name of ['files', 'docs']) {
      assert.equal(await details(name).getAttribute('open'), null, 'tools first');
      await details(name).locator('summary').first().click();
    }
    await settle();
    assert.match(await by('server-files').innerText(), /2025-06-18 · legacy/);
    assert.match(await by('server-files').innerText(), /Last error\s+it had lost its connection/);
    assert.match(await by('server-docs').innerText(), /2026-07-28 · modern/);
    assert.match(await by('server-docs').innerText(), /Streamable HTTP · https:\/\/docs\.example/);
    assert.match(await by('server-broken').innerText(), /Last exit\s+status 3/);

    await by('server-broken').getByText('What broken writes to stderr (1)').click();
    // The browser reports the unfolding a moment after the click, and the page draws the contents only then.
    await by('server-broken')
      .getByRole('region', { name: 'What broken writes to stderr' })
      .filter({ hasText: /^no token: set TOKEN$/ })
      .waitFor();
  },
);

pageTest('what a server writes later stands behind what it wrote before', setup, async ({ by, hub, settle }) => {
  await by('server-files').getByRole('button').first().click();
  await hub.say({ logMessage: { server: 'files', level: 'stderr', dataJson: '"slow disk"' } });
  await settle();
  await by('server-files').getByText('What files writes to stderr (3)').click();
  await by('server-files')
    .getByRole('region', { name: 'What files writes to stderr' })
    .filter({ hasText: /^reading \/repos\/shop\s+ready\s+slow disk$/ })
    .waitFor();
});

// A name that two config files of different scopes have: both entries are listed, and the details of one explain its
// name.
const both = [
  server('notes', { configName: 'notes', configScope: 'workspace' }),
  server('notes@user', { configName: 'notes', configScope: 'user' }),
];
pageTest(
  'of two servers of one name both are listed, and orders are for the one that is meant',
  { snapshot: { servers: both } },
  async ({ by, hub, settle }) => {
    await by('server-notes@user').getByRole('button').first().click();
    await by('server-notes@user').getByText('Details', { exact: true }).click();
    await settle();
    const text = await by('server-notes@user').innerText();
    assert.match(text, /notes, which another entry has by itself: calls for notes@user reach this one/);
    await by('server-notes').getByRole('button').first().click();
    await by('server-notes').getByText('Details', { exact: true }).click();
    await settle();
    assert.doesNotMatch(await by('server-notes').innerText(), /which another entry has by itself/);
    await by('server-notes@user')
      .getByRole('button', { name: /^Disable/ })
      .click();
    const sent = await hub.next('setServerEnabled');
    assert.deepEqual(sent.setServerEnabled, { server: 'notes@user', enabled: false });
  },
);

// Finding C3: a workspace's entry does not replace the user's before the user has agreed.
const waiting = server('shared', {
  configFile: '/config/mcp.json',
  configLine: 2,
  waitingForConsent: [{ file: '/repos/shop/.mcp.json', line: 7, scope: 'workspace' }],
});
pageTest(
  'an entry of the workspace that waits for a yes is told of, and can be looked at',
  { snapshot: { servers: [waiting] } },
  async ({ by, hub, settle }) => {
    assert.match(await by('server-shared').innerText(), /another entry waits for your consent/);
    await by('server-shared').getByRole('button').first().click();
    await settle();
    assert.match(await by('server-shared').innerText(), /\/repos\/shop\/\.mcp\.json:7/);
    await by('review-entry').click();
    const sent = await hub.next('startServer');
    assert.deepEqual(sent.startServer, { server: 'shared', workspaceEntry: true });
  },
);
