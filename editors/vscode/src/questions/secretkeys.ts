// The key under which the value of a config input is stored. An input belongs to its file: another file with an input
// of the same id cannot get its value.
import { createHash } from 'node:crypto';

export interface InputName {
  readonly file: string;
  readonly inputId: string;
}

export const secretPrefix = 'mcphub.input.';

/** Returns the key in the editor's secret storage. Paths are hashed, since some keyrings limit the length of a key. */
export function secretKey(input: InputName): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([input.file, input.inputId]))
    .digest('hex');
  return secretPrefix + hash.slice(0, 40);
}
