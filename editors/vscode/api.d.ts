/**
 * The API that the McpHub extension offers to other extensions: that of `createHub` of `@mcphub/host`, with permissions
 * that the user gives to each extension. These types are also in the npm package `@mcphub/vscode-api`. Get the API like
 * this:
 *
 *     const extension = vscode.extensions.getExtension<McpHubApi>('mcphub.mcphub');
 *     const mcphub = (await extension?.activate())?.connect(context.extension);
 */
export interface McpHubApi {
  /** The version of the API. It rises with each change that callers can notice. */
  readonly version: 3;

  /**
   * Returns the API for your extension. Calls are shown with its name, and permissions are granted to it. Extensions
   * are not isolated from each other in an editor: the name is for people, and no protection from hostile extensions.
   */
  connect(extension: McpExtension): McpHub;
}

/** A `vscode.Extension`, such as `context.extension`. */
export interface McpExtension {
  /** `publisher.name`. */
  readonly id: string;
  readonly packageJSON: unknown;
}

// From here on, this file is a copy of editors/host/src/api/mcphub.ts: npm run api -w vscode.

/** Registers a listener. The returned object unregisters it. */
export type McpEvent<T> = (listener: (event: T) => unknown) => { dispose(): void };

/** Whose file an entry is from. Other programs call the user's files global, and the workspace's files project. */
export type McpSource = 'user' | 'workspace' | 'host';

/**
 * Identifies a server: a `name` of listServers(), or the name in a config together with its source, or an object of
 * listServers(). The last two mean the entry of that source, even if another entry has received the plain name since.
 */
export type McpServerName = string | { readonly name: string; readonly source: McpSource } | McpServer;

/** An error of this API. Every promise that rejects, and every method that throws, gives one of these. */
export interface McpHubError extends Error {
  /** A gRPC code in lower snake case, for example `not_found`; `mcp_error` for an error that a server answered. */
  readonly code: string;
  /** The reason, for example `DENIED_BY_USER` or `HUB_DIED`; '' if there is only a code. */
  readonly reason: string;
  /** Facts for programs, for example `server` or `setting`. */
  readonly metadata: Readonly<Record<string, string>>;
  /** What the server answered, for `mcp_error`. */
  readonly mcpError: McpServerError | undefined;
}

/** An error that a server answered. */
export interface McpServerError {
  readonly code: number;
  /** A text of the server: untrusted. */
  readonly message: string;
  /** The JSON text of its data; '' if there is none. */
  readonly dataJson: string;
}

/**
 * A hub and its servers. Methods may be called at any time and side by side; while the hub is starting, they wait for
 * it. Texts of servers are untrusted.
 *
 * `servers`, `requests`, `questions`, `history` and `problems` are a mirror: reading them asks nobody. Each is a list
 * that never changes; when there is news, the property holds another list, and the event of the same name follows. They
 * are empty until the hub has been started, and when it is lost. The hub tells news and answers calls on separate
 * connections: the mirror may be a moment behind what a method has resolved to.
 */
export interface McpHub {
  /** Resolves when the hub runs, its config has been read, and the mirror shows it. Rejects if it cannot be started. */
  ready(): Promise<void>;

  /** All configured servers, in the order of the config. Of two with the same name, one is called NAME@SOURCE. */
  readonly servers: readonly McpServer[];
  /** The open requests of all callers, oldest first. */
  readonly requests: readonly McpRequest[];
  /** The open questions to people, oldest first: those of the kinds that the hub may ask in the owner's own window. */
  readonly questions: readonly McpOpenQuestion[];
  /** The requests that have ended, oldest first: the last 1,000. */
  readonly history: readonly McpEndedRequest[];
  /** Problems of the config that belong to no single server. Those of a server are in the server. */
  readonly problems: readonly McpConfigProblem[];

  /** Calls a tool to its end. If the tool needs approval, the user is asked, unless the call is `preapproved`. */
  callTool(call: McpToolCall): Promise<McpToolResult>;
  /** Cancels a request in any state. An unknown or finished request is an outcome and not an error. */
  cancel(requestId: string, reason?: string): Promise<'cancelling' | 'already_finished' | 'unknown'>;
  /** Cancels all requests with a label, of a server, or all. Resolves to the ids of those that were still open. */
  cancelRequests(
    of: { readonly label: string } | { readonly server: McpServerName } | { readonly all: true },
    reason?: string,
  ): Promise<string[]>;

