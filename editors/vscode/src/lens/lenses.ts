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

/** Milliseconds from a change until the lenses are updated, since changes often come in groups. */
const pause = 150;

/** The tools of a server as they were last counted. */
interface Counted {
  readonly connection: string;
  tools: number | undefined; // undefined until the first number comes
}

export class Lenses implements vscode.Disposable, vscode.CodeLensProvider {
  readonly #watcher: WatcherWindow;
  readonly #process: HubProcess;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #disposables: vscode.Disposable[];
  readonly onDidChangeCodeLenses = this.#changed.event;
  #entries: ReadonlyMap<string, readonly Entry[]> = new Map();
  #registered: { readonly files: string; readonly registration: vscode.Disposable } | undefined;
  readonly #counted = new Map<string, Counted>(); // by server
  readonly #outdated = new Set<string>(); // the servers whose tools have changed since they were counted
  #drawn = ''; // what the lenses said when the editor was last told to draw them anew
  #timer: NodeJS.Timeout | undefined;

  constructor(watcher: WatcherWindow, process: HubProcess) {
    this.#watcher = watcher;
    this.#process = process;
    const stop = watcher.listen({
      changed: ({ servers }) => servers === true && this.#soon(),
      event: ({ event }) => {
        if (event.case === 'toolsChanged') {
          this.#outdated.add(event.value.server);
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
    this.#timer ??= setTimeout(() => this.#anew(), pause).unref();
  }

  /** Registers the provider only for files that have lenses, so that the editor does not ask for others. */
  #anew(): void {
    this.#timer = undefined;
    for (const name of this.#outdated) {
      const counted = this.#counted.get(name);
      if (counted !== undefined) this.#count(name, counted.connection, counted.tools);
    }
    this.#outdated.clear();
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

  /** Returns the number of tools, if it is known. It is requested when it is to be shown first. */
  #toolCount({ name, state, incarnation, processId }: Server): number | undefined {
    if (state !== ServerState.READY) {
      this.#counted.delete(name);
      return undefined;
    }
    const connection = `${String(incarnation)} ${String(processId)}`;
    const counted = this.#counted.get(name);
    return counted?.connection === connection ? counted.tools : this.#count(name, connection);
  }

  /**
   * Requests the number of tools. If it is another one than before, the lenses are drawn anew; if the request fails,
   * they are left as they are. No lens is left for the editor to resolve: what is resolved late was written over the
   * lenses that had taken its place, so that a server that was stopped stayed "Ready" for good (VS Code 1.139).
   */
  #count(server: string, connection: string, before?: number): number | undefined {
    const counted: Counted = { connection, tools: before };
    this.#counted.set(server, counted);
    this.#process.hub.servers.listTools({ server, allowCached: true }).then(
      ({ tools }) => {
        if (this.#counted.get(server) === counted && counted.tools !== tools.length) {
          counted.tools = tools.length;
          this.#changed.fire();
        }
      },
      () => undefined,
    );
    return before;
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
