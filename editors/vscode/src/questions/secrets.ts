// Stores values of config inputs in the editor's secret storage, with a key for each input of each file.
import * as vscode from 'vscode';
import type { ConfigInput } from '@mcphub/host/contract';
import { secretKey, type InputName } from './secretkeys.js';

// Lists the stored inputs without their values, since the oldest supported editor cannot list its secret storage.
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

  /** Returns the value as the JSON text of a string, as an answer carries it. */
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
