// What the hub has told, in the plain objects of the API: lists that can be read at once, and events. The lists of
// servers, requests and questions are made of the window's standing when somebody reads them, and kept until it
// changes.
import type { AttachResponse } from '../gen/mcphub/v1/editor_pb.js';
import type { Prompt } from '../gen/mcphub/v1/prompt_pb.js';
import type { Request } from '../gen/mcphub/v1/request_pb.js';
import type { Server } from '../gen/mcphub/v1/server_pb.js';
import { Emitter } from './emitter.js';
import type {
  McpConfigProblem,
  McpEndedRequest,
  McpHub,
  McpLogMessage,
  McpOpenQuestion,
  McpQuestionChange,
  McpRequest,
  McpServer,
  McpServersChange,
} from './mcphub.js';
import * as shown from './shown.js';
import { answeredLate, delivered, endedRequest, lostRequest, openQuestion, request } from './shownrequests.js';
import type { Change, Standing } from '../standing.js';
import type { WatcherWindow } from './watcherwindow.js';

/** The largest number of ended requests that are kept, as many as a snapshot has. */
const maxHistory = 1000;

type Lists = Pick<McpHub, 'servers' | 'requests' | 'questions' | 'history' | 'problems'>;
/** The events of the API. */
export type Events = Pick<McpHub, Extract<keyof McpHub, `onDid${string}`>>;

export class Mirror implements Lists {
  readonly events: Events;
  readonly #watcher: Pick<WatcherWindow, 'standing' | 'listen'>;
  readonly #servers = kept(
    (s: Standing) => s.servers,
    (map: ReadonlyMap<string, Server>) => {
      const inOrder = [...map.values()].sort((a, b) => a.place - b.place);
      return inOrder.map((server) => this.#shownServers.get(server));
    },
  );
  readonly #requests = kept(
    (s: Standing) => s.requests,
    (map: ReadonlyMap<string, Request>) => [...map.values()].map((one) => this.#shownRequests.get(one)),
  );
  readonly #questions = kept(
    (s: Standing) => s.prompts,
    (map: ReadonlyMap<string, Prompt>) => [...map.values()].map(openQuestion).filter((one) => one !== undefined),
  );
  readonly #shownServers = new Shown(shown.server);
  readonly #shownRequests = new Shown(request);
  readonly #emitters: readonly { dispose(): void }[];
  readonly #serversChanged: Emitter<McpServersChange>;
  readonly #toolsChanged: Emitter<{ readonly server: string }>;
  readonly #resourcesChanged: Emitter<{ readonly server: string }>;
  readonly #promptsChanged: Emitter<{ readonly server: string }>;
  readonly #resourceUpdated: Emitter<{ readonly server: string; readonly uri: string }>;
  readonly #requestsChanged: Emitter<McpRequest | McpEndedRequest>;
  readonly #questionsChanged: Emitter<McpQuestionChange>;
  readonly #problemsChanged: Emitter<void>;
  readonly #logged: Emitter<McpLogMessage>;
  readonly #stop: () => void;
  #history: readonly McpEndedRequest[] = [];
  #problems: readonly McpConfigProblem[] = [];
  #serversBefore: readonly McpServer[] = [];
  #requestsBefore: ReadonlyMap<string, Request> = new Map();

  /** `listenerFailed` is called for listeners that throw. */
  constructor(watcher: Pick<WatcherWindow, 'standing' | 'listen'>, listenerFailed: (error: unknown) => void) {
    this.#watcher = watcher;
    const made: { dispose(): void }[] = [];
    const emitter = <T>(): Emitter<T> => {
      const one = new Emitter<T>(listenerFailed);
      made.push(one);
      return one;
    };
    this.#emitters = made;
    this.#serversChanged = emitter();
    this.#toolsChanged = emitter();
    this.#resourcesChanged = emitter();
    this.#promptsChanged = emitter();
    this.#resourceUpdated = emitter();
    this.#requestsChanged = emitter();
    this.#questionsChanged = emitter();
    this.#problemsChanged = emitter();
    this.#logged = emitter();
    this.events = {
      onDidChangeServers: this.#serversChanged.event,
      onDidChangeTools: this.#toolsChanged.event,
      onDidChangeResources: this.#resourcesChanged.event,
      onDidChangePrompts: this.#promptsChanged.event,
      onDidUpdateResource: this.#resourceUpdated.event,
      onDidChangeRequests: this.#requestsChanged.event,
      onDidChangeQuestions: this.#questionsChanged.event,
      onDidChangeProblems: this.#problemsChanged.event,
      onDidLog: this.#logged.event,
    };
    this.#stop = watcher.listen({
      changed: (change, standing) => this.#changed(change, standing),
      event: (response) => this.#event(response),
    });
  }

  get servers(): readonly McpServer[] {
    return this.#servers(this.#watcher.standing);
  }

  get requests(): readonly McpRequest[] {
    return this.#requests(this.#watcher.standing);
  }

  get questions(): readonly McpOpenQuestion[] {
    return this.#questions(this.#watcher.standing);
  }

  get history(): readonly McpEndedRequest[] {
    return this.#history;
  }

  get problems(): readonly McpConfigProblem[] {
    return this.#problems;
  }

  /** Tells nothing more. */
  dispose(): void {
    this.#stop();
    this.#emitters.forEach((one) => one.dispose());
  }

  #changed({ servers, opened = [], closed = [] }: Change, { known, requests }: Standing): void {
    const running = this.#requestsBefore;
    this.#requestsBefore = requests; // its list is not made here: one is made of each event, and few are read
    if (!known) {
      this.#lost([...running.values()].filter(({ requestId }) => !requests.has(requestId)));
    }
    if (servers === true) {
      const before = this.#serversBefore;
      this.#serversBefore = this.servers;
      const change = difference(before, this.servers);
      if (change.added.length + change.changed.length + change.removed.length > 0) {
        this.#serversChanged.fire(change);
      }
    }
    const asked = (prompt: Prompt, open: boolean): void => {
      const question = openQuestion(prompt);
      if (question !== undefined) {
        this.#questionsChanged.fire({ ...question, open });
      }
    };
    opened.forEach((prompt) => asked(prompt, true));
    closed.forEach(({ prompt }) => asked(prompt, false));
  }

  /** The hub is gone, and with it what it knew. Nobody tells how its requests have ended. */
  #lost(requests: readonly Request[]): void {
    this.#history = [];
    this.#setProblems([]);
    requests.forEach((one) => this.#requestsChanged.fire(lostRequest(this.#shownRequests.get(one))));
  }

  #event({ event, time }: AttachResponse): void {
    switch (event.case) {
      case 'snapshot':
        this.#history = event.value.history.map(endedRequest).filter((one) => one !== undefined);
        this.#setProblems(event.value.problems.map(shown.problem));
        break;
      case 'configReloaded':
        this.#setProblems(event.value.problems.map(shown.problem));
        break;
      case 'toolsChanged':
        this.#toolsChanged.fire({ server: event.value.server });
        break;
      case 'resourcesChanged':
        this.#resourcesChanged.fire({ server: event.value.server });
        break;
      case 'mcpPromptsChanged':
        this.#promptsChanged.fire({ server: event.value.server });
        break;
      case 'resourceUpdated':
        this.#resourceUpdated.fire({ server: event.value.server, uri: event.value.uri });
        break;
      case 'logMessage': {
        const { server, level, logger, dataJson } = event.value;
        this.#logged.fire({ server, level, logger, dataJson });
        break;
      }
      case 'mcpRequestStarted':
        this.#requestChanged(event.value.request?.requestId);
        break;
      case 'mcpRequestProgressed':
      case 'mcpRequestCancelling':
        this.#requestChanged(event.value.requestId);
        break;
      case 'mcpRequestCancelled':
      case 'mcpRequestFinished': {
        const ended = endedRequest({ end: ending(event), ...(time && { endTime: time }) });
        if (ended !== undefined) {
          this.#history = [...this.#history, ended].slice(-maxHistory);
          this.#requestsChanged.fire(ended);
        }
        break;
      }
      case 'mcpRequestCancelDelivery': {
        const { requestId, delivery, error } = event.value;
        this.#endedChanged(requestId, (ended) => delivered(ended, delivery, error));
        break;
      }
      case 'mcpRequestAnsweredLate': {
        const { requestId, answer } = event.value;
        if (answer !== undefined) {
          this.#endedChanged(requestId, (ended) => answeredLate(ended, answer));
        }
        break;
      }
      default:
    }
  }

  #setProblems(problems: readonly McpConfigProblem[]): void {
    if (this.#problems.length + problems.length > 0) {
      this.#problems = problems;
      this.#problemsChanged.fire();
    }
  }

  #requestChanged(requestId = ''): void {
    const open = this.#watcher.standing.requests.get(requestId);
    if (open !== undefined) {
      this.#requestsChanged.fire(this.#shownRequests.get(open));
    }
  }

  /** More is known of the latest cancelled request with this id. */
  #endedChanged(requestId: string, change: (ended: McpEndedRequest) => McpEndedRequest): void {
    const at = this.#history.findLastIndex((one) => one.requestId === requestId && one.state === 'cancelled');
    const ended = this.#history[at];
    if (ended !== undefined) {
      const changed = change(ended);
      this.#history = this.#history.with(at, changed);
      this.#requestsChanged.fire(changed);
    }
  }
}

