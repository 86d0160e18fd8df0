// The questions that a host may show and answer itself, and their answers.

/**
 * What answers the questions of each kind. A handler gets the question and returns the answer, or a promise of it. It
 * may be called for several questions at once, and its question may end before it has answered: then `signal` is
 * aborted, and the answer is not sent.
 *
 * If a handler returns undefined, the question stays open for a page. If it throws, the question is dismissed, and
 * `onError` of the hub is called. If the hub refuses an answer, for example a form that does not fit its schema, the
 * handler is called again with the question, which then has `refused`; the same answer again dismisses it.
 */
export interface QuestionHandlers {
  /** May this tool be called? */
  readonly approval?: (question: ApprovalQuestion) => Answered<Remembered>;
  /** May this server be started, or connected to? */
  readonly launch?: (question: LaunchQuestion) => Answered<Remembered>;
  /** A server asks for data (elicitation). The content is checked against the schema of the question. */
  readonly form?: (question: FormQuestion) => Answered<{ readonly content: Readonly<Record<string, unknown>> }>;
  /**
   * A server asks the user to visit a page. A yes has `openUrl` called. With `waiting` the user has agreed before, and
   * yes means that they are done there.
   */
  readonly url?: (question: UrlQuestion) => Answered;
  /** A server asks for a completion of the host's model (sampling/createMessage). */
  readonly sampling?: (question: SamplingQuestion) => Answered<{ readonly result: SamplingResult }>;
  /** Whether the handler of sampling can run requests that use tools. Default: false. */
  readonly samplingTools?: boolean;
  /** A server needs a sign-in. The same as with `url`; it ends by itself when the browser has come back. */
  readonly signIn?: (question: SignInQuestion) => Answered;
  /** A config file asks for a value. */
  readonly input?: (question: InputQuestion) => Answered<InputValue>;
  /**
   * Opens an address in a browser, after the hub has taken the yes to a question of kind url or signIn. Default: what
   * the user has agreed to is opened by nobody.
   */
  readonly openUrl?: (url: string) => unknown;
}

/** An answer, or a promise of it. `Yes` is what goes with a yes. */
export type Answered<Yes = unknown> = Answer<Yes> | undefined | Promise<Answer<Yes> | undefined>;

/** To decline is an explicit no; to dismiss is to close the question without a choice. */
export type Answer<Yes = unknown> =
  | ({ readonly action: 'accept' } & Yes)
  | { readonly action: 'decline'; readonly reason?: string; readonly muteServer?: boolean }
  | { readonly action: 'dismiss'; readonly muteServer?: boolean };

export interface Remembered {
  /**
   * How long the yes counts. once (default): for this call, or for this start until the hub ends. window: as long as
   * this program is attached. workspace: while the same folders are open. always: from now on.
   */
  readonly scope?: 'once' | 'window' | 'workspace' | 'always';
}

/** The result of sampling/createMessage. */
export interface SamplingResult {
  readonly role: 'user' | 'assistant';
  readonly content: unknown;
  readonly model: string;
  readonly stopReason?: string;
}

export interface InputValue {
  readonly value: string;
  /** Whether this program keeps the value itself, and will answer again. Default: the hub keeps it. */
  readonly keptByHost?: boolean;
}

/** The fields of all questions. Texts of servers and of files are untrusted. */
export interface Question {
  readonly questionId: string;
  /** The server that asks, or that is asked about. */
  readonly server: string;
  /** The request that the question belongs to; '' if there is none. */
  readonly requestId: string;
  /** The call that led to that request; '' if it is not known. */
  readonly parentRequestId: string;
  readonly openTime: Date | undefined;
  /** When the question ends by itself; undefined: never. */
  readonly deadline: Date | undefined;
  /**
   * Is aborted when the question has ended otherwise than by your answer. Its reason is a McpHubError with `code:
   * 'cancelled'` and one of these as `reason`: `WITHDRAWN` (by the server, which gives the message), `PARENT` (the call
   * has ended), `TIMEOUT`, `SERVER_GONE`, `SHUTDOWN`, `SUPERSEDED`, `ANSWERED`, `DECLINED`, `DISMISSED` (on a page), or
   * `CONNECTION_LOST`.
   */
  readonly signal: AbortSignal;
  /** Why the hub has refused your last answer; undefined if there was none. */
  readonly refused: Error | undefined;
}

export interface ApprovalQuestion extends Question {
  readonly tool: string;
  readonly title: string;
  readonly description: string;
  /** The JSON text of all arguments. */
  readonly argumentsJson: string;
  /** The JSON text of the tool's definition; and of the one that was approved before, '' if it has not changed. */
  readonly definitionJson: string;
  readonly previousDefinitionJson: string;
  readonly changes: readonly DefinitionChange[];
  /** Hints of the server. */
  readonly destructive: boolean;
  readonly readOnly: boolean;
}

/** A difference: the JSON texts of the value at a place before and now, '' for none. */
export interface DefinitionChange {
  readonly path: string;
  readonly beforeJson: string;
  readonly afterJson: string;
}

export interface LaunchQuestion extends Question, Launch {}

/**
 * All that a yes to a start would run, or connect to. Show all of it; `launchFacts` of this package puts it into lines.
 * Make invisible characters visible (`visible`).
 */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly directory: string;
  readonly url: string;
  readonly environment: readonly LaunchVariable[];
  readonly environmentNames: readonly string[];
  readonly environmentReferences: readonly string[];
  readonly envFile: string;
  readonly envFileNames: readonly string[];
  readonly inheritedNames: readonly string[];
  readonly inputReferences: readonly string[];
  readonly headerNames: readonly string[];
  readonly allowedTools: readonly string[];
  readonly files: readonly string[];
  readonly configFile: string;
  readonly configLine: number;
  /** Whether there was a yes to an earlier form of the entry, and what is different. */
  readonly changed: boolean;
  readonly changes: readonly DefinitionChange[];
  /** The program that runs, the file that it leads to, where it was found, and why it was not. */
  readonly resolvedCommand: string;
  readonly resolvedTarget: string;
  readonly resolvedFrom: string;
  readonly unresolved: string;
  /** The program that has written the entry; undefined: a person has. */
  readonly writtenBy: { readonly name: string } | undefined;
}

export interface LaunchVariable {
  readonly name: string;
  readonly value: string;
  readonly unset: boolean;
  /** Whether it can make the program load other code: show it as a warning. */
  readonly loadsCode: boolean;
}

export interface FormQuestion extends Question {
  readonly message: string;
  /** The JSON schema of the content, and its text. */
  readonly schema: unknown;
  readonly schemaJson: string;
  /** The JSON text of the params, as they were received. */
  readonly requestJson: string;
}

export interface UrlQuestion extends Question {
  readonly message: string;
  readonly url: string;
  /** The part of the address to highlight. */
  readonly urlHost: string;
  readonly waiting: boolean;
}

export interface SamplingQuestion extends Question {
  /** The params of sampling/createMessage, and their text. */
  readonly request: unknown;
  readonly requestJson: string;
}

export interface SignInQuestion extends Question {
  readonly url: string;
  readonly urlHost: string;
  readonly waiting: boolean;
  readonly issuer: string;
  readonly resource: string;
  readonly scopes: readonly string[];
}

export interface InputQuestion extends Question {
  readonly inputId: string;
  readonly description: string;
  /** Whether the value must not be shown while it is typed. */
  readonly secret: boolean;
  readonly defaultValue: string;
  /** The only values that are allowed; empty: each text is. */
  readonly options: readonly { readonly value: string; readonly label: string }[];
  readonly configFile: string;
  readonly configLine: number;
}
