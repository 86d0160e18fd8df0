// The main tests of the page (mainTest), which `make test` runs: calls and cancels, questions and their ends,
// approvals, the connection, hostile text, and of each section what it is for.
import { plain, suite } from './suite.js';

await suite('the page in Chromium: main tests', plain, (main) => main);
