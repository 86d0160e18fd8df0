// The figures in plain Node, which has the event loop to itself.
import { figures } from './figures.mjs';
import { table } from './table.mjs';

figures(process.env).then(
  (rows) => { for (const line of table(rows)) console.log(line); },
  (error) => { console.error(error); process.exitCode = 1; },
);
