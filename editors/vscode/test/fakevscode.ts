// A fake of the parts of the editor that the tested files use. What a test changes here causes the events of the real
// editor. The test runner uses it in place of the module vscode.
type Listener<T> = (value: T) => unknown;

export class Disposable {
  static from(...all: { dispose(): unknown }[]): Disposable {
    return new Disposable(() => all.forEach((one) => one.dispose()));
  }
  constructor(readonly dispose: () => void) {}
}

export class EventEmitter<T> {
  readonly #listeners = new Set<Listener<T>>();
  readonly event = (listener: Listener<T>): Disposable => {
    this.#listeners.add(listener);
    return new Disposable(() => this.#listeners.delete(listener));
  };
  fire(value: T): void {
    [...this.#listeners].forEach((listener) => listener(value));
  }
  dispose(): void {
    this.#listeners.clear();
  }
}

export class Uri {
  static file(fsPath: string): Uri {
    return new Uri('file', fsPath);
  }
  static joinPath(base: Uri, ...names: string[]): Uri {
    return new Uri(base.scheme, [base.path, ...names].join('/'));
  }
  static parse(text: string): Uri {
    const [scheme = '', path = ''] = text.split('://', 2);
    return new Uri(scheme, path);
  }
  static from({ scheme, path, query }: { scheme: string; path: string; query?: string }): Uri {
    return new Uri(scheme, path, query);
  }
  constructor(
    readonly scheme: string,
    readonly path: string,
    readonly query = '',
  ) {}
  get fsPath(): string {
    return this.path;
  }
  toString(): string {
    return `${this.scheme}://${this.path}${this.query && `?${this.query}`}`;
  }
}

export class RelativePattern {
  constructor(
    readonly base: Uri,
    readonly pattern: string,
  ) {}
}

export class Position {
  constructor(
    readonly line: number,
    readonly character: number,
  ) {}
}

export class Range {
  readonly start: Position;
  constructor(from: number | Position, character: number | Position) {
    this.start = from instanceof Position ? from : new Position(from, Number(character));
  }
}

export class CodeLens {
  constructor(
    readonly range: Range,
    public command?: { title: string; command: string; arguments?: unknown[] },
  ) {}
}
export type Lens = CodeLens;

export class Diagnostic {
  source = '';
  constructor(
    readonly range: Range,
    readonly message: string,
    readonly severity: number,
  ) {}
}
export const DiagnosticSeverity = { Error: 0, Warning: 1 } as const;

interface LensProvider {
  readonly onDidChangeCodeLenses: (listener: () => void) => unknown;
  provideCodeLenses(document: unknown): unknown[];
}

export const QuickPickItemKind = { Separator: -1, Default: 0 } as const;
export const ConfigurationTarget = { Global: 1 } as const;

export class FileSystemError extends Error {
  static FileNotFound(what: Uri): FileSystemError {
    return new FileSystemError(`FileNotFound: ${what.toString()}`);
  }
  static Unavailable(what: string): FileSystemError {
    return new FileSystemError(`Unavailable: ${what}`);
  }
  static NoPermissions(what: Uri): FileSystemError {
    return new FileSystemError(`NoPermissions: ${what.toString()}`);
  }
}

export const FileType = { File: 1 } as const;
export const FilePermission = { Readonly: 1 } as const;
export const FileChangeType = { Changed: 1 } as const;

export const ProgressLocation = { Notification: 15 } as const;

/** A quick pick that the user dismisses with hide(). */
export class QuickPick {
  title = '';
  placeholder = '';
  items: readonly { label: string }[] = [];
  selectedItems: readonly object[] = [];
  readonly #hidden = new EventEmitter<void>();
  readonly onDidAccept = (): Disposable => new Disposable(() => undefined);
  readonly onDidHide = this.#hidden.event;
  show(): void {}
  hide(): void {
    this.#hidden.fire();
  }
  dispose(): void {}
}

export class ThemeColor {
  constructor(readonly id: string) {}
}

export class ThemeIcon {
  constructor(
    readonly id: string,
    readonly color?: ThemeColor,
  ) {}
}

/** As in the real editor, what is appended as text is no markdown. */
export class MarkdownString {
  value = '';
  isTrusted?: boolean;
  appendText(text: string): this {
    this.value += text.replace(/[\\`*_{}[\]()#+\-!~]/gu, '\\$&').replace(/\n/gu, '\n\n');
    return this;
  }
  appendMarkdown(text: string): this {
    this.value += text;
    return this;
  }
}

export const TreeItemCollapsibleState = { None: 0, Collapsed: 1, Expanded: 2 } as const;

export class TreeItem {
  id?: string;
  description?: string;
  tooltip?: MarkdownString;
  iconPath?: ThemeIcon;
  contextValue?: string;
  command?: { command: string; arguments?: unknown[] };
  accessibilityInformation?: { label: string };
  constructor(
    readonly label: string,
    readonly collapsibleState: number = TreeItemCollapsibleState.None,
  ) {}
}

export const ViewColumn = { Active: -1 } as const;

/** A tab with a page in it. */
export class FakePanel {
  revealed = 0;
  readonly #disposed = new EventEmitter<void>();
  readonly onDidDispose = this.#disposed.event;
  readonly onDidChangeViewState = new EventEmitter<void>().event;
  readonly webview = { onDidReceiveMessage: () => new Disposable(() => undefined), options: {} };
  constructor(readonly title: string) {}
  reveal(): void {
    this.revealed++;
  }
  dispose(): void {
    this.#disposed.fire();
  }
}

/** What a test can see and change. */
export class Editor {
  quickPick: QuickPick | undefined;
  folders: string[] = [];
  trusted = true;
  settings: Record<string, unknown> = {};
  readonly watched = new Set<string>();
  readonly created = new EventEmitter<string>();
  readonly foldersChanged = new EventEmitter<void>();
  readonly trustGranted = new EventEmitter<void>();
  readonly settingsChanged = new EventEmitter<{ affectsConfiguration(name: string): boolean }>();
  /** The titles of the open notifications with progress, or their texts if they have no title. */
  readonly notifications = new Set<string>();
  /** The button of all these notifications: its label, and that the user presses it. */
  stopLabel: unknown;
  readonly stopPressed = new EventEmitter<void>();
  focused = true;
  readonly focusChanged = new EventEmitter<void>();
  readonly messages: string[] = [];
  /** The second, smaller text of the latest message. */
  detail: string | undefined;
  /** Returns the user's choice for a message. */
  choose: (message: string, items: readonly unknown[]) => unknown = () => undefined;
  /** The translations of texts. A text without one stays as it is. */
  readonly texts = new Map<string, string>();
  readonly commands = new Map<string, (...args: unknown[]) => unknown>();
  readonly documents: string[] = [];
  /** What was opened in an editor. */
  readonly shown: unknown[] = [];
  readonly lensProviders = new Set<{ selector: { pattern: RelativePattern }[]; provider: LensProvider }>();
  readonly diagnostics = new Map<string, readonly Diagnostic[]>();
  /** Returns one line for each diagnostic, sorted. */
  diagnosed(): string[] {
    return [...this.diagnostics]
      .flatMap(([uri, all]) =>
        all.map(
          ({ range: { start }, severity, message }) =>
            `${uri.replace('file://', '')} ${start.line}:${start.character} ${severity === 0 ? 'Error' : 'Warning'} ${message}`,
        ),
      )
      .sort();
  }
  /** The user's choice for a message that offers it. */
  answer: string | undefined;
  /** The manifests, by the id of the extension. */
  readonly extensions = new Map<string, object>();
  /** What the extensions give to others, by their id. */
  readonly apis = new Map<string, unknown>();
  /** The providers of MCP servers, by id. */
  readonly definitionProviders = new Map<string, unknown>();
  /** True: providers of MCP servers cannot be registered, as in VS Code 1.100. */
  refusesDefinitions = false;
  clipboard = '';
  /** The result of the save dialog; undefined: it was dismissed. */
  saveTo: Uri | undefined;
  toOpen: Uri[] | undefined;
  typed: string | undefined;
  picked = 0; // the index that the user picks in a quick pick
  picks = 0; // the number of quick picks that were shown
  /** The items of the latest quick pick. */
  offered: readonly unknown[] = [];
  readonly panels: FakePanel[] = [];
  /** Brings a tab back, as after a reload of the window. */
  restore: (panel: FakePanel, state: unknown) => unknown = () => undefined;
  /** Written files of other file systems. */
  readonly written = new Map<string, string>();
}

let editor = new Editor();

/** Returns a new editor for a test. */
export function newEditor(): Editor {
  editor = new Editor();
  return editor;
}

export const workspace = {
  get workspaceFolders(): { uri: Uri; name: string }[] | undefined {
    return editor.folders.length === 0
      ? undefined
      : editor.folders.map((folder) => ({ uri: Uri.file(folder), name: folder }));
  },
  get isTrusted(): boolean {
    return editor.trusted;
  },
  getConfiguration: () => ({
    get: (name: string): unknown => editor.settings[name],
    update: (name: string, value: unknown) => {
      editor.settings[name] = value;
      return Promise.resolve();
    },
  }),
  onDidChangeWorkspaceFolders: (listener: Listener<void>) => editor.foldersChanged.event(listener),
  onDidGrantWorkspaceTrust: (listener: Listener<void>) => editor.trustGranted.event(listener),
  onDidChangeConfiguration: (listener: Listener<{ affectsConfiguration(name: string): boolean }>) =>
    editor.settingsChanged.event(listener),
  createFileSystemWatcher({ base, pattern }: RelativePattern) {
    const [here, what] = [editor, `${base.fsPath}/${pattern}`];
    here.watched.add(what);
    const told = new EventEmitter<Uri>();
    return { onDidCreate: told.event, onDidDelete: told.event, dispose: () => void here.watched.delete(what) };
  },
  fs: {
    writeFile: (uri: Uri, content: Uint8Array) => {
      editor.written.set(uri.toString(), Buffer.from(content).toString());
      return Promise.resolve();
    },
  },
  registerFileSystemProvider: () => new Disposable(() => undefined),
  registerTextDocumentContentProvider: () => new Disposable(() => undefined),
  openTextDocument: (uri: Uri) => {
    editor.documents.push(uri.path);
    return Promise.resolve({ uri });
  },
};

const say = (message: string, ...items: unknown[]): Promise<unknown> => {
  editor.messages.push(message);
  editor.detail = items.map((item) => (item as { detail?: string }).detail).find((text) => text !== undefined);
  return Promise.resolve(items.includes(editor.answer) ? editor.answer : editor.choose(message, items));
};

/** As in the real editor, {0} is replaced by the first argument. */
export const l10n = {
  t: (text: string, ...args: readonly (string | number)[]): string =>
    (editor.texts.get(text) ?? text).replace(/\{(\d+)\}/gu, (mark, index: string) =>
      String(args[Number(index)] ?? mark),
    ),
};

export const window = {
  get state(): { focused: boolean } {
    return { focused: editor.focused };
  },
  onDidChangeWindowState: (listener: Listener<void>) => editor.focusChanged.event(listener),
  showInformationMessage: say,
  showWarningMessage: say,
  showErrorMessage: say,
  registerWebviewViewProvider: () => new Disposable(() => undefined),
  registerWebviewPanelSerializer: (
    _: string,
    { deserializeWebviewPanel }: { deserializeWebviewPanel: Editor['restore'] },
  ) => {
    editor.restore = deserializeWebviewPanel;
    return new Disposable(() => undefined);
  },
  createWebviewPanel: (_: string, title: string) => {
    const panel = new FakePanel(title);
    editor.panels.push(panel);
    return panel;
  },
  showOpenDialog: () => Promise.resolve(editor.toOpen),
  showInputBox: () => Promise.resolve(editor.typed),
  showTextDocument: (what: unknown) => Promise.resolve(void editor.shown.push(what)),
  showSaveDialog: () => Promise.resolve(editor.saveTo),
  setStatusBarMessage: () => new Disposable(() => undefined),
  createQuickPick: (): QuickPick => {
    editor.quickPick = new QuickPick();
    return editor.quickPick;
  },
  showQuickPick: <T>(items: readonly T[]): Promise<T | undefined> => {
    editor.picks++;
    editor.offered = items;
    return Promise.resolve(items[editor.picked]);
  },
  async withProgress<T>(
    { title, cancellable }: { title?: string; cancellable?: unknown },
    work: (
      progress: { report(step: { message?: string }): void },
      token: { onCancellationRequested: Editor['stopPressed']['event'] },
    ) => Promise<T>,
  ): Promise<T> {
    const here = editor;
    let text = title;
    const say = (now: string | undefined): void => {
      here.notifications.delete(text ?? '');
      text = now;
      if (now !== undefined) {
        here.notifications.add(now);
      }
    };
    say(title);
    here.stopLabel = cancellable;
    // A notification without a title shows the latest report, and does not appear before the first one.
    const report = ({ message }: { message?: string }): void => (title === undefined ? say(message) : undefined);
    try {
      return await work({ report }, { onCancellationRequested: here.stopPressed.event });
    } finally {
      say(undefined);
    }
  },
};

export const env = {
  appName: 'Test Editor',
  language: 'en',
  clipboard: {
    writeText: (text: string) => {
      editor.clipboard = text;
      return Promise.resolve();
    },
  },
};

export const commands = {
  executeCommand: (name: string, ...args: unknown[]): Promise<unknown> =>
    Promise.resolve(editor.commands.get(name)?.(...args)),
  registerCommand(name: string, run: (...args: unknown[]) => unknown) {
    editor.commands.set(name, run);
    return new Disposable(() => void editor.commands.delete(name));
  },
};

export const languages = {
  registerCodeLensProvider(selector: { pattern: RelativePattern }[], provider: LensProvider): Disposable {
    const one = { selector, provider };
    const here = editor;
    here.lensProviders.add(one);
    return new Disposable(() => here.lensProviders.delete(one));
  },
  createDiagnosticCollection() {
    const { diagnostics } = editor;
    return {
      set: (uri: Uri, all: readonly Diagnostic[]) => void diagnostics.set(uri.toString(), all),
      clear: () => diagnostics.clear(),
      dispose: () => diagnostics.clear(),
    };
  },
};

export const lm = {
  registerMcpServerDefinitionProvider(id: string, provider: unknown): Disposable {
    if (editor.refusesDefinitions) {
      throw new Error('MCP configuration providers must be registered elsewhere');
    }
    editor.definitionProviders.set(id, provider);
    return new Disposable(() => void editor.definitionProviders.delete(id));
  },
};

export class McpHttpServerDefinition {
  constructor(
    readonly label: string,
    public uri: Uri,
    public headers: Record<string, string> = {},
    public version?: string,
  ) {}
}

export const extensions = {
  getExtension(id: string): { id: string; packageJSON: object; activate(): Promise<unknown> } | undefined {
    const { extensions: manifests, apis } = editor;
    const packageJSON = manifests.get(id);
    return packageJSON && { id, packageJSON, activate: () => Promise.resolve(apis.get(id)) };
  },
};
