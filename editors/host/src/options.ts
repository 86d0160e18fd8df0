// The options of a host for its hub and for the pages that it relays.
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { AttachResponse, HelloJson, OpenSchema, SetRootsSchema } from './gen/mcphub/v1/editor_pb.js';
import type { Prompt, PromptAnswer } from './gen/mcphub/v1/prompt_pb.js';
import type { HubLog } from './logs.js';
import type { PatienceOptions } from './patience.js';

export interface HubOptions {
  /** Path of mcphub. Default: the one of the package `@mcphub/bin-PLATFORM-ARCH` beside this package. */
  readonly binary?: string;
  /**
   * Name of your program. What people answer in its hubs is kept in a directory of its own, and counts in no other
   * program. Default: the name of the script that runs. `MCPHUB_STATE_DIR` in `env` chooses the directory itself.
   */
  readonly program?: string;
  /** Default: ['serve']. */
  readonly args?: readonly string[];
  /**
   * Variables that are added to this process's environment. `MCPHUB_DESKTOP: '1'` states that this process was started
   * from a desktop and not from a shell, so that servers get the environment of the user's login shell.
   */
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Whether to use AutoMTLS. Default: true. */
  readonly tls?: boolean;
  /** The time from the spawn to the first answer. Default: 60,000. */
  readonly startTimeoutMs?: number;
  /** The time for Drain, Shutdown and kill together. Default: 10,000. */
  readonly stopTimeoutMs?: number;
  /**
   * How long the hub may leave a question unanswered before it counts as unresponsive (see `Hub.responsive`). A small
   * question is sent to it every 5 s, and when something is sent. Default: 3,000; 0: never.
   */
  readonly answerTimeoutMs?: number;
  /**
   * How to restart a hub that died. Defaults: 500 ms, 30,000 ms, 5 attempts in a row; a hub that lived for a minute
   * resets the count. false: no restart.
   */
  readonly restart?: false | PatienceOptions;
  /**
   * Lets the hub survive a restart of this process: after `leave` (or a crash) the hub runs on for `graceMs`, and the
   * next process that starts a hub with the same directory and key takes it over. Put everything into the key that must
   * be equal: workspace, version of the binary. The log lines of such a hub are lost once its first host is gone.
   * `departureMs` (default 0): how long the first start waits for a process with the same key that may be about to
   * leave, such as that of an editor's window that reloads. If another window has the same key, the start waits for the
   * whole time.
   */
  readonly keep?: {
    readonly directory: string;
    readonly key: string;
    readonly graceMs: number;
    readonly departureMs?: number;
  };
  /** Is called for each line of the hub's log. */
  readonly onLog?: (line: HubLog) => void;
}

export interface RelayOptions {
  /** Changes the page's hello before it is sent: window id, roots, title. */
  readonly hello?: (hello: HelloJson) => HelloJson;
  /**
   * May replace an answer (by a completion of a model, or a secret). If it resolves with undefined, no answer is sent,
   * and the page is told that the question is still open.
   */
  readonly answer?: (answer: PromptAnswer, prompt: Prompt | undefined) => Promise<PromptAnswer | undefined>;
  /** Is called when the hub has accepted the answer. Only now open the URL or store the secret. */
  readonly answered?: (answer: PromptAnswer, prompt: Prompt) => void;
  readonly event?: (event: AttachResponse) => void;
  /**
   * Is called when the open prompts whose cards are in view on the page have changed. Whether the page itself is
   * visible, only the host knows.
   */
  readonly inView?: (promptIds: readonly string[]) => void;
  /**
   * Whether the page may add, change and remove servers in config files, undo that, and read their entries with all
   * values. Default: false, such messages are refused. The page offers this if its surface has `configWrites`, too.
   */
  readonly configWrites?: boolean;
  /**
   * Returns the registry that the page searches, as the address before `/v0.1`; the host may ask a person for it.
   * undefined: the page is told that no registry is chosen. Default: no registry. Nothing is sent to the registry
   * before the page searches.
   */
  readonly registry?: () => Promise<string | undefined> | string | undefined;
  /**
   * Lets a person choose the file of a bundle (.mcpb), and returns its path; undefined: no file was chosen. Default:
   * the request is refused.
   */
  readonly chooseBundle?: () => Promise<string | undefined>;
  /**
   * The name of the program that controls this page, the one under which it writes config entries. It cannot agree to
   * the launch of a server that it wrote itself. Default: none; messages of the page count as actions of a person.
   */
  readonly actsFor?: string;
}

/** The initial values of the form that adds a server. */
export interface AddServerProposed {
  readonly server?: string;
  readonly entryText?: string;
  /** Whether the page asks for a bundle at once, by the hook `chooseBundle`. */
  readonly bundle?: boolean;
}

/** The relay between one page and the hub. */
export interface Relay {
  /** The id of the window in the hub; '' before the first welcome. */
  readonly windowId: string;
  /**
   * Sets the folders that are open now. They are sent to the hub at once, and with each later hello of the page.
   * Requests and prompts of the window stay.
   */
  setRoots(roots: MessageInitShape<typeof SetRootsSchema>['roots']): void;
  /**
   * Makes the page bring a prompt into view and focus it; '' means the oldest open prompt. If the page is not attached
   * yet, it gets the last such call when it is.
   */
  reveal(promptId: string): void;
  /**
   * Makes the page open its form that adds a server, with a name and a text in any dialect from which an entry is read,
   * if they are given. Nothing is written before a person confirms it. If the page is not attached yet, it gets the
   * last such call when it is.
   */
  openAddServer(proposed?: AddServerProposed): void;
  /**
   * Makes the page open one thing: a server, something that it offers, or a request that has ended. If the page is not
   * attached yet, it gets the last such call when it is.
   */
  open(thing: MessageInitShape<typeof OpenSchema>): void;
  /**
   * Breaks the stream. Call it when the page is gone and may come back with its window's id, as at a reload: what
   * belongs to the window stays in the hub for as long as a window may take to come back.
   */
  leave(): void;
  /** Closes the window for good. Call it when the page is. */
  dispose(): void;
}
