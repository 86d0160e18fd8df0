/**
 * What the McpHub extension offers other extensions. In npm these types are the package `@mcphub/vscode-api`. Get it so:
 *
 *     const extension = vscode.extensions.getExtension<McpHubApi>('mcphub.mcphub');
 *     const mcphub = (await extension?.activate())?.connect(context.extension);
 *
 * Promises reject with an Error that has `code` (gRPC, lower snake case) and `reason` (the hub's, `DENIED_BY_USER` say)
 * for troubles of the hub, and `code: 'mcp_error'` with `mcpError` for an error that a server answered. Texts of servers
 * are untrusted. A hub that is starting is waited for.
 */
export interface McpHubApi {
  /** Rises when something changes that callers would notice. */
  readonly version: 2;

  /**
   * The same with your extension's name: calls are shown with it, and what the user grants is granted to it. Extensions
   * are not kept apart from each other in an editor: a name is for people, and no protection from hostile ones.
   */
  connect(extension: McpExtension): McpHub;

  /** As of version 1: those of a connection of an extension without a name. */
  readonly callTool: McpHub['callTool'];
  readonly cancel: McpHub['cancel'];
  readonly listServers: McpHub['listServers'];
  readonly listTools: McpHub['listTools'];
  readonly onDidChangeServers: McpHub['onDidChangeServers'];
}

/** A `vscode.Extension`, such as `context.extension`. */
export interface McpExtension {
  /** `publisher.name`. */
  readonly id: string;
  readonly packageJSON: unknown;
}

/** Takes a listener, and gives what takes it back. */
export type McpEvent<T> = (listener: (event: T) => unknown) => { dispose(): void };

/** Whose file an entry stands in. What others call global is the user's, and what they call project the workspace's. */
export type McpSource = 'user' | 'workspace' | 'host';

/**
 * A `name` of listServers(); or the name in a config and whose file it is; or one of listServers() itself. The last two
 * mean the entry of that source, also after another one has come to have the name by itself.
 */
export type McpServerName = string | { readonly name: string; readonly source: McpSource } | McpServer;

export interface McpHub {
  /**
   * Calls one tool to its end. The user's approvals hold: a tool that may not be called without a question opens one,
   * unless `preapproved`.
   */
  callTool(call: McpToolCall): Promise<McpToolResult>;
  /** Stops a request, in whatever state. What is unknown or over is an outcome and no error. */
  cancel(requestId: string, reason?: string): Promise<'cancelling' | 'already_finished' | 'unknown'>;
  /** Stops every request with this label, or of this server; the ids of those that were still open. */
  cancelAll(of: { readonly label: string } | { readonly server: McpServerName }, reason?: string): Promise<string[]>;

  /** All, in the order of the config. Of two of one name one has it by itself, the other is NAME@SOURCE. */
  listServers(): Promise<McpServer[]>;
  /**
   * The tools of one server, or of all that could be asked, but for those beside another one of their name. A server that
   * is not connected is connected first.
   */
  listTools(server?: McpServerName): Promise<McpTool[]>;
  /** What the server lists, all pages. One that is not connected is connected first, as by all that asks a server. */
  listResources(server: McpServerName): Promise<McpResource[]>;
  listResourceTemplates(server: McpServerName): Promise<McpResourceTemplate[]>;
  /** The result as the server wrote it, a JSON text of `resources/read`. */
  readResource(request: McpResourceRequest): Promise<McpResult>;
  /** The prompt templates that the server lists, all pages. */
  listPrompts(server: McpServerName): Promise<McpPromptTemplate[]>;
  /** A JSON text of the result of `prompts/get`. */
  getPrompt(request: McpPromptRequest): Promise<McpResult>;
  /** What the server proposes for an argument of a prompt or of a resource template. */
  complete(request: McpCompletionRequest): Promise<string[]>;
  /** Connects a server, or waits until it is connected. A server of a workspace asks for consent first. */
  startServer(server: McpServerName): Promise<McpServer>;
  /** Its calls are cancelled. It is started again when it is next needed. */
  stopServer(server: McpServerName, reason?: string): Promise<McpServer>;
  /** Stops it, if it runs, and connects it again. Its calls are cancelled with the reason. */
  restartServer(server: McpServerName, reason?: string): Promise<McpServer>;
  /** As long as the hub lives: what the config says is not changed. For that there is updateServer(). */
  setServerEnabled(server: McpServerName, enabled: boolean): Promise<McpServer>;
  /** Opens the sign-in of a server that wants one, and waits for its end. */
  signIn(server: McpServerName): Promise<McpServer>;
  /** Forgets the tokens of a server, and ends its connection. */
  signOut(server: McpServerName): Promise<McpServer>;
  /** The least level of the log messages that the server is to send: that of MCP, `warning` say. */
  setLogLevel(server: McpServerName, level: string): Promise<void>;

