// Lenses over the servers in the config files that the hub reads, with their states and actions. They use the hub's
// data; of the document they only read lines.
import path from 'node:path';
import * as vscode from 'vscode';
import { ServerState } from '@mcphub/host/contract';
import type { Server, WatcherWindow } from '@mcphub/host/contract';
import { editorReads } from '../config/editorreads.js';
import { setting, type HubProcess } from '../hub/hubprocess.js';
import { inPick } from '../plaintext.js';
import { entriesByFile, lineOf, type Entry } from './entries.js';
import { actionsOf, lensTitle } from './lenswords.js';

/** Milliseconds without a change before the lenses are updated, since changes often come in groups. */
const calm = 150;

export class Lenses implements vscode.Disposable, vscode.CodeLensProvider {
  readonly #watcher: WatcherWindow;
  readonly #process: HubProcess;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #disposables: vscode.Disposable[];
  readonly onDidChangeCodeLenses = this.#changed.event;
  #entries: ReadonlyMap<string, readonly Entry[]> = new Map();
  #registered: { readonly files: string; readonly registration: vscode.Disposable } | undefined;
  #toolCounts = new Map<string, number | undefined>(); // by name and incarnation; undefined until it comes
  #drawn = ''; // what the lenses said when the editor was last told to draw them anew
  #timer: NodeJS.Timeout | undefined;

  constructor(watcher: WatcherWindow, process: HubProcess) {
    this.#watcher = watcher;
    this.#process = process;
    const stop = watcher.listen({
      changed: ({ servers }) => servers === true && this.#soon(),
      event: ({ event }) => {
        if (event.case === 'toolsChanged') {
          this.#toolCounts = new Map(); // what was requested before is of the tools before
          this.#drawn = '';
          this.#soon();
        }
      },
    });
    this.#disposables = [
      new vscode.Disposable(stop),
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration('mcphub.codeLens')) {
          this.#soon();
        }
      }),
    ];
    this.#soon();
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#registered?.registration.dispose();
    this.#changed.dispose();
    vscode.Disposable.from(...this.#disposables).dispose();
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    return (this.#entries.get(document.uri.fsPath) ?? []).flatMap((entry) => {
      const line = lineOf(document, entry);
      if (line === undefined) return [];
      return lensesOf(entry, new vscode.Range(line, 0, line, 0), this.#toolCount(entry.server));
    });
  }

  #soon(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#anew(), calm).unref();
  }

  /** Registers the provider only for files that have lenses, so that the editor does not ask for others. */
  #anew(): void {
    const on = setting<boolean>('codeLens', true);
    this.#entries = on ? entriesByFile(this.#watcher.standing.servers.values()) : new Map();
    const names = [...this.#entries.keys()].sort();
    const files = JSON.stringify(names);
    if (this.#registered?.files !== files) {
      this.#registered?.registration.dispose();
      const registration =
        names.length === 0
          ? new vscode.Disposable(() => undefined)
          : vscode.languages.registerCodeLensProvider(names.map(selectorOf), this);
      this.#registered = { files, registration };
    }
    // A click is lost while the editor draws lenses anew: so not for what they do not say, such as a line of stderr.
    const drawn = JSON.stringify([...this.#entries].map(([name, entries]) => [name, entries.map(drawnOf)]));
    if (this.#drawn !== drawn) {
      this.#drawn = drawn;
      this.#changed.fire();
    }
  }

  /**
   * Returns the number of tools, if it is known. It is requested when it is to be shown, and the lenses are drawn anew
   * when it comes. No lens is left for the editor to resolve: what is resolved late was written over the lenses that
   * had taken its place, so that a server that was stopped stayed "Ready" for good (VS Code 1.139).
   */
  #toolCount(server: Server): number | undefined {
    if (server.state !== ServerState.READY) {
      return undefined;
    }
    const counts = this.#toolCounts;
    const key = JSON.stringify([server.name, String(server.incarnation), server.processId]);
    if (!counts.has(key)) {
      counts.set(key, undefined);
      this.#process.hub.servers.listTools({ server: server.name, allowCached: true }).then(
        ({ tools }) => {
          counts.set(key, tools.length);
          if (this.#toolCounts === counts) this.#changed.fire();
        },
        () => counts.delete(key), // without the number, the lens is still useful
      );
    }
    return counts.get(key);
  }
}

/** Selects a file by its exact name: the special characters of a glob pattern are escaped. */
function selectorOf(file: string): vscode.DocumentFilter {
  const name = path
    .basename(file)
    .replaceAll(/[[\]{}*?!,]/gu, (sign) => (sign === '!' || sign === ',' ? '?' : `[${sign}]`));
  return { scheme: 'file', pattern: new vscode.RelativePattern(vscode.Uri.file(path.dirname(file)), name) };
}

function lensesOf({ server, role }: Entry, range: vscode.Range, tools?: number): vscode.CodeLens[] {
  const { name, configFile } = server;
  const lens = (said: string, command: string, ...args: unknown[]): vscode.CodeLens =>
    new vscode.CodeLens(range, { title: said, command, arguments: args });
  switch (role) {
    case 'replaced': {
      const said = vscode.l10n.t('Overridden by {0}', inPick(path.basename(configFile)));
      return [lens(`McpHub: ${said}`, 'mcphub.openConfig', name)];
    }
    case 'waiting':
      return [lens(`McpHub: ${vscode.l10n.t('Waiting for your consent')}`, 'mcphub.startServer', name, true)];
    default: {
      // For files that the editor reads itself, it has its own lenses with the same words. There, one lens of this
      // extension leads to all actions.
      const actions = editorReads(server) ? [] : actionsOf(server);
      return [
        lens(lensTitle(server, tools), 'mcphub.showServer', name),
        ...actions.map(({ title, command, args }) => lens(title, command, ...args)),
      ];
    }
  }
}

/** Everything that the lenses of an entry are made of. */
function drawnOf(entry: Entry): unknown {
  const { line, server } = entry;
  const commands = lensesOf(entry, new vscode.Range(0, 0, 0, 0)).map(({ command }) => command);
  return [line, server.name, server.state, String(server.incarnation), server.processId, commands];
}
