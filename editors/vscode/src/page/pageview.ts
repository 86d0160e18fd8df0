// The page in a webview: its HTML, and its relay to the hub. The side bar and the panel differ only in the container of
// the webview.
import { setTimeout as elapsed } from 'node:timers/promises';
import * as vscode from 'vscode';
import { pageHtml } from '@mcphub/page';
import type { Hub, Relay, RelayOptions, Root } from '@mcphub/host/contract';
import type { Answers } from '../questions/answers.js';
import { demoFile, demoName } from '../begin/demoserver.js';
import { describe, type HubProcess } from '../hub/hubprocess.js';
import type { Output } from '../log/output.js';
import type { Frames } from './frames.js';
import type { Sampling } from '../questions/sampling.js';
import { openOf, type Thing } from '../views/thing.js';
import { chooseBundle, chooseRegistry } from './finding.js';

/**
 * The maximum time in milliseconds that the page waits for the list of the editor's models: asking for it may start
 * another extension.
 */
const longestLook = 500;

/** The commands to which the page may link. Each one checks its arguments, since the page shows texts of servers. */
export const pageCommands = [
  'mcphub.open',
  'mcphub.focusView',
  'mcphub.showQuestion',
  'mcphub.addServer',
  'mcphub.openConfig',
  'mcphub.showTrace',
  'mcphub.showLogs',
  'mcphub.restartHub',
  'mcphub.openResource',
  'mcphub.insertPromptText',
  'mcphub.promptTextToChat',
  'mcphub.saveContent',
  'mcphub.openPart',
  'mcphub.savePart',
  'mcphub.copyPart',
  'mcphub.compareResults',
  'mcphub.saveReport',
  'mcphub.getStarted',
  'mcphub.createConfig',
  'mcphub.addDemoServer',
  'mcphub.removeDemoServer',
] as const;

/**
 * Those of them that the page runs by itself, with a message: links are for clicks of a person. They show something,
 * and change nothing.
 */
const shownByPage: readonly unknown[] = ['mcphub.open', 'mcphub.focusView', 'mcphub.showQuestion', 'mcphub.addServer'];

/** What the form that adds a server begins with. */
export interface Proposed {
  readonly bundle?: string;
  readonly entryText?: string;
}

export interface PageWorld {
  readonly extensionUri: vscode.Uri;
  readonly process: HubProcess;
  readonly answers: Answers;
  readonly sampling: Sampling;
  readonly frames: Pick<Frames, 'addresses'>;
  readonly output: Output;
  readonly roots: () => readonly Root[];
}

/**
 * Connects a webview to the hub until it is disposed. `windowId` stays the same over a reload, so that the requests and
 * prompts of the window return with it.
 */
export class PageView implements vscode.Disposable {
  readonly #world: PageWorld;
  readonly #webview: vscode.Webview;
  readonly #windowId: string;
  readonly #shows: 'all' | 'now' | 'opened';
  readonly #subscriptions: vscode.Disposable;
  readonly #inViewChanged = new vscode.EventEmitter<void>();
  readonly onDidChangeInView = this.#inViewChanged.event;
  #inView: ReadonlySet<string> = new Set();
  readonly #toDo = new Map<string, (relay: Relay) => void>(); // of each kind the last, kept until there is a hub
  #bundle: string | undefined; // the bundle that a person has chosen already
  #relay: Relay | undefined;
  #disconnect: () => void = () => undefined;
  #disposed = false;

  constructor(world: PageWorld, webview: vscode.Webview, windowId: string, shows: 'all' | 'now' | 'opened' = 'all') {
    this.#shows = shows;
    this.#world = world;
    this.#webview = webview;
    this.#windowId = windowId;
    webview.options = {
      enableScripts: true,
      enableForms: true,
      localResourceRoots: [pageFolder(world.extensionUri)],
      enableCommandUris: pageCommands,
    };
    this.#subscriptions = vscode.Disposable.from(
      world.process.onDidStart((hub) => this.#reconnect(hub)),
      webview.onDidReceiveMessage(runOrder),
    );
    if (world.process.started !== undefined) {
      this.#reconnect(world.process.started);
    }
    this.#draw();
  }

  /** Ids of the prompts whose cards are in view, as far as the page knows. The page itself may be covered. */
  get inView(): ReadonlySet<string> {
    return this.#inView;
  }

  /** Brings the card of a prompt into view; '' means the oldest open prompt. */
  reveal(promptId: string): void {
    this.#do('reveal', (relay) => relay.reveal(promptId));
  }

  /** Opens one thing on the page. */
  open(thing: Thing): void {
    this.#do('open', (relay) => relay.open(openOf(thing)));
  }

  /** Opens the page's form that adds a server: for a bundle, or filled from a text, if one is given. */
  openAddServer({ bundle, entryText = '' }: Proposed = {}): void {
    this.#bundle = bundle;
    this.#do('add', (relay) => relay.openAddServer(bundle === undefined ? { entryText } : { bundle: true }));
  }