  /**
   * Writes an entry into a config file, in its dialect, and resolves when that is applied, as the others that follow do.
   * The first time the user is asked whether your extension may write servers, and apart from that whether it may have
   * tools called without a question: `code: 'permission_denied'`, `reason: 'NOT_GRANTED'` when not. Only with connect().
   * What you wrote starts only after the user has agreed to its exact command or address: no extension can answer that.
   */
  addServer(entry: McpNewServer): Promise<McpWrite>;
  /** Changes the entry of a server where it stands; what is not named stays, comments too. */
  updateServer(server: McpServerName, change: McpServerChange): Promise<McpWrite>;
  /** Takes the entry out of its file, or out of `configFile` where several have one. */
  removeServer(server: McpServerName, of?: { readonly configFile?: string }): Promise<McpWrite>;
  /** Gives the file the text that it had before one write of yours, as long as nothing was written since. */
  undo(write: McpWrite): Promise<McpWrite>;

  /** A server came, went, or changed its state. */
  readonly onDidChangeServers: McpEvent<void>;
  /** A server's list of tools has changed. */
  readonly onDidChangeTools: McpEvent<{ readonly server: string }>;
  /** A request, whoever made it, has begun, changed its state, or ended. */
  readonly onDidChangeRequests: McpEvent<McpRequestChange>;
  /** A question was put to the user, or taken back, or answered. */
  readonly onDidChangeQuestions: McpEvent<McpQuestionChange>;
  /** A server has sent a log message, or written a line on stderr. */
  readonly onDidLog: McpEvent<McpLogMessage>;
}

/** What every request may be given. */
export interface McpRequestOptions {
  /** Aborting cancels the request; a string as its reason reaches the server. */
  readonly signal?: AbortSignal;
  /** Chosen by you, so that cancel() works from the first moment. Default: minted. */
  readonly requestId?: string;
  /** For cancelAll: the task of a conversation, say. At most 256 bytes. */
  readonly label?: string;
  /** Default: what the config says. */
  readonly timeouts?: McpTimeouts;
}

export interface McpToolCall extends McpRequestOptions {
  readonly server: McpServerName;
  readonly tool: string;
  /** An object; or JSON text of one, which is passed on byte for byte (large numbers survive). Default: none. */
  readonly arguments?: Readonly<Record<string, unknown>> | string;
  readonly onProgress?: (progress: McpProgress) => void;
  /**
   * You have asked the user yourself. The first time the user is asked whether your extension may say so; without that
   * the call asks as it does without. What the config denies stays denied. Only with connect().
   */
  readonly preapproved?: boolean;
}

/** In milliseconds; 0 is no limit. */
export interface McpTimeouts {
  /** Without a sign of life: progress resets it. */
  readonly idleMs?: number;
  readonly totalMs?: number;
  /** For one question to the user. The others stand still meanwhile. */
  readonly humanMs?: number;
}

export interface McpProgress {
  readonly progress: number;
  readonly total?: number;
  /** Text of the server: untrusted. */
  readonly message: string;
}

export interface McpResult {
  readonly requestId: string;
  /** The result as the server wrote it. */
  readonly resultJson: string;
  /** The same, parsed. */
  readonly result: unknown;
}

export interface McpToolResult extends McpResult {
  /** The tool itself says that it failed. */
  readonly isError: boolean;
}

/** An entry of a config file, in no dialect. What looks like a variable in the dialect of the file is one. */
export interface McpServerForm {
  /** Program, without arguments; or `url`. */
  readonly command?: string;
  readonly args?: readonly string[];
  /** null takes a variable away from what the server would inherit. */
  readonly env?: Readonly<Record<string, string | null>>;
  readonly cwd?: string;
  readonly url?: string;
  /** With `url`. Default: both are tried. */
  readonly transport?: 'streamable_http' | 'sse';
  readonly headers?: Readonly<Record<string, string>>;
}

