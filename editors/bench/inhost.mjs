// What VS Code calls inside its extension host: the figures, told to the runner by the console.
import { figures } from './figures.mjs';
import { table } from './table.mjs';

export async function run() {
  // The host's log may cut long lines: one line a row.
  for (const line of table(await figures(process.env))) console.log(`figure: ${line}`);
}
