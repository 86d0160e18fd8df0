// A tool changes while the user fills in its form: the input and the focus stay.

import assert from 'node:assert/strict';
import { mainTest, pageTest } from '../harness/pagetest.js';
import { server, tool } from '../harness/world.js';

const schema = { type: 'object', properties: { path: { type: 'string' }, count: { type: 'integer' } } };
const before = tool('files', 'index', schema, { policy: 'APPROVAL_POLICY_ASK', definitionHash: 'one' });

/** @typedef {import('../harness/pagetest.js').Opened} Opened */

/** Opens the tool and begins to type. @param {Opened} opened */
async function begin({ by, settle }) {
  await by('server-files').getByRole('button').first().click();
  await by('tool-index').getByRole('button').first().click();
  await settle();
  await by('tool-index').getByLabel('path').pressSequentially('/repos/sh');
}

/** @param {Opened} opened @param {import('../../../host/src/gen/mcphub/v1/server_pb.js').ToolJson} now */
async function change({ hub, settle }, now) {
  hub.tools = { files: [now] };
  const listed = hub.all('listTools').length;
  await hub.say({ toolsChanged: { server: 'files' } });
  while (hub.all('listTools').length === listed) await settle();
  await settle();
}

const setup = { snapshot: { servers: [server('files')] }, tools: { files: [before] } };

pageTest('a policy that changes leaves what is being typed alone', setup, async (opened) => {
  await begin(opened);
  await change(opened, { ...before, policy: 'APPROVAL_POLICY_ALLOW' });
  await opened.page.keyboard.type('op');
  assert.equal(await opened.by('tool-index').getByLabel('path').inputValue(), '/repos/shop');
  await opened.page.keyboard.press('Escape');
  assert.match(await opened.by('server').innerText(), /its tools run without asking/);
});

mainTest(
  'a definition that changes keeps the tool open, what was typed and the focus, and says so',
  setup,
  async (opened) => {
    const { by, focused } = opened;
    await begin(opened);
    await change(
      opened,
      tool(
        'files',
        'index',
        { ...schema, properties: { ...schema.properties, deep: { type: 'boolean' } } },
        { definitionHash: 'two' },
      ),
    );
    assert.equal(await by('tool-index').getByLabel('path').inputValue(), '/repos/sh');
    await by('tool-index').getByLabel('deep').waitFor();
    await by('tool-index').getByText('The server has changed this tool.').waitFor();
    assert.match(await focused(), /^h2 index/);
  },
);

pageTest('a definition that changes keeps JSON that is only half typed', setup, async (opened) => {
  const { by } = opened;
  await begin(opened);
  await by('tool-index').getByRole('button', { name: 'Edit as JSON' }).click();
  await by('tool-index').getByLabel('All values as JSON').fill('{"path": "/repos/sh');
  await change(
    opened,
    tool(
      'files',
      'index',
      { ...schema, properties: { ...schema.properties, deep: { type: 'boolean' } } },
      { definitionHash: 'two' },
    ),
  );
  await by('tool-index').getByText('The server has changed this tool.').waitFor();
  assert.equal(await by('tool-index').getByLabel('All values as JSON').inputValue(), '{"path": "/repos/sh');
});

pageTest('a tool of an earlier connection is no longer called so once it was listed', setup, async (opened) => {
  const { hub, by, settle } = opened;
  hub.tools = { files: [{ ...before, cached: true }] };
  await begin(opened);
  const about = by('tool-index').locator('details');
  await about.locator('summary').click();
  assert.match(await about.innerText(), /from an earlier connection/);
  await change(opened, before);
  assert.doesNotMatch(await about.innerText(), /Definition|earlier connection/);
  await change(opened, { ...before, cached: true });
  assert.match(await about.innerText(), /from an earlier connection/);
  await settle();
});

pageTest('a tool that goes makes room for its server', setup, async (opened) => {
  await begin(opened);
  await change(opened, tool('files', 'other', schema));
  assert.match(await opened.focused(), /^h2 files/);
  await opened.by('tool-other').waitFor();
});
