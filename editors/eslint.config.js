// What the linter wants of TypeScript and of the typed JavaScript beside it. The compiler has its say in `npm run check`.
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

export default defineConfig(globalIgnores(['**/build/', '**/dist/', '**/gen/', 'vscode/media/', '.editors/', 'out/']), {
  files: ['host/**/*.ts', 'vscode/**/*.ts'],
  extends: [tseslint.configs.strictTypeChecked],
  languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
  rules: {
    // A number reads as one; what is refused is what nobody wants to read: objects, undefined.
    '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
    '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
    // prettier keeps code within it; what it cannot break are texts.
    'max-len': [
      'error',
      {
        code: 120,
        ignoreUrls: true,
        ignoreStrings: true,
        ignoreTemplateLiterals: true,
        ignoreRegExpLiterals: true,
      },
    ],
    // node:test waits for its tests by itself.
    '@typescript-eslint/no-floating-promises': [
      'error',
      {
        allowForKnownSafeCalls: [{ from: 'package', package: 'node:test', name: ['test', 'describe', 'it'] }],
      },
    ],
  },
});
