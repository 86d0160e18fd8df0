// What VS Code calls inside its extension host: the figures, told to the runner by the console.
import { figures } from './figures.mjs';
import { machine } from './machine.mjs';
import { table } from './table.mjs';

export async function run() {
  const before = machine();
  const rows = await figures(process.env);
  // The host's log may cut long lines: one line a row.
  for (const line of [`before: ${before}`, ...table(rows), `after: ${machine()}`]) console.log(`figure: ${line}`);
}
