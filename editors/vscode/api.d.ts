/**
 * The API that the McpHub extension offers to other extensions. These types are also in the npm package
 * `@mcphub/vscode-api`. Get the API like this:
 *
 *     const extension = vscode.extensions.getExtension<McpHubApi>('mcphub.mcphub');
 *     const mcphub = (await extension?.activate())?.connect(context.extension);
 *
 * A promise rejects with an Error. An error of the hub has `code` (the gRPC code in lower snake case) and `reason` (the
 * hub's reason, for example `DENIED_BY_USER`). An error that a server answered has `code: 'mcp_error'` and `mcpError`.
 * Texts of servers are untrusted. If the hub is starting, every method waits for it.
 */
export interface McpHubApi {
  /** The version of the API. It rises with each change that callers can notice. */
  readonly version: 2;

  /**
   * Returns the API for your extension. Calls are shown with its name, and permissions are granted to it. Extensions
   * are not isolated from each other in an editor: the name is for people, and no protection from hostile extensions.
   */
  connect(extension: McpExtension): McpHub;

  /** The methods of version 1. They work like those of a connection without an extension. */
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

/** Registers a listener. The returned object unregisters it. */
export type McpEvent<T> = (listener: (event: T) => unknown) => { dispose(): void };

/** Whose file an entry is from. Other programs call the user's files global, and the workspace's files project. */
export type McpSource = 'user' | 'workspace' | 'host';

/**
 * Identifies a server: a `name` of listServers(), or the name in a config together with its source, or an object of
 * listServers(). The last two mean the entry of that source, even if another entry has received the plain name since.
 */
export type McpServerName = string | { readonly name: string; readonly source: McpSource } | McpServer;

export interface McpHub {
  /** Calls a tool to its end. If the tool needs approval, the user is asked, unless the call is `preapproved`. */
  callTool(call: McpToolCall): Promise<McpToolResult>;
  /** Cancels a request in any state. An unknown or finished request is an outcome and not an error. */
  cancel(requestId: string, reason?: string): Promise<'cancelling' | 'already_finished' | 'unknown'>;
  /** Cancels every request with this label, or of this server. Resolves to the ids of those that were still open. */
  cancelAll(of: { readonly label: string } | { readonly server: McpServerName }, reason?: string): Promise<string[]>;

  /** Resolves to all servers, in the order of the config. Of two with the same name, one is called NAME@SOURCE. */
  listServers(): Promise<McpServer[]>;
  /**
   * Resolves to the tools of one server. Without a server, it resolves to the tools of all servers that can be reached,
   * except servers that are called NAME@SOURCE. A server that is not connected is connected first.
   */
  listTools(server?: McpServerName): Promise<McpTool[]>;
  /** Resolves to all resources of the server. This and all methods that ask a server connect it first. */
  listResources(server: McpServerName): Promise<McpResource[]>;
  listResourceTemplates(server: McpServerName): Promise<McpResourceTemplate[]>;
  /** Resolves to the result of `resources/read`, as the server wrote it. */
  readResource(request: McpResourceRequest): Promise<McpResult>;
  /** Resolves to all prompt templates that the server lists. */
  listPrompts(server: McpServerName): Promise<McpPromptTemplate[]>;
  /** Resolves to the result of `prompts/get`, as the server wrote it. */
  getPrompt(request: McpPromptRequest): Promise<McpResult>;
  /** Resolves to the server's proposals for an argument of a prompt template or of a resource template. */
  complete(request: McpCompletionRequest): Promise<string[]>;
  /** Connects a server, or waits until it is connected. A server of a workspace needs the user's consent first. */
  startServer(server: McpServerName): Promise<McpServer>;
  /** Stops a server. Its calls are cancelled. The server is started again when it is needed. */
  stopServer(server: McpServerName, reason?: string): Promise<McpServer>;
  /** Stops a server, if it runs, and connects it again. Its calls are cancelled with the reason. */
  restartServer(server: McpServerName, reason?: string): Promise<McpServer>;
  /** Enables or disables a server until the hub ends. The config is not changed; use updateServer() for that. */
  setServerEnabled(server: McpServerName, enabled: boolean): Promise<McpServer>;
  /** Starts the sign-in of a server that needs one, and waits until it has ended. */
  signIn(server: McpServerName): Promise<McpServer>;
  /** Deletes the tokens of a server, and closes its connection. */
  signOut(server: McpServerName): Promise<McpServer>;
  /** Sets the lowest level of log messages that the server shall send, as a level of MCP, for example `warning`. */
  setLogLevel(server: McpServerName, level: string): Promise<void>;