/** What an entry says beside its form. What is absent stays as it is. */
export interface McpServerSettings {
  readonly enabled?: boolean;
  /** Tools, by name or pattern with `*` and `?`, that are called without a question (true), or no longer (false). */
  readonly alwaysAllow?: Readonly<Record<string, boolean>>;
  /** The same with all that can be said: `default` takes out what the entry says of just that name. */
  readonly approvals?: Readonly<Record<string, 'allow' | 'ask' | 'deny' | 'default'>>;
  /** Clocks of the server; null takes one out of the entry. Single tools have those of their calls. */
  readonly timeouts?: { readonly [clock in 'connectMs' | 'idleMs' | 'totalMs' | 'humanMs']?: number | null };
}

export interface McpNewServer extends McpServerSettings {
  readonly name: string;
  /** The form; or JSON text as people find it in instructions, in any dialect: it is put into the words of the file. */
  readonly entry: McpServerForm | string;
  /** A file of listServers() or of mcphub.configFiles. Default: the last one of `source`, else the last of the user. */
  readonly configFile?: string;
  readonly source?: McpSource;
}

export interface McpServerChange extends McpServerSettings {
  /** Takes the place of what says how the server is reached. */
  readonly form?: McpServerForm;
  /** JSON merge patch (RFC 7396) of the entry, in the keys of its dialect. Before the settings. */
  readonly patch?: Readonly<Record<string, unknown>>;
  /** Needed where several files of one source have the name. */
  readonly configFile?: string;
}

/** One write of a config file. */
export interface McpWrite {
  readonly configFile: string;
  /** From 1; 0 when the entry is gone. */
  readonly configLine: number;
  /** It starts only after the user has agreed to it. */
  readonly needsConsent: boolean;
  readonly problems: readonly McpConfigProblem[];
  /** Keys of the JSON text that the file has no words for. */
  readonly leftOut: readonly string[];
  /** For undo(); '' when it cannot be undone. */
  readonly undoId: string;
  /** The server of the entry; after a removal the one that has its name now; undefined: there is none. */
  readonly server: McpServer | undefined;
}

/** One configured server, as it stands now. */
export interface McpServer {
  /** Unique, and all that the other methods need. */
  readonly name: string;
  /** In the config. It differs from `name` where another entry has it by itself. */
  readonly configName: string;
  readonly source: McpSource;
  /** broken: its entry cannot be used. given_up: it failed too often, and is started again when somebody asks for it. */
  readonly state: 'stopped' | 'connecting' | 'ready' | 'stopping' | 'failed' | 'disabled' | 'broken' | 'given_up';
  /** Why it is not there, in words; '' when nothing went wrong. */
  readonly lastError: string;
  /** Absolute path of the file with its entry. */
  readonly configFile: string;
  /** From 1. */
  readonly configLine: number;
  /** How that file is written: `vscode`, `cursor`, `claude-desktop` and others. */
  readonly dialect: string;
  readonly transport: 'stdio' | 'streamable_http' | 'sse' | '';
  /** Without arguments; '' for one that is reached by its address. */
  readonly command: string;
  /** Without query and user information. */
  readonly url: string;
  /** 0 when none runs. */
  readonly processId: number;
  /** What the server says of itself, once connected. */
  readonly title: string;
  readonly version: string;
  readonly instructions: string;
  readonly capabilitiesJson: string;
  /** The revision of MCP that is spoken, once connected. */
  readonly protocolRevision: string;
  /** Whether it may be started: a workspace's, or one that a program wrote. '' for one that needs no consent. */
  readonly consent: 'needed' | 'asking' | 'given' | 'declined' | '';
  /** '' for a process, and for a server that has not asked for a sign-in. */
  readonly signIn: 'needed' | 'asking' | 'signed_in' | '';
  /** When it is started: lazy, when it is first needed; eager, as soon as the config is read. readyTime: since when it is up. */
  readonly start: 'lazy' | 'eager';
  readonly readyTime: Date | undefined;
  /** Starts that failed, and connections that were lost, in a row. */
  readonly failures: number;
  /** When it is started again by itself; undefined when it is not. */
  readonly nextStartTime: Date | undefined;
  /** How its process ended last, '' when it has not. */
  readonly lastExit: string;
  /** 0: no limit. */
  readonly memoryLimitBytes: number;
  /** Odd traffic on the present connection that harmed nobody, by its kind: `lateResponses`, `badLines` and others. */
  readonly counters: Readonly<Record<string, number>> | undefined;
  /** Another one when the entry has gone from the config and come back: what you keep of it by name is of the former one. */
  readonly incarnation: string;
  /** The user has silenced its questions: they are declined without being shown. */
  readonly questionsMuted: boolean;
  /** Entries of the same name that this one goes before. */
  readonly shadows: readonly McpConfigPlace[];
  /** Entries of the same name of workspaces that would take its place after a consent. */
  readonly waitingForConsent: readonly McpConfigPlace[];
  /** The last lines of its stderr. */
  readonly stderr: readonly string[];
  readonly problems: readonly McpConfigProblem[];
}

