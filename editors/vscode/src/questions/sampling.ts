// Sampling with a model of the editor (vscode.lm). The user sees and may edit the request, the model runs, and the user
// sees its text before the server gets it.
import * as vscode from 'vscode';
import { chooseModel, HubError } from '@mcphub/host/contract';
import type { ModelName, Prompt, WatcherWindow } from '@mcphub/host/contract';
import { describe } from '../hub/hubprocess.js';
import { modelRequest, modelResult, withinTokens } from './modelrequest.js';
import { brief, inMessage, quoted, visible } from '../plaintext.js';

/** The maximum number of models that a page offers. A longer list is no help. */
const mostModels = 50;

export class Sampling implements vscode.Disposable {
  readonly #watcher: WatcherWindow;
  readonly #listening: vscode.Disposable;
  #models: readonly ModelName[] = [];

  constructor(watcher: WatcherWindow) {
    this.#watcher = watcher;
    this.#listening = vscode.lm.onDidChangeChatModels(() => void this.look());
  }

  /** The available models, for the page. */
  get models(): readonly ModelName[] {
    return this.#models;
  }

  /** Updates the list of models. It may activate the extension that provides them, so do not wait long for it. */
  async look(): Promise<void> {
    try {
      const all = await vscode.lm.selectChatModels();
      this.#models = all.slice(0, mostModels).map(({ id, name, family }) => ({ id, name, family }));
    } catch {
      this.#models = []; // treated as no models
    }
  }

  /**
   * Resolves to the JSON text of the result. Rejects, and the prompt stays open, if there is none: no model, a failure
   * of the model, or the user does not want its text to be sent.
   */
  async run(prompt: Prompt, editedJson: string): Promise<string> {
    const question = prompt.question;
    const requestJson = editedJson !== '' ? editedJson : question.case === 'sampling' ? question.value.requestJson : '';
    const source = new vscode.CancellationTokenSource();
    // If the prompt is withdrawn, or answered in another window, the model is stopped.
    const stop = this.#watcher.listen({
      changed: ({ closed }) => {
        if (closed?.some((c) => c.prompt.promptId === prompt.promptId) === true) {
          source.cancel();
        }
      },
    });
    try {
      const request = modelRequest(requestJson);
      const model = chooseModel(await vscode.lm.selectChatModels(), request.hints);
      if (model === undefined) {
        throw new Error(vscode.l10n.t('The editor has no language model. Answer by hand, or deny.'));
      }
      const { text, cut } = await vscode.window.withProgress(
        {
          location: vscode.ProgressLocation.Notification,
          cancellable: true,
          title: vscode.l10n.t('{0} is answering {1}…', inMessage(model.name), quoted(prompt.server)),
        },
        async (_, token) => {
          token.onCancellationRequested(() => source.cancel());
          const messages = request.turns.map(({ role, text: said }) =>
            role === 'assistant'
              ? vscode.LanguageModelChatMessage.Assistant(said)
              : vscode.LanguageModelChatMessage.User(said),
          );
          const response = await model.sendRequest(
            messages,
            {
              justification: vscode.l10n.t('The MCP server {0} requested this.', prompt.server),
              // A hint for models that support it. The text of other models is cut below.
              ...(request.maxTokens !== undefined && { modelOptions: { max_tokens: request.maxTokens } }),
            },
            source.token,
          );
          return withinTokens(response.text, request.maxTokens, (said) => model.countTokens(said));
        },
      );
      if (source.token.isCancellationRequested) {
        throw new Error(vscode.l10n.t('The model was stopped.'));
      }
      if (!(await reviewed(prompt.server, model.name, text))) {
        throw new Error(vscode.l10n.t('The answer of the model was not sent.'));
      }
      return modelResult(model.id, text, cut ? 'maxTokens' : 'endTurn');
    } catch (error) {
      throw new HubError('failed_precondition', 'SAMPLING_FAILED', describe(error), { cause: error });
    } finally {
      stop();
      source.dispose();
    }
  }

  dispose(): void {
    this.#listening.dispose();
  }
}

// The first button has the focus, so it must not send.
async function reviewed(server: string, model: string, text: string): Promise<boolean> {
  const read = vscode.l10n.t('Open in Editor');
  const send = vscode.l10n.t('Send');
  const title = vscode.l10n.t('Send the answer of {0} to {1}?', inMessage(model), quoted(server));
  const choice = await vscode.window.showWarningMessage(
    title,
    { modal: true, detail: brief(visible(text), 1500) },
    read,
    send,
  );
  if (choice !== read) {
    return choice === send;
  }
  await vscode.window.showTextDocument(
    await vscode.workspace.openTextDocument({ content: text, language: 'markdown' }),
  );
  return (await vscode.window.showWarningMessage(title, vscode.l10n.t('Don’t Send'), send)) === send;
}
