// The other tests of the page in Chromium, which the gate runs beside the editor, and those with a real hub.
import { suite } from './suite.js';

await suite(
  'the page in Chromium: more tests',
  (name) => !name.includes('.nightly.'),
  (main) => !main,
);