/** Where an entry stands. */
export interface McpConfigPlace {
  /** Absolute path. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly source: McpSource;
  readonly dialect: string;
}

/** What is wrong or odd in a config entry. */
export interface McpConfigProblem extends Pick<McpConfigPlace, 'file' | 'line'> {
  /** From 1. */
  readonly column: number;
  /** '' for the entry as a whole. */
  readonly key: string;
  readonly message: string;
  /** The entry cannot be used. */
  readonly fatal: boolean;
}

export interface McpTool extends McpOffer {
  /** Whether a call asks the user, by the config. */
  readonly policy: 'allow' | 'ask' | 'deny';
  /** It is as an earlier connection listed it; the server is not connected. */
  readonly cached: boolean;
  /** It is for views alone (MCP Apps): leave it out of what a model is told. The other: a call from a view is refused. */
  readonly hiddenFromModels: boolean;
  readonly hiddenFromApps: boolean;
  /** The resource (`ui://`) that draws its calls and results, '' when it has none. Of the server: untrusted. */
  readonly uiResourceUri: string;
}

/** What a server lists. */
export interface McpOffer {
  readonly server: string;
  readonly name: string;
  /** Texts of the server: untrusted. */
  readonly title: string;
  readonly description: string;
  /** JSON text of the whole definition, as it came. */
  readonly definitionJson: string;
}

export interface McpResource extends McpOffer {
  readonly uri: string;
  readonly mimeType: string;
}

export interface McpResourceTemplate extends McpOffer {
  /** RFC 6570. */
  readonly uriTemplate: string;
  readonly mimeType: string;
}

export interface McpPromptTemplate extends McpOffer {
  readonly arguments: readonly (Pick<McpOffer, 'name' | 'title' | 'description'> & { readonly required: boolean })[];
}

export interface McpResourceRequest extends McpRequestOptions {
  readonly server: McpServerName;
  readonly uri: string;
}

export interface McpPromptRequest extends McpRequestOptions {
  readonly server: McpServerName;
  readonly name: string;
  readonly arguments?: Readonly<Record<string, string>>;
}

export interface McpCompletionRequest {
  readonly server: McpServerName;
  readonly of: { readonly prompt: string } | { readonly uriTemplate: string };
  readonly argument: string;
  /** What the user has typed so far. */
  readonly value: string;
  /** Values of other arguments that are known already. */
  readonly known?: Readonly<Record<string, string>>;
}

export interface McpRequestChange {
  readonly requestId: string;
  readonly server: string;
  readonly state: 'open' | 'cancelling' | 'done' | 'failed' | 'cancelled';
  /** Of MCP: `tools/call` say. */
  readonly method: string;
  /** '' for what is no tool call. */
  readonly tool: string;
  /** Who asked for it: an extension, or the client of a gateway. '' when nobody is known. */
  readonly caller: string;
  /** Why it was cancelled. */
  readonly reason: string;
}

export interface McpQuestionChange {
  readonly questionId: string;
  readonly server: string;
  readonly open: boolean;
  /** The call that led to it; '' when that is not known. */
  readonly requestId: string;
}

export interface McpLogMessage {
  readonly server: string;
  readonly level: string;
  readonly logger: string;
  /** JSON text of what was logged, or of a line of stderr. */
  readonly dataJson: string;
}
