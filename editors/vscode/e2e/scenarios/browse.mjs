import { fileURLToPath } from 'node:url';
import { scenario } from '../stage.mjs';
import { until } from '../until.mjs';

/** The everything server of the MCP project. `make peers` installs it. */
const everything = fileURLToPath(
  new URL(
    '../../../../internal/peers/everything/node_modules/@modelcontextprotocol/server-everything/dist/index.js',
    import.meta.url,
  ),
);

scenario(
  'resources and prompts of somebody else’s server: a template with its values, a document that follows its changes, a prompt with arguments that depend on each other',
  async (act) => {
    const workspace = act.workspace();
    workspace.brings({
      everything: {
        type: 'stdio',
        era: 'legacy',
        command: process.execPath,
        args: [everything],
        alwaysAllow: ['toggle-subscriber-updates'],
      },
    });
    const window = await act.open(workspace);
    const page = await window.openSideBar();
    const listing = page.openTools('everything');
    await page.accept(page.card('everything'));
    await listing;
    for (const list of [/^Resources/, /^Resource Templates/, /^Prompts/]) await window.row('Servers', list);

    const input = window.quickPick.locator('.quick-input-box input');
    /**
     * Types into the pick list with this title, and clicks the row with this name when it comes.
     *
     * @param {string | RegExp} title
     * @param {string} text
     * @param {string} row
     */
    const take = async (title, text, row) => {
      await window.quickPick.filter({ hasText: title }).waitFor();
      await input.fill(text);
      const found = window.quickPick.locator('.monaco-list-row').filter({ hasText: row }).first();
      await found.locator('.label-name').first().click(); // a tooltip covers what is beside the name
    };

    await window.runCommand('McpHub: Open Resource...');
    await take('Select a Server', 'everything', 'everything');
    await take('Select a Resource of everything', 'Dynamic Text', 'Dynamic Text');
    await take('(1 of 1)', '7', '7');
    await window.editorShows(/Resource.7:.This.is.a.plaintext.resource/u);
    const lines = window.page.locator('.part.editor .view-line');
    const before = await lines.first().innerText();

    await page.call('everything', 'toggle-subscriber-updates');
    await page.endedAs('toggle-subscriber-updates', /done/i);
    await window.page.locator('.part.editor .tabs-container .tab').first().click();
    await until(
      'the document is read anew when its server says that it has changed',
      async () => /^Resource/.test(await lines.first().innerText()) && (await lines.first().innerText()) !== before,
    );

    await window.runCommand('McpHub: Insert Resource...');
    await take('Select a Server', 'everything', 'everything');
    await take('Select a Resource of everything', 'Dynamic Text', 'Dynamic Text');
    await take('(1 of 1)', '8', '8');
    await take('Insert Resource: Select a Destination', 'New', 'Open in a new editor');
    await window.editorShows(/Resource.8:.This.is.a.plaintext.resource/u);

    await window.runCommand('McpHub: Insert Prompt...');
    await take('Select a Server', 'everything', 'everything');
    await take('Select a Prompt of everything', 'Team', 'Team Management');
    await window.quickPick.filter({ hasText: 'department (1 of 2)' }).waitFor();
    await input.fill('Sa');
    // The row of what was typed comes a moment later, and moves the others: before that a click hits another row.
    await window.quickPick.getByRole('option', { name: 'Sa', exact: true }).waitFor();
    await window.quickPick.getByRole('option', { name: 'Sales', exact: true }).click();
    await take('name (2 of 2)', '', 'Eve');
    await take('Insert Prompt: Select a Destination', 'New', 'Open in a new editor');
    await window.editorShows(/Please.promote.Eve.to.the.head.of.the.Sales.team/u);

    await window.row('History', /completable-prompt/);
    await window.row('History', /demo:\/\/resource\/dynamic\/text\/7/);
  },
);
