import assert from 'node:assert/strict';
import { join } from 'node:path';
import { existsSync } from 'node:fs';
import { scenario } from '../stage.mjs';

const everything = join(
  import.meta.dirname,
  '../../../../internal/peers/everything/node_modules/@modelcontextprotocol/server-everything/dist/index.js',
);

scenario(
  'the view shows the servers when it is opened',
  async (act) => {
    const page = await (await act.open(act.workspace())).openSideBar();
    await page.server('demo').waitFor();
  },
  { core: true },
);

scenario(
  'a server of the folder runs only after its launch was allowed, and then its tools can be called',
  async (act) => {
    assert.ok(existsSync(everything), `${everything} is not there: run make peers`);
    const workspace = act.workspace();
    workspace.brings({ everything: { type: 'stdio', command: process.execPath, args: [everything, 'stdio'] } });
    const window = await act.open(workspace);
    const page = await window.openSideBar();
    await page.server('everything').waitFor();
    const listing = page.openTools('everything');
    const launch = page.card(everything);
    await launch.waitFor();
    assert.doesNotMatch(await page.server('everything').innerText(), /\bready\b/i, 'nothing runs before the yes');
    await page.accept(launch);
    await listing;
    await page.serverIs('everything', /ready/i);

    const call = page.call('everything', 'echo', { message: 'from a real editor' });
    await page.accept(page.card('from a real editor'));
    await call;
    await page.endedAs('echo', /done/i);
  },
);
