// What a host says about its hub and about the pages that it relays.
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { AttachResponse, HelloJson, SetRootsSchema } from './gen/mcphub/v1/editor_pb.js';
import type { Prompt, PromptAnswer } from './gen/mcphub/v1/prompt_pb.js';
import type { HubLog } from './logs.js';
import type { PatienceOptions } from './patience.js';

export interface HubOptions {
  /** Path of mcphub. Default: the one of the package `@mcphub/bin-PLATFORM-ARCH` beside this package. */
  readonly binary?: string;
  /** Default: ['serve']. */
  readonly args?: readonly string[];
  /**
   * Added to this process's environment. `MCPHUB_DESKTOP: '1'` says that this process was started from a desktop and not
   * from a shell, so that servers get the environment of the user's login shell.
   */
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Default true: AutoMTLS. */
  readonly tls?: boolean;
  /** From the spawn to the first answer. Default 60,000. */
  readonly startTimeoutMs?: number;
  /** Drain, Shutdown and kill, in all. Default 10,000. */
  readonly stopTimeoutMs?: number;
  /**
   * How long the hub may say nothing while it was asked, before it is unresponsive (see `Hub.responsive`). It is asked
   * something small every 5 s, and when something is sent. Default 3,000; 0: never.
   */
  readonly answerTimeoutMs?: number;
  /** After the hub died. Defaults: 500, 30,000, 5 in a row; a minute of life forgives. */
  readonly restart?: false | PatienceOptions;
  /**
   * Survive a restart of this process: `leave` (or a crash) leaves the hub running for `graceMs`, and the next process
   * that starts one with the same directory and key gets it. Put into the key what must be the same: workspace, version
   * of the binary. Such a hub's log lines are lost once its first host is gone. `departureMs` (default 0): the first
   * start waits so long for a process with the same key that may be about to leave, as that of an editor's window that
   * reloads; another window with the same key costs the whole wait.
   */
  readonly keep?: {
    readonly directory: string;
    readonly key: string;
    readonly graceMs: number;
    readonly departureMs?: number;
  };
  /** Each line of the hub's log. */
  readonly onLog?: (line: HubLog) => void;
}

export interface RelayOptions {
  /** The host's last word: window id, roots, title. */
  readonly hello?: (hello: HelloJson) => HelloJson;
  /**
   * May replace an answer (a completion by a model, a secret). undefined: it is not sent, and the page hears that the
   * question is still open.
   */
  readonly answer?: (answer: PromptAnswer, prompt: Prompt | undefined) => Promise<PromptAnswer | undefined>;
  /** The hub has taken the answer: open the URL now, keep the secret. */
  readonly answered?: (answer: PromptAnswer, prompt: Prompt) => void;
  readonly event?: (event: AttachResponse) => void;
  /** The open prompts whose cards are in view on the page have changed. It is for the host to know whether the page is. */
  readonly inView?: (promptIds: readonly string[]) => void;
  /**
   * The page may add, change and remove servers in config files, undo that, and read their entries with all values.
   * Default: it is refused. The page offers it where its surface says `configWrites`, too.
   */
  readonly configWrites?: boolean;
  /**
   * The registry that the page searches, by the address before `/v0.1`; the host may ask a person for it. undefined: the
   * page hears that none is chosen. Default: none. Nothing is sent to it before the page searches.
   */
  readonly registry?: () => Promise<string | undefined> | string | undefined;
  /** Has a person choose the file of a bundle (.mcpb), by its path. undefined: none was chosen. Default: it is refused. */
  readonly chooseBundle?: () => Promise<string | undefined>;
  /**
   * The program that acts in this page by itself, by the name that it writes config entries under. It cannot agree to
   * the launch of what it wrote. Default: what comes from the page a person has clicked.
   */
  readonly actsFor?: string;
}

/** What the form that adds a server is opened with. */
export interface AddServerProposed {
  readonly server?: string;
  readonly entryText?: string;
  /** The page asks at once for a bundle, by the hook `chooseBundle`. */
  readonly bundle?: boolean;
}

/** Between one page and the hub. */
export interface Relay {
  /** The id under which the hub knows the window; '' before the first welcome. */
  readonly windowId: string;
  /**
   * The folders that are open now: the hub hears of them at once, and with each hello of the page from now on. What
   * belongs to the window stays.
   */
  setRoots(roots: MessageInitShape<typeof SetRootsSchema>['roots']): void;
  /**
   * Has the page bring a prompt into view and give it the focus; '' is the oldest open one. A page that is not there yet
   * hears of the last one when it is.
   */
  reveal(promptId: string): void;
  /**
   * Has the page open its form that adds a server, with a name and a text in any dialect to read an entry from, if they
   * are given. Nothing is written before a person says so. A page that is not there yet hears of the last one when it is.
   */
  openAddServer(proposed?: AddServerProposed): void;
  /** The page is gone for good: half-close. */
  dispose(): void;
}
