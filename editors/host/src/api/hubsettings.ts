// What the owner of a hub says when it creates one, and what only the owner may do with it.
import type { HubLog } from '../logs.js';
import type { PatienceOptions } from '../patience.js';
import type { HubState } from '../hubstate.js';
import type { ProxySetting } from '../proxy.js';
import type {
  McpConfigProblem,
  McpEvent,
  McpHub,
  McpHubError,
  McpPolicy,
  McpServerForm,
  McpServerName,
  McpServerTimeouts,
  McpSource,
  McpTimeouts,
} from './mcphub.js';
import type { Launch, QuestionHandlers } from './question.js';

export interface HubSettings {
  /**
   * Name of your program. People see it beside what it writes, and what they answer in its hubs is kept in a directory
   * of its own, and counts in no other program. Default: the name of the script that runs.
   */
  readonly program?: string;
  /** Path of mcphub. Default: the one of the package `@mcphub/bin-PLATFORM-ARCH` beside this package. */
  readonly binary?: string;
  /** Variables that are added to this process's environment for the hub. docs/embedding.md lists those of the hub. */
  readonly env?: NodeJS.ProcessEnv;
  /**
   * The proxy of the hub, and of its servers that do not set their own. Default: that of the environment. `env` takes
   * precedence.
   */
  readonly proxy?: ProxySetting;
  /** The working directory of the hub, to which relative paths of files refer. Default: that of this process. */
  readonly cwd?: string;

  /** The config files, in order of increasing precedence. A path alone is a file of the workspace. Default: none. */
  readonly files?: readonly (string | ConfigFileSetting)[];
  /** Servers in memory, as with setServers(). Default: none. */
  readonly servers?: readonly MemoryServer[];
  /**
   * The managed policy that your program hands on from its organisation: which servers may be launched
   * (docs/policy.md). It holds beside that of the system, which it cannot loosen. Default: none.
   */
  readonly policy?: PolicySetting;
  /** The folders that are open, as absolute paths or file URIs. Servers learn them as roots. Default: none. */
  readonly folders?: readonly string[];

  /**
   * What answers the questions of the hub, by their kinds. A kind without a handler can only be answered on a page. If
   * nobody can answer a question, what needs the answer fails with the reason `NO_APPROVER`.
   */
  readonly questions?: QuestionHandlers;
  /**
   * Who asks before a call that the config wants asked about. `ask` (default): the hub does, by `questions` or on a
   * page. `host`: this program has asked its user itself; each of its calls is preapproved. What the config denies
   * stays denied.
   */
  readonly approvals?: 'ask' | 'host';
  /** The timeouts of this program's calls, where a call does not say its own. Default: those of the config. */
  readonly timeouts?: McpTimeouts;
  /** A page to be shown from the start, as with showPage(). Default: none. */
  readonly page?: PagePort;

  /** How to restart a hub that died. Defaults: 500 ms, 30,000 ms, 5 attempts in a row. false: no restart. */
  readonly restart?: false | PatienceOptions;
  /** The time from the spawn to the first answer. Default: 60,000. */
  readonly startTimeoutMs?: number;
  /** The time for the whole end of the hub. Default: 10,000. */
  readonly stopTimeoutMs?: number;
  /** Is called for each line of the hub's log. Default: they are dropped. */
  readonly onLog?: (line: HubLog) => void;
  /**
   * Is called for what fails in the background: a handler or a listener that throws, an answer that the hub refuses, a
   * config that cannot be read by a hub that was started anew. Default: a warning of the process.
   */
  readonly onError?: (error: McpHubError) => void;
}

export interface ConfigFileSetting {
  /** An absolute path, or one that is relative to `cwd`. */
  readonly path: string;
  /**
   * Whose file it is. user: the user's own. host: your program has written it. workspace (default): it has come with a
   * folder, and each of its servers starts only after the user has agreed to its exact command or address.
   */
  readonly source?: McpSource;
  /** Default: determined from the name and the content. */
  readonly dialect?: string;
  /** The absolute path of the workspace folder that the file belongs to; `${workspaceFolder}` stands for it. */
  readonly folder?: string;
  /** Whether the file need not exist, as a place where servers may be added. Default: false. */
  readonly mayBeMissing?: boolean;
}

export interface PolicySetting {
  /** A policy, or its JSON text. One that cannot be used, also an empty text, lets nothing start, and is a problem. */
  readonly policy: Readonly<Record<string, unknown>> | string;
  /** vscode: an object with VS Code's settings. cline: Cline's remote config. Default: the hub's own form. */
  readonly dialect?: 'vscode' | 'cline';
  /** Where it is from, for people. */
  readonly name?: string;
}

