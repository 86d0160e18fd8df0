// What the linter wants of TypeScript and of the typed JavaScript beside it. `npm run check` asks the compiler.
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

/** What waits for a time instead of for what must come. */
const byTheClock = [
  { selector: 'CallExpression[callee.property.name="waitForTimeout"]', message: 'Wait for what must come.' },
  {
    selector: 'NewExpression[callee.name="Promise"] CallExpression[callee.name="setTimeout"]',
    message: 'Wait for what must come.',
  },
  {
    selector: 'CallExpression[callee.name="setTimeout"] > Identifier[name="resolve"]',
    message: 'Wait for what must come.',
  },
  { selector: 'Property[key.name="timeout"] > Literal', message: 'The one bound of a test is long.' },
  {
    selector: 'CallExpression[callee.property.name="setDefaultTimeout"] > Literal',
    message: 'The one bound of a test is long.',
  },
  {
    selector: 'CallExpression[callee.object.name="AbortSignal"][callee.property.name="timeout"] > Literal',
    message: 'The one bound of a test is long.',
  },
  {
    selector: 'CallExpression[callee.object.name="Math"][callee.property.name="random"]',
    message: 'A seed stands in the test.',
  },
];
const clocks = [
  {
    selector: 'CallExpression[callee.object.name=/^(Date|performance)$/][callee.property.name="now"]',
    message: 'Take a fake clock.',
  },
];
const timers = { name: 'node:timers/promises', message: 'Wait for what must come.' };
const processes = { name: 'node:child_process', message: 'Name the file *.real.test.ts: lane D runs it.' };

export default defineConfig(
  globalIgnores(['**/build/', '**/dist/', '**/gen/', 'vscode/media/', '.editors/', 'out/']),
  {
    files: ['**/*.ts', '**/*.js', '**/*.mjs'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      // A number reads as one; what is refused is what nobody wants to read: objects, undefined.
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      // JavaScript declares a property by its constructor alone.
      '@typescript-eslint/no-extraneous-class': ['error', { allowConstructorOnly: true }],
      // To leave out what is named is how a copy without it is made.
      '@typescript-eslint/no-unused-vars': ['error', { ignoreRestSiblings: true }],
      // node:test waits for its tests by itself.
      '@typescript-eslint/no-floating-promises': [
        'error',
        { allowForKnownSafeCalls: [{ from: 'package', package: 'node:test', name: ['test', 'describe', 'it'] }] },
      ],
    },
  },
  {
    // No verdict of a test depends on how busy the machine is: what must come is waited for, with one long bound, and
    // time passes by a fake clock.
    files: ['host/test/**', 'vscode/test/**', 'vscode/e2e/**', 'webview/test/**'],
    ignores: ['vscode/e2e/otherextension/**', 'vscode/e2e/figures.mjs', '**/*.nightly.*'],
    rules: {
      'no-restricted-syntax': ['error', ...byTheClock],
      '@typescript-eslint/no-restricted-imports': ['error', { paths: [timers] }],
    },
  },
  {
    // Nor does one of these start a process, or read the machine's clock.
    files: ['host/test/*.test.ts', 'vscode/test/*.test.ts', 'webview/test/*.test.js', 'webview/test/specs/**'],
    ignores: ['**/*.real.*', '**/*.nightly.*'],
    rules: {
      'no-restricted-syntax': ['error', ...byTheClock, ...clocks],
      '@typescript-eslint/no-restricted-imports': ['error', { paths: [timers, processes] }],
    },
  },
  {
    // The wait for what sends no event, the bound of a scenario, and the time that a card takes no click.
    files: ['vscode/e2e/until.mjs', 'vscode/e2e/stage.mjs'],
    rules: { '@typescript-eslint/no-restricted-imports': 'off' },
  },
  {
    // What these import is not installed for the check: another package's client, and the editor that runs them. The
    // example's page is a browser's script beside a program of the same name.
    files: ['bench/*.mjs', 'vscode/e2e/otherextension/*.js', 'host/examples/page.js'],
    extends: [tseslint.configs.disableTypeChecked],
    // The editor loads an extension by require.
    rules: { '@typescript-eslint/no-require-imports': ['error', { allow: ['.'] }] },
  },
  {
    // The editor loads an extension by require.
    files: ['examples/agent/*.js'],
    rules: { '@typescript-eslint/no-require-imports': ['error', { allow: ['^vscode$', '^[.]/'] }] },
  },
);
