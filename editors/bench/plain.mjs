// The figures in plain Node, which has the event loop to itself.
import { figures } from './figures.mjs';
import { machine } from './machine.mjs';
import { table } from './table.mjs';

console.log(`before: ${machine()}`);
figures(process.env).then(
  (rows) => {
    for (const line of [...table(rows), `after: ${machine()}`]) console.log(line);
  },
  (error) => {
    console.error(error);
    process.exitCode = 1;
  },
);