type Ended = Parameters<typeof endedRequest>[0]['end'];

function ending(
  event: Extract<AttachResponse['event'], { case: 'mcpRequestCancelled' | 'mcpRequestFinished' }>,
): Ended {
  return event.case === 'mcpRequestCancelled'
    ? { case: 'cancelled', value: event.value }
    : { case: 'finished', value: event.value };
}

function difference(before: readonly McpServer[], after: readonly McpServer[]): McpServersChange {
  const old = new Map(before.map((server) => [server.name, server]));
  const names = new Set(after.map(({ name }) => name));
  return {
    added: after.filter(({ name }) => !old.has(name)).map(({ name }) => name),
    changed: after.filter((server) => old.has(server.name) && old.get(server.name) !== server).map(({ name }) => name),
    removed: before.filter(({ name }) => !names.has(name)).map(({ name }) => name),
  };
}

/** The plain object of each message, made once, so that what has not changed stays the same object. */
class Shown<M extends object, T extends object> {
  readonly #made = new WeakMap<M, T>();
  readonly #make: (message: M) => T;

  constructor(make: (message: M) => T) {
    this.#make = make;
  }

  get(message: M): T {
    const made = this.#made.get(message) ?? Object.freeze(this.#make(message));
    this.#made.set(message, made);
    return made;
  }
}

/** Returns a function that makes a list of a part of the standing, and makes it anew when that part is another one. */
function kept<Part, T>(
  part: (standing: Standing) => Part,
  make: (part: Part) => readonly T[],
): (standing: Standing) => readonly T[] {
  let of: Part | undefined;
  let list: readonly T[] = [];
  return (standing) => {
    const now = part(standing);
    if (now !== of) {
      of = now;
      list = Object.freeze(make(now));
    }
    return list;
  };
}
