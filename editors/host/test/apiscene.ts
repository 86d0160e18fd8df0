// The API over a fake hub: its services answer what a test says and record what they were asked, and its window reads
// fake streams.
import assert from 'node:assert/strict';
import { connection, Mirror, Subscriptions, WatcherWindow } from '../dist/contract.js';
import type { Caller, Hub, HubError, WindowHello } from '../dist/contract.js';
import type { McpHub } from '../dist/index.js';
import { ReturningWindow } from '../dist/window.js';
import { FakeSource, settle } from './fakestream.js';
import type { FakeStream } from './fakestream.js';

type Answer = object | ((request: never) => unknown);

export class ApiScene {
  readonly source = new FakeSource();
  /** What the services were asked, by the names of service and method. */
  readonly sent: [string, unknown][] = [];
  /** What they answer, by the names of methods. */
  readonly answers: Record<string, Answer> = {};
  readonly failed: unknown[] = [];
  readonly hub: Hub;
  readonly watcher: WatcherWindow;
  readonly mirror: Mirror;
  readonly subscriptions: Subscriptions;
  ready: () => Promise<void> = () => Promise.resolve();

  constructor(hello: WindowHello = {}) {
    const service = (name: string): unknown =>
      new Proxy(
        {},
        {
          get: (_, method: string) => (request: unknown) => {
            this.sent.push([`${name}.${method}`, request]);
            const answer = this.answers[method] ?? {};
            return Promise.resolve(typeof answer === 'function' ? answer(request as never) : answer);
          },
        },
      );
    this.hub = {
      requests: service('requests'),
      servers: service('servers'),
      models: service('models'),
      configs: service('configs'),
      window: (said: object) => new ReturningWindow(this.source, said, undefined),
    } as unknown as Hub;
    const failed = (error: unknown): void => void this.failed.push(error);
    this.watcher = new WatcherWindow(hello, [], failed);
    this.mirror = new Mirror(this.watcher, failed);
    this.subscriptions = new Subscriptions(() => this.hub);
  }

  api(caller: Partial<Caller> = {}): McpHub {
    const world = {
      hub: () => this.hub,
      watcher: this.watcher,
      ready: () => this.ready(),
      mirrored: () => Promise.resolve(),
      mirror: this.mirror,
      subscriptions: this.subscriptions,
    };
    return connection(world, {
      name: 'Some Body',
      preapproved: () => Promise.resolve(true),
      asksItself: false,
      timeouts: {},
      writtenBy: () => Promise.resolve('Some Body'),
      ...caller,
    });
  }

  /** Attaches the window, and returns its stream after a welcome and a snapshot. */
  async attach(snapshot: object = {}): Promise<FakeStream> {
    this.watcher.follow(this.hub);
    await settle();
    const stream = this.source.stream(-1);
    stream.welcome();
    stream.say({ case: 'snapshot', value: snapshot });
    await settle();
    return stream;
  }

  async close(): Promise<void> {
    await this.watcher.close();
    this.mirror.dispose();
    assert.deepEqual(this.failed, []);
  }
}

/** Returns the error that a promise rejects with. */
export function refusal(promise: Promise<unknown>): Promise<HubError> {
  return promise.then(
    () => assert.fail('it should have failed'),
    (error: unknown) => error as HubError,
  );
}
