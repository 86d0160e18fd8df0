// What the linter wants of TypeScript and of the typed JavaScript beside it. `npm run check` asks the compiler.
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

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
