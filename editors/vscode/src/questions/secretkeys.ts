// Under which name the value of a config input is kept. An input belongs to its file: another file with an input of the
// same id gets nothing of it.
import { createHash } from 'node:crypto';

export interface InputName {
  readonly file: string;
  readonly inputId: string;
}

export const secretPrefix = 'mcphub.input.';

/** The key in the editor's secret storage. Paths are hashed: some keyrings bound the length of a key. */
export function secretKey(input: InputName): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([input.file, input.inputId]))
    .digest('hex');
  return secretPrefix + hash.slice(0, 40);
}
