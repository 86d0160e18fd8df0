// Values of config inputs, kept by the editor: in its secret storage, under a name for each input of each file.
import * as vscode from 'vscode';
import type { ConfigInput } from '@mcphub/host';
import { secretKey, type InputName } from './secretkeys.js';

// Which values are kept, without the values: the secret storage cannot be listed by the oldest editor that is
// supported.
const indexKey = 'mcphub.keptInputs';

export class Secrets {
  readonly #storage: vscode.SecretStorage;
  readonly #index: vscode.Memento;

  constructor(context: Pick<vscode.ExtensionContext, 'secrets' | 'globalState'>) {
    this.#storage = context.secrets;
    this.#index = context.globalState;
  }

  kept(): InputName[] {
    return this.#index.get<InputName[]>(indexKey, []);
  }

  /** The value as JSON text of a string, as an answer carries it. */
  async find(input: ConfigInput): Promise<string | undefined> {
    return this.#storage.get(secretKey(nameOf(input)));
  }

  async keep(input: ConfigInput, contentJson: string): Promise<void> {
    const name = nameOf(input);
    await this.#storage.store(secretKey(name), contentJson);
    await this.#index.update(indexKey, [...this.kept().filter((k) => secretKey(k) !== secretKey(name)), name]);
  }

  async forget(name: InputName): Promise<void> {
    await this.#storage.delete(secretKey(name));
    await this.#index.update(
      indexKey,
      this.kept().filter((k) => secretKey(k) !== secretKey(name)),
    );
  }
}

export function nameOf(input: ConfigInput): InputName {
  return { file: input.configFile, inputId: input.inputId };
}
