/**
 * What the McpHub extension offers other extensions. Copy this file into yours, and get it so:
 *
 *     const extension = vscode.extensions.getExtension<McpHubApi>('mcphub.mcphub');
 *     const mcphub = await extension?.activate();
 *
 * The user's approvals hold for these calls, too: a tool that may not be called without a question opens one.
 */
export interface McpHubApi {
  /** Rises when something changes that callers would notice. */
  readonly version: 1;

  /**
   * Calls one tool to its end. Rejects with an Error that has `code` (gRPC, lower snake case) and `reason` (the hub's,
   * `DENIED_BY_USER` say) for troubles of the hub, and `code: 'mcp_error'` with `mcpError` for an error that the server
   * answered.
   */
  callTool(call: McpToolCall): Promise<McpToolResult>;

  /** Stops a request, in whatever state. What is unknown or over is an outcome and no error. */
  cancel(requestId: string, reason?: string): Promise<'cancelling' | 'already_finished' | 'unknown'>;

  /** The configured servers, in the order of the config. */
  listServers(): Promise<McpServer[]>;

  /** The tools of one server, or of all that could be asked. A server that is not connected is connected first. */
  listTools(server?: string): Promise<McpTool[]>;

  /** A server came, went, or changed its state. */
  readonly onDidChangeServers: (listener: () => unknown) => { dispose(): void };
}

export interface McpToolCall {
  readonly server: string;
  readonly tool: string;
  /** An object; or JSON text of one, which is passed on byte for byte (large numbers survive). Default: none. */
  readonly arguments?: Readonly<Record<string, unknown>> | string;
  /** Aborting cancels the call; a string as its reason reaches the server. */
  readonly signal?: AbortSignal;
  /** Chosen by you, so that cancel() works from the first moment. Default: minted. */
  readonly requestId?: string;
  readonly onProgress?: (progress: McpProgress) => void;
}

export interface McpProgress {
  readonly progress: number;
  readonly total?: number;
  /** Text of the server: untrusted. */
  readonly message: string;
}

export interface McpToolResult {
  readonly requestId: string;
  /** The tool itself says that it failed. */
  readonly isError: boolean;
  /** The result as the server wrote it. */
  readonly resultJson: string;
  /** The same, parsed. */
  readonly result: unknown;
}

export interface McpServer {
  readonly name: string;
  readonly state: 'stopped' | 'connecting' | 'ready' | 'stopping' | 'failed' | 'disabled' | 'broken' | 'given_up';
  readonly lastError: string;
  readonly configFile: string;
}

export interface McpTool {
  readonly server: string;
  readonly name: string;
  /** Texts of the server: untrusted. */
  readonly title: string;
  readonly description: string;
  /** JSON text of the whole definition, as it came. */
  readonly definitionJson: string;
}