  /**
   * Writes an entry into a config file, in the file's dialect. Like the following methods, it resolves when the change
   * has been applied. The user is asked once whether your extension may write servers, and separately whether it may
   * let tools be called without a question. If not: `code: 'permission_denied'`, `reason: 'NOT_GRANTED'`. It needs
   * connect(). The server starts only after the user, and no extension, has agreed to its exact command or address.
   */
  addServer(entry: McpNewServer): Promise<McpWrite>;
  /** Changes the entry of a server in its file. Everything that is not named stays, including comments. */
  updateServer(server: McpServerName, change: McpServerChange): Promise<McpWrite>;
  /** Removes the entry from its file, or from `configFile` if several files have one. */
  removeServer(server: McpServerName, of?: { readonly configFile?: string }): Promise<McpWrite>;
  /** Restores the text that the file had before one of your writes. It rejects if the file was written since. */
  undo(write: McpWrite): Promise<McpWrite>;

  /** A server was added or removed, or its state has changed. */
  readonly onDidChangeServers: McpEvent<void>;
  /** A server's list of tools has changed. */
  readonly onDidChangeTools: McpEvent<{ readonly server: string }>;
  /** A request of any caller has begun, changed its state, or ended. */
  readonly onDidChangeRequests: McpEvent<McpRequestChange>;
  /** A question to the user was opened, withdrawn, or answered. */
  readonly onDidChangeQuestions: McpEvent<McpQuestionChange>;
  /** A server has sent a log message, or written a line to stderr. */
  readonly onDidLog: McpEvent<McpLogMessage>;
}

/** The options of every request. */
export interface McpRequestOptions {
  /** An abort cancels the request. If its reason is a string, it is sent to the server. */
  readonly signal?: AbortSignal;
  /** An id of your choice, so that cancel() works from the beginning. Default: a new id. */
  readonly requestId?: string;
  /** A label for cancelAll, for example the task of a conversation. At most 256 bytes. */
  readonly label?: string;
  /** Default: the timeouts of the config. */
  readonly timeouts?: McpTimeouts;
}

export interface McpToolCall extends McpRequestOptions {
  readonly server: McpServerName;
  readonly tool: string;
  /** An object, or its JSON text, which is passed on byte for byte, so large numbers survive. Default: none. */
  readonly arguments?: Readonly<Record<string, unknown>> | string;
  readonly onProgress?: (progress: McpProgress) => void;
  /**
   * States that you have asked the user yourself. The user is asked once whether your extension may do that. Without
   * it, the call asks like any other. A tool that the config denies stays denied. It needs connect().
   */
  readonly preapproved?: boolean;
}

/** Timeouts in milliseconds; 0 means no limit. */
export interface McpTimeouts {
  /** The time without a sign of life. Progress resets it. */
  readonly idleMs?: number;
  readonly totalMs?: number;
  /** The time for one question to the user. The other two clocks stop during a question. */
  readonly humanMs?: number;
}

export interface McpProgress {
  readonly progress: number;
  readonly total?: number;
  /** A text of the server: untrusted. */
  readonly message: string;
}

export interface McpResult {
  readonly requestId: string;
  /** The result as the server wrote it. */
  readonly resultJson: string;
  /** The parsed result. */
  readonly result: unknown;
}

export interface McpToolResult extends McpResult {
  /** Whether the tool itself reports that it failed. */
  readonly isError: boolean;
}

/** An entry of a config file, in no dialect. Text that is a variable in the file's dialect works as a variable. */
export interface McpServerForm {
  /** The program without arguments. Use either `command` or `url`. */
  readonly command?: string;
  readonly args?: readonly string[];
  /** The variables that the server gets. null removes a variable that the server would inherit. */
  readonly env?: Readonly<Record<string, string | null>>;
  readonly cwd?: string;
  readonly url?: string;
  /** For `url`. Default: both are tried. */
  readonly transport?: 'streamable_http' | 'sse';
  readonly headers?: Readonly<Record<string, string>>;
}

/** Settings of an entry. A setting that is absent stays as it is. */
export interface McpServerSettings {
  readonly enabled?: boolean;
  /** Tools, by name or pattern with `*` and `?`, that are called without a question (true), or no longer (false). */
  readonly alwaysAllow?: Readonly<Record<string, boolean>>;
  /** The same with all policies. `default` removes the entry's policy for exactly this name. */
  readonly approvals?: Readonly<Record<string, 'allow' | 'ask' | 'deny' | 'default'>>;
  /** Timeouts of the server; null removes one from the entry. Use McpToolCall.timeouts for single calls. */
  readonly timeouts?: { readonly [clock in 'connectMs' | 'idleMs' | 'totalMs' | 'humanMs']?: number | null };
}

export interface McpNewServer extends McpServerSettings {
  readonly name: string;
  /** A form, or JSON text from instructions, in any dialect. It is converted to the dialect of the file. */
  readonly entry: McpServerForm | string;
  /** A file of listServers() or of mcphub.configFiles. Default: the last one of `source`, else the last of the user. */
  readonly configFile?: string;
  readonly source?: McpSource;
}

export interface McpServerChange extends McpServerSettings {
  /** Replaces everything in the entry that says how the server is reached. */
  readonly form?: McpServerForm;
  /** A JSON merge patch (RFC 7396) for the entry, with the keys of its dialect. It is applied before the settings. */
  readonly patch?: Readonly<Record<string, unknown>>;
  /** Needed if several files of one source have an entry with this name. */
  readonly configFile?: string;
}

/** One write of a config file. */
export interface McpWrite {
  readonly configFile: string;
  /** From 1; 0 if the entry was removed. */
  readonly configLine: number;
  /** Whether the server starts only after the user has agreed to it. */
  readonly needsConsent: boolean;
  readonly problems: readonly McpConfigProblem[];
  /** Keys of the JSON text that the dialect of the file cannot express. */
  readonly leftOut: readonly string[];
  /** For undo(); '' if the write cannot be undone. */
  readonly undoId: string;
  /** The server of the entry. After a removal, the server that has the name now, or undefined if there is none. */
  readonly server: McpServer | undefined;
}

/** The present state of a configured server. */
export interface McpServer {
  /** The unique name. The other methods need nothing else. */
  readonly name: string;
  /** The name in the config. It differs from `name` if another entry has the plain name. */
  readonly configName: string;
  readonly source: McpSource;
  /** broken: its entry cannot be used. given_up: it failed too often, and starts again only on request. */
  readonly state: 'stopped' | 'connecting' | 'ready' | 'stopping' | 'failed' | 'disabled' | 'broken' | 'given_up';
  /** Why the server is not connected, in words; '' if nothing went wrong. */
  readonly lastError: string;
  /** The absolute path of the file with its entry. */
  readonly configFile: string;
  /** The line of the entry, from 1. */
  readonly configLine: number;
  /** The dialect of that file: `vscode`, `cursor`, `claude-desktop` and others. */
  readonly dialect: string;
  readonly transport: 'stdio' | 'streamable_http' | 'sse' | '';
  /** The program without arguments; '' for a server that is reached by its address. */
  readonly command: string;
  /** The address without query and user information. */
  readonly url: string;
  /** 0 if no process runs. */
  readonly processId: number;
  /** This and the next three are what the server says about itself, once it is connected. Untrusted. */
  readonly title: string;
  readonly version: string;
  readonly instructions: string;
  readonly capabilitiesJson: string;
  /** The revision of MCP of the connection, once it is connected. */
  readonly protocolRevision: string;
  /** The consent to its start, for a server of a workspace or one that a program wrote. '' if none is needed. */
  readonly consent: 'needed' | 'asking' | 'given' | 'declined' | '';
  /** '' for a process, and for a server that has not asked for a sign-in. */
  readonly signIn: 'needed' | 'asking' | 'signed_in' | '';
  /** lazy: it is started when it is first needed. eager: it is started as soon as the config is read. */
  readonly start: 'lazy' | 'eager';
  /** Since when it is ready. */
  readonly readyTime: Date | undefined;
  /** The number of failed starts and lost connections in a row. */
  readonly failures: number;
  /** When the hub starts it again by itself; undefined if it does not. */
  readonly nextStartTime: Date | undefined;
  /** How its process ended last; '' if it never ended. */
  readonly lastExit: string;
  /** 0 means no limit. */
  /** Unexpected but harmless messages on the present connection, by kind: `lateResponses`, `badLines` and others. */
  readonly counters: Readonly<Record<string, number>> | undefined;
  /** Changes if the entry was removed and has come back. Data that you keep by name is then of the former entry. */
  readonly incarnation: string;
  /** Whether the user has silenced its questions. They are then declined without being shown. */
  readonly questionsMuted: boolean;
  /** Entries of the same name over which this one takes precedence. */
  readonly shadows: readonly McpConfigPlace[];
  /** Entries of the same name in files of workspaces. They would replace this one after consent. */
  readonly waitingForConsent: readonly McpConfigPlace[];
  /** The last lines of its stderr. */
  readonly stderr: readonly string[];
  readonly problems: readonly McpConfigProblem[];
}

/** The position of an entry. */
export interface McpConfigPlace {
  /** The absolute path. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly source: McpSource;
  readonly dialect: string;
}

/** A problem of a config entry. */
export interface McpConfigProblem extends Pick<McpConfigPlace, 'file' | 'line'> {
  /** From 1. */
  readonly column: number;
  /** '' for the entry as a whole. */
  readonly key: string;
  readonly message: string;
  /** Whether the problem makes the entry unusable. */
  readonly fatal: boolean;
}

export interface McpTool extends McpOffer {
  /** Whether a call asks the user, according to the config. */
  readonly policy: 'allow' | 'ask' | 'deny';
  /** The tool comes from the list of an earlier connection; the server is not connected. */
  readonly cached: boolean;
  /** The tool is only for views (MCP Apps): do not tell a model about it. */
  readonly hiddenFromModels: boolean;
  /** The tool is not for views: a call from a view is refused. */
  readonly hiddenFromApps: boolean;
  /** The resource (`ui://`) that draws its calls and results, '' if it has none. From the server: untrusted. */
  readonly uiResourceUri: string;
}

/** The fields that tools, resources and prompt templates have in common. */
export interface McpOffer {
  readonly server: string;
  readonly name: string;
  /** Texts of the server: untrusted. */
  readonly title: string;
  readonly description: string;
  /** The JSON text of the whole definition, as the server sent it. */
  readonly definitionJson: string;
}

export interface McpResource extends McpOffer {
  readonly uri: string;
  readonly mimeType: string;
}

export interface McpResourceTemplate extends McpOffer {
  /** A template as in RFC 6570. */
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
  /** The text that the user has typed so far. */
  readonly value: string;
  /** The values of other arguments that are already known. */
  readonly known?: Readonly<Record<string, string>>;
}

export interface McpRequestChange {
  readonly requestId: string;
  readonly server: string;
  readonly state: 'open' | 'cancelling' | 'done' | 'failed' | 'cancelled';
  /** The method of MCP, for example `tools/call`. */
  readonly method: string;
  /** '' if the request is not a tool call. */
  readonly tool: string;
  /** Who made the request: an extension, or the client of a gateway. '' if that is not known. */
  readonly caller: string;
  /** Why it was cancelled. */
  readonly reason: string;
}

export interface McpQuestionChange {
  readonly questionId: string;
  readonly server: string;
  readonly open: boolean;
  /** The call that led to the question; '' if that is not known. */
  readonly requestId: string;
}

export interface McpLogMessage {
  readonly server: string;
  readonly level: string;
  readonly logger: string;
  /** The JSON text of what was logged, or of a line of stderr. */
  readonly dataJson: string;
}