  #do(what: string, act: (relay: Relay) => void): void {
    if (this.#relay === undefined) {
      this.#toDo.set(what, act);
    } else {
      act(this.#relay);
    }
  }

  /** Must be called when the workspace folders have changed. */
  rootsChanged(): void {
    this.#relay?.setRoots([...this.#world.roots()]);
  }

  /**
   * Must be called when the editor has disposed the webview. At a reload this may happen long before the editor ends
   * this extension host, and then the window of the page comes back: nothing tells whether it will. So the window
   * leaves as if this extension host had ended, and the hub waits for it as it does then.
   */
  webviewGone(): void {
    this.#relay?.leave();
    this.#inView = new Set();
    this.dispose();
  }

  dispose(): void {
    this.#disposed = true;
    this.#subscriptions.dispose();
    this.#inViewChanged.dispose();
    this.#disconnect();
  }

  #reconnect(hub: Hub): void {
    this.#disconnect();
    this.#disconnect = this.#connect(hub);
  }

  #connect(hub: Hub): () => void {
    const subscriptions: vscode.Disposable[] = [];
    const relay = hub.relay(
      {
        // Rejects if the webview or the whole editor is closing: then there is no page to tell.
        post: (message) => void this.#webview.postMessage(message).then(undefined, () => undefined),
        onMessage: (listener) => {
          const subscription = this.#webview.onDidReceiveMessage((message: unknown) => {
            if (orderOf(message) === undefined) {
              listener(message);
            }
          });
          subscriptions.push(subscription);
          return () => {
            subscription.dispose();
          };
        },
      },
      this.#relayOptions(),
    );
    this.#relay = relay;
    this.#toDo.forEach((act) => act(relay));
    this.#toDo.clear();
    return () => {
      this.#relay = undefined;
      relay.dispose();
      vscode.Disposable.from(...subscriptions).dispose();
    };
  }

  #relayOptions(): RelayOptions {
    const { answers, roots } = this.#world;
    return {
      // The extension knows better which window the page is, and which folders are open.
      hello: (said) => ({ ...said, windowId: this.#windowId, roots: [...roots()] }),
      inView: (promptIds) => {
        this.#inView = new Set(promptIds);
        this.#inViewChanged.fire();
      },
      registry: chooseRegistry,
      chooseBundle: () => {
        const chosen = this.#bundle;
        this.#bundle = undefined;
        return chosen === undefined ? chooseBundle() : Promise.resolve(chosen);
      },
      configWrites: true, // a person uses the page: this extension never acts in it by itself
      answer: (answer, prompt) => answers.prepare(answer, prompt),
      answered: (answer, prompt) => answers.taken(answer, prompt),
    };
  }

  #draw(): void {
    this.#fill().catch((error: unknown) => this.#cannotFill(error));
  }

  async #fill(): Promise<void> {
    const folder = pageFolder(this.#world.extensionUri);
    // The page is drawn only once: a page that is drawn over another one would take the other's hello for its own. A
    // model that becomes known later is offered when the page is opened again.
    const [apps] = await Promise.all([
      this.#world.frames.addresses(),
      Promise.race([this.#world.sampling.look(), elapsed(longestLook)]),
    ]);
    const { models } = this.#world.sampling;
    const model = models[0]?.name;
    const html = await pageHtml({
      folder: folder.fsPath,
      cspSource: this.#webview.cspSource,
      base: `${this.#webview.asWebviewUri(folder).toString()}/`,
      surface: {
        kind: 'vscode',
        ...(this.#shows === 'all' ? {} : { shows: this.#shows }),
        opensUrls: false,
        commands: pageCommands,
        configWrites: true,
        language: vscode.env.language,
        demo: { server: demoName, file: demoFile },
        ...(model === undefined ? {} : { model, models }),
        ...(apps.length === 0 ? {} : { apps }),
      },
    });
    if (!this.#disposed) {
      this.#webview.html = html;
    }
  }

  #cannotFill(error: unknown): void {
    this.#world.output.hub.error(`The page could not be drawn: ${describe(error)}`);
    if (!this.#disposed) {
      const text = vscode.l10n.t('The page could not be drawn: see the log of McpHub, or install the extension again.');
      this.#webview.html = `<!DOCTYPE html><html><body><p>${text}</p></body></html>`;
    }
  }
}

/** Returns the command that a message of the page is to run, or undefined if the message is for the hub. */
function orderOf(message: unknown): { readonly command?: unknown; readonly args?: unknown } | undefined {
  const { runCommand } = Object(message) as { runCommand?: object };
  return runCommand;
}

function runOrder(message: unknown): void {
  const { command, args } = orderOf(message) ?? {};
  if (shownByPage.includes(command) && Array.isArray(args)) {
    void vscode.commands.executeCommand(String(command), ...(args as unknown[]));
  }
}

function pageFolder(extensionUri: vscode.Uri): vscode.Uri {
  return vscode.Uri.joinPath(extensionUri, 'media', 'page');
}