/**
 * A server that is in no file. It is the host's: nobody is asked before it starts. All texts are literal, and nothing
 * in them is a variable.
 */
export interface MemoryServer extends McpServerForm {
  readonly name: string;
  /** Default: true. */
  readonly enabled?: boolean;
  /** Policies by names of tools, and by patterns of names with `*` and `?`. Default: ask. */
  readonly approvals?: Readonly<Record<string, McpPolicy>>;
  readonly timeouts?: McpServerTimeouts;
  /** Default: lazy, on its first use. */
  readonly start?: 'lazy' | 'eager';
  /** The revisions of MCP to speak: before 2026-07-28, or from then on. Default: auto, what the server speaks. */
  readonly era?: 'auto' | 'legacy' | 'modern';
}

/** What has become of the config. */
export interface ConfigOutcome {
  /** All problems of the config, also those of single servers. */
  readonly problems: readonly (McpConfigProblem & { readonly server: string })[];
  /** The names of the servers that were stopped, because they are run differently now or not any more. */
  readonly stopped: readonly string[];
}

/** A hub that belongs to this program. */
export interface OwnedHub extends McpHub {
  readonly state: HubState;
  /** A sentence about the state, for people. */
  readonly message: string;
  /** False if the hub runs but does not answer. It may go on later. */
  readonly responsive: boolean;
  /** The state or `responsive` has changed. */
  readonly onDidChangeState: McpEvent<{
    readonly state: HubState;
    readonly message: string;
    readonly responsive: boolean;
  }>;

  /**
   * Replaces the servers in memory. Of two of one name, the one in memory takes precedence over the host's other
   * entries; beside those of the user and of the workspace it is listed as an entry of another source is. Servers that
   * stay as they are keep running. Resolves when the change has been applied.
   */
  setServers(servers: readonly MemoryServer[]): Promise<ConfigOutcome>;
  /** Replaces the config files in the same way. The files themselves are watched by the hub. */
  setFiles(files: readonly (string | ConfigFileSetting)[]): Promise<ConfigOutcome>;
  /** Replaces the open folders. */
  setFolders(folders: readonly string[]): void;

  /**
   * Returns all that a yes to the start of a server would run, for a page of your own that has its own button for it.
   * Nobody is asked, and nothing is started. Resolves to undefined if nobody has to be asked.
   */
  launch(server: McpServerName): Promise<ShownLaunch | undefined>;
  /**
   * Says that a person has agreed in your page to the launch with this hash, having seen all of it. An open question
   * about it ends; the server is not started. Rejects with `LAUNCH_CHANGED` if something else would be run by now: show
   * that. The scope is as for an answer: `once` (the default) is until the hub ends.
   */
  allowLaunch(server: McpServerName, hash: string, scope?: 'once' | 'always'): Promise<void>;

  /** Shows the page of the hub (`@mcphub/page`) through a port, for example of a webview. */
  showPage(port: PagePort, options?: PageOptions): Page;

  /** Ends the hub and all that it runs, and starts it anew. */
  restart(reason?: string): Promise<void>;
  /**
   * Ends the hub: its open requests are cancelled with the reason, questions are taken back, pages and servers end. It
   * takes bounded time and never rejects. Afterwards every method rejects, and nothing of the hub is left.
   */
  close(reason?: string): Promise<void>;
}

/** What `launch` returns. */
export interface ShownLaunch extends Launch {
  /** Stands for all of it, and for the values behind it. */
  readonly hash: string;
  /** Whether a person has agreed to it already. */
  readonly allowed: boolean;
}

/** The host's end of a page: messages are objects that JSON can express. */
export interface PagePort {
  post(message: object): void;
  /** Registers the listener for messages of the page. The returned function unregisters it. */
  onMessage(listener: (message: unknown) => void): () => void;
}

export interface PageOptions {
  /** Name of the window for logs. Default: "page". */
  readonly title?: string;
  /** Whether the page may add, change and remove servers in config files. Default: false. */
  readonly configWrites?: boolean;
  /** Returns the address of the registry that the page may search. Default: none. */
  readonly registry?: () => Promise<string | undefined> | string | undefined;
  /** Lets a person choose the file of a bundle (.mcpb). Default: refused. */
  readonly chooseBundle?: () => Promise<string | undefined>;
}

export interface Page {
  /** Brings a question into view; without an id the oldest one. */
  reveal(questionId?: string): void;
  /** Breaks the connection when the page is gone and may come back, as at a reload. */
  leave(): void;
  /** Closes the page for good. */
  dispose(): void;
}