  /**
   * Resolves to the tools of one server. Without a server, it resolves to the tools of all servers that can be reached,
   * except servers that are called NAME@SOURCE. A server that is not connected is connected first; with `cached` its
   * tools are those that it has listed last.
   */
  tools(server?: McpServerName, options?: { readonly cached?: boolean }): Promise<McpTool[]>;
  /**
   * Resolves to the tools in the form that the providers of models accept, with names that callTool takes without a
   * server. It starts no server: it uses the tools that are known. `profile` is a profile of the config.
   */
  modelTools(options?: { readonly profile?: string }): Promise<McpModelTools>;
  /**
   * Finds tools by words of their names, descriptions and argument names, best match first. `limit` is from 1 to 100,
   * default 5.
   */
  searchTools(query: string, options?: { readonly limit?: number; readonly profile?: string }): Promise<McpFoundTool[]>;
  /** Reads a piece of a result of which `McpToolResult.view` has left something out. */
  readResult(resultId: string, options?: McpReadOptions): Promise<McpResultPiece>;

  /** Resolves to all resources of the server. This and all methods that ask a server connect it first. */
  resources(server: McpServerName): Promise<McpResource[]>;
  resourceTemplates(server: McpServerName): Promise<McpResourceTemplate[]>;
  /** Resolves to the result of `resources/read`, as the server wrote it. */
  readResource(request: McpResourceRequest): Promise<McpResult>;
  /** Subscribes to a resource, so that onDidUpdateResource tells of it, until the returned object is disposed of. */
  watchResource(server: McpServerName, uri: string): Promise<{ dispose(): void }>;
  /** Resolves to all prompt templates that the server lists. */
  prompts(server: McpServerName): Promise<McpPromptTemplate[]>;
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

  /** Resolves to the config files of the hub: of two entries with one name, the one in the later file counts. */
  configFiles(): Promise<McpConfigFile[]>;
  /** Resolves to what the entry of a server says in its file now. What it does not say is undefined: the default. */
  serverSettings(server: McpServerName, of?: { readonly configFile?: string }): Promise<McpEntrySettings>;
  /**
   * Writes an entry into a config file, in the file's dialect. Like the following methods, it resolves when the change
   * has been applied. The server starts only after the user, and no program, has agreed to its exact command or
   * address. An extension needs the user's permission to write servers, and another one to let tools be called without
   * a question; without it the promise rejects with `code: 'permission_denied'`, `reason: 'NOT_GRANTED'`.
   */
  addServer(entry: McpNewServer): Promise<McpWrite>;
  /** Changes the entry of a server in its file. Everything that is not named stays, including comments. */
  updateServer(server: McpServerName, change: McpServerChange): Promise<McpWrite>;
  /** Removes the entry from its file, or from `configFile` if several files have one. */
  removeServer(server: McpServerName, of?: { readonly configFile?: string }): Promise<McpWrite>;
  /** Restores the text that the file had before one of your writes. It rejects if the file was written since. */
  undo(write: McpWrite): Promise<McpWrite>;

  /** `servers` has changed. After the loss of the hub and at its return, all of them have. */
  readonly onDidChangeServers: McpEvent<McpServersChange>;
  /** The list of tools of a server has changed. */
  readonly onDidChangeTools: McpEvent<{ readonly server: string }>;
  /** The list of resources, or of resource templates, of a server has changed. */
  readonly onDidChangeResources: McpEvent<{ readonly server: string }>;
  /** The list of prompt templates of a server has changed. */
  readonly onDidChangePrompts: McpEvent<{ readonly server: string }>;
  /** A resource has changed that somebody has subscribed to. Its URI may be below the one that was subscribed to. */
  readonly onDidUpdateResource: McpEvent<{ readonly server: string; readonly uri: string }>;
  /** A request of any caller has begun, changed, or ended, or more is known of the end of one. */
  readonly onDidChangeRequests: McpEvent<McpRequest | McpEndedRequest>;
  /** A question to people was opened, or is over. */
  readonly onDidChangeQuestions: McpEvent<McpQuestionChange>;
  /** `problems` has changed. */
  readonly onDidChangeProblems: McpEvent<void>;
  /** A server has sent a log message, or written a line to stderr. */
  readonly onDidLog: McpEvent<McpLogMessage>;
}

