// Sampling with a model of the editor (vscode.lm): the user has seen and perhaps edited the request, the model runs,
// the user sees what it says before the server does.
import * as vscode from 'vscode';
import { HubError } from '@mcphub/host';
import type { Prompt } from '@mcphub/host';
import { describe } from '../hub/hubprocess.js';
import { chooseModel, modelRequest, modelResult, withinTokens, type ModelName } from './modelrequest.js';
import { brief, inMessage, quoted, visible } from '../plaintext.js';
import type { WatcherWindow } from '../hub/watcherwindow.js';

/** What a page offers: more are no choice any more. */
const mostModels = 50;

export class Sampling implements vscode.Disposable {
  readonly #watcher: WatcherWindow;
  readonly #listening: vscode.Disposable;
  #models: readonly ModelName[] = [];

  constructor(watcher: WatcherWindow) {
    this.#watcher = watcher;
    this.#listening = vscode.lm.onDidChangeChatModels(() => void this.look());
  }

  /** The models that could run, for the page. */
  get models(): readonly ModelName[] {
    return this.#models;
  }

  /** Looks which models there are. It may wake up the extension that brings them, so nobody should wait for it long. */
  async look(): Promise<void> {
    try {
      const all = await vscode.lm.selectChatModels();
      this.#models = all.slice(0, mostModels).map(({ id, name, family }) => ({ id, name, family }));
    } catch {
      this.#models = []; // as good as none
    }
  }

  /**
   * JSON text of the result. Rejects, and the prompt stays open, when there is none: no model, its failure, or a no to
   * what it says.
   */
  async run(prompt: Prompt, editedJson: string): Promise<string> {
    const question = prompt.question;
    const requestJson = editedJson !== '' ? editedJson : question.case === 'sampling' ? question.value.requestJson : '';
    const source = new vscode.CancellationTokenSource();
    // Withdrawn, or answered by hand in another window: the model is stopped.
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
        throw new Error(vscode.l10n.t('The editor has no model. Answer by hand, or deny.'));
      }
      const { text, cut } = await vscode.window.withProgress(
        {
          location: vscode.ProgressLocation.Notification,
          cancellable: true,
          title: vscode.l10n.t('{0} answers the server {1}', inMessage(model.name), quoted(prompt.server)),
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
              justification: vscode.l10n.t('The MCP server {0} asks for it.', prompt.server),
              // A hint to those models that know it; what others say beyond it is cut below.
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
        throw new Error(vscode.l10n.t('What the model says was not sent.'));
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

// The first button has the focus, and does not send.
async function reviewed(server: string, model: string, text: string): Promise<boolean> {
  const read = vscode.l10n.t('Read in an Editor');
  const send = vscode.l10n.t('Send');
  const title = vscode.l10n.t('Send what {0} says to the server {1}?', inMessage(model), quoted(server));
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
  return (await vscode.window.showWarningMessage(title, vscode.l10n.t('Do Not Send'), send)) === send;
}
