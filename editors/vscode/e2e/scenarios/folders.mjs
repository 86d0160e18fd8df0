import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scenario } from '../stage.mjs';

scenario('a workspace of two folders: the servers of both are there, and both are roots', async (act) => {
  const [one, two] = [act.workspace(), act.workspace()];
  one.brings({ left: { type: 'stdio', command: 'true' } });
  two.brings({ right: { type: 'stdio', command: 'true' } });
  const file = join(one.folder, 'both.code-workspace');
  writeFileSync(file, JSON.stringify({ folders: [{ path: one.folder }, { path: two.folder }] }));
  const page = await (await act.open(file)).openSideBar();
  await page.server('left').waitFor();
  await page.server('right').waitFor();
  await page.call('demo', 'list_roots');
  await page.endedAs('list_roots', /done/i);
  await page.showsResult('list_roots', /2 roots/, one.folder, two.folder);
});