/** The names of the servers that have come, have gone, or are in another state. */
export interface McpServersChange {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

/** The options of every request. */
export interface McpRequestOptions {
  /**
   * An abort cancels the request. Its reason is sent to the server: a string, or the message of an error. The promise
   * then rejects with `code: 'cancelled'`, and the reason is the `cause` of the error.
   */
  readonly signal?: AbortSignal;
  /** An id of your choice, so that cancel() works from the beginning. Default: a new id. */
  readonly requestId?: string;
  /** A label for cancelRequests, for example the task of a conversation. At most 256 bytes. */
  readonly label?: string;
  /** Default: the timeouts of the config. */
  readonly timeouts?: McpTimeouts;
}

export interface McpToolCall extends McpRequestOptions {
  /** Without it, `tool` is a name of modelTools(). */
  readonly server?: McpServerName;
  readonly tool: string;
  /** An object, or its JSON text, which is passed on byte for byte, so large numbers survive. Default: none. */
  readonly arguments?: Readonly<Record<string, unknown>> | string;
  /** Reports may be left out where many come. None is told once the promise has settled. */
  readonly onProgress?: (progress: McpProgress) => void;
  /**
   * States that you have asked the user yourself. A tool that the config denies stays denied. The user is asked once
   * whether an extension may do that; without it, the call asks like any other.
   */
  readonly preapproved?: boolean;
  /** Gives the result as a text for a model, too. */
  readonly view?: {
    /** The largest number of tokens, estimated as bytes / 3.2; at least 128. Default: no bound. */
    readonly maxTokens?: number;
    /** Whether pictures are returned beside the text, instead of described in it. Default: false. */
    readonly images?: boolean;
  };
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
  /** The result as a text for a model, if the call has asked for one. Texts of the server: untrusted. */
  readonly view: McpResultView | undefined;
}

export interface McpResultView {
  readonly text: string;
  /** The JSON texts of the content blocks of pictures. */
  readonly imagesJson: readonly string[];
  /** Whether something was left out, and how much. The text says so in that place. */
  readonly cut: boolean;
  readonly leftBytes: number;
  readonly leftLines: number;
  /** For readResult(); '' if nothing was left out. */
  readonly resultId: string;
}

export interface McpReadOptions {
  /** Where the piece begins, in bytes, from 0. */
  readonly offset?: number;
  /** The largest size of the piece in bytes. Default, and at most: 1 MiB. */
  readonly limit?: number;
  /** Whether to read the JSON text of the result as the server sent it, instead of the text for models. */
  readonly original?: boolean;
}

export interface McpResultPiece {
  /** It begins and ends between characters. Untrusted. */
  readonly text: string;
  readonly offset: number;
  /** Where the next piece begins; 0: this is the last one. */
  readonly nextOffset: number;
  /** The size of the whole text in bytes. */
  readonly size: number;
}

export interface McpModelTools {
  readonly tools: readonly McpModelTool[];
  /** Tools because of which a provider would refuse the whole request, each with its reason, for people. */
  readonly aside: readonly { readonly server: string; readonly tool: string; readonly reason: string }[];
  /** The estimated number of tokens of all tools together. */
  readonly tokens: number;
}

/** A tool in the form that all providers accept. Texts of the server: untrusted. */
export interface McpModelTool {
  /** At most 63 letters, digits, `_` and `-`, for callTool. It depends only on the server and the tool. */
  readonly name: string;
  readonly server: string;
  readonly tool: string;
  readonly title: string;
  /** At most 1,024 bytes. */
  readonly description: string;
  /** The schema of the arguments, and its JSON text. */
  readonly inputSchema: unknown;
  readonly inputSchemaJson: string;
  /** Differences from the schema of the server. */
  readonly changes: readonly { readonly at: string; readonly what: string }[];
  /** An estimate. */
  readonly tokens: number;
  /** What the server says about the tool. */
  readonly hints: {
    readonly readOnly?: boolean;
    readonly destructive?: boolean;
    readonly idempotent?: boolean;
    readonly openWorld?: boolean;
  };
  /** Whether a call asks the user, according to the config. */
  readonly policy: McpPolicy;
}

export interface McpFoundTool {
  /** As in McpModelTool. */
  readonly name: string;
  readonly server: string;
  readonly tool: string;
  readonly description: string;
  /** Scores can be compared only within one search. */
  readonly score: number;
}

/** Whether a tool is called without a question, after a question, or not at all. */
export type McpPolicy = 'allow' | 'ask' | 'deny';

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

/** What an entry says. */
export interface McpEntrySettings {
  readonly configFile: string;
  readonly configLine: number;
  readonly dialect: string;
  readonly enabled: boolean | undefined;
  /** Policies by names of tools and by patterns of names with `*` and `?`. */
  readonly approvals: Readonly<Record<string, McpPolicy>>;
  readonly timeouts: McpServerTimeouts;
}

/** Timeouts of a server in milliseconds; 0 means no limit. */
export interface McpServerTimeouts extends McpTimeouts {
  /** From the start of the server to the end of the handshake. */
  readonly connectMs?: number;
}

/** A file from which the hub reads servers. */
export interface McpConfigFile {
  /** The absolute path; the display name of servers in memory. */
  readonly path: string;
  readonly source: McpSource;
  /** The dialect in which an entry would be written. */
  readonly dialect: string;
  readonly exists: boolean;
  /** Why no server can be added to the file, for people; '' if one can. */
  readonly notWritable: string;
  /** The names of its entries. */
  readonly servers: readonly string[];
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
  /** A file of configFiles(). Default: the last one of `source`, else the last of the user. */
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
  readonly policy: McpPolicy;
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

/** A request that has not ended. */
export interface McpRequest extends McpRequestFacts {
  readonly state:
    'queued' | 'awaiting_approval' | 'connecting' | 'running' | 'awaiting_input' | 'task_working' | 'cancelling';
  readonly startTime: Date;
  /** The label that its caller has given it; '' if none. */
  readonly label: string;
  /** The request that caused this one; '' if there is none, or it is not known. */
  readonly parentRequestId: string;
  readonly progress: McpProgress | undefined;
}

/** A request that has ended. */
export interface McpEndedRequest extends McpRequestFacts {
  readonly state: 'done' | 'failed' | 'cancelled';
  readonly endTime: Date;
  /** Whether the result says that the tool failed. */
  readonly isError: boolean;
  /** The failure of the hub, or the error of the server, that ended the request. */
  readonly error: { readonly code: string; readonly reason: string; readonly message: string } | undefined;
  readonly mcpError: McpServerError | undefined;
  /** What is known of the cancel's way to the server; '' if the request was not cancelled. */
  readonly delivery: 'not_needed' | 'pending' | 'delivered' | 'failed' | '';
  /** Why the cancel was not delivered. */
  readonly deliveryError: string;
  /** Whether work and side effects may go on at the server. */
  readonly serverMayContinue: boolean;
  /** The answer of the server to a cancelled request, which was dropped. */
  readonly lateAnswer: { readonly afterMs: number; readonly isError: boolean } | undefined;
  /** How long it waited, how long the server had it, and how long a person was asked. */
  readonly timings: { readonly queuedMs: number; readonly activeMs: number; readonly humanMs: number };
}

/** The fields that open and ended requests have in common. */
export interface McpRequestFacts {
  readonly requestId: string;
  readonly server: string;
  /** incoming: a question of the server. */
  readonly direction: 'outgoing' | 'incoming';
  /** The method of MCP, for example `tools/call`. */
  readonly method: string;
  /** '' if the request is not a tool call. */
  readonly tool: string;
  /** The title of the tool; '' if it has none. Untrusted. */
  readonly title: string;
  /** What a request without a tool is about, for example the URI of a resource. Untrusted. */
  readonly subject: string;
  /** One line of the arguments, without secrets that are known as such. Untrusted. */
  readonly argumentsPreview: string;
  /** Who made the request: an extension, or the client of a gateway. '' if that is not known. */
  readonly caller: string;
  readonly cancellation: McpCancellation | undefined;
}

/** Who cancelled a request, why and when. */
export interface McpCancellation {
  readonly origin: McpOrigin;
  /** Word for word, at most 256 characters. If a server gave it, it is untrusted. */
  readonly reason: string;
  readonly time: Date | undefined;
}

/** Who ended a request or a question; '' if that is not known. */
export type McpOrigin = 'user' | 'host' | 'server' | 'timeout' | 'parent' | 'transport' | 'policy' | 'shutdown' | '';

/** What a question is about. form and url are elicitations of servers, input is a value for the config. */
export type McpQuestionKind = 'approval' | 'launch' | 'form' | 'url' | 'sampling' | 'signIn' | 'input';

export interface McpOpenQuestion {
  readonly questionId: string;
  readonly server: string;
  readonly kind: McpQuestionKind;
  /** The call that led to the question; '' if that is not known. */
  readonly requestId: string;
}

export interface McpQuestionChange extends McpOpenQuestion {
  readonly open: boolean;
}

export interface McpLogMessage {
  readonly server: string;
  readonly level: string;
  readonly logger: string;
  /** The JSON text of what was logged, or of a line of stderr. */
  readonly dataJson: string;
}
