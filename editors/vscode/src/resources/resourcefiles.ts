// Resources of servers as read-only documents. While a document is open and its server supports subscriptions, it is
// read again when the server reports a change, but at most once in refreshMs. So a server that reports changes without
// end causes only one request at a time.
import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import { McpServerService, ServerState } from '@mcphub/host/contract';
import type { AttachResponse, WatcherWindow } from '@mcphub/host/contract';
import { describe } from '../hub/hubprocess.js';
import type { HubProcess } from '../hub/hubprocess.js';
import { documentOf } from './content.js';
import { resourceOf, resourceScheme, type ResourceName } from './resourceuri.js';
import { resultOf } from './userrequest.js';

const refreshMs = 2_000;
const mostKept = 30;
const mostBytes = 64 << 20;

interface Kept {
  readonly bytes: Uint8Array;
  readonly time: number;
}

interface Watched extends ResourceName {
  readonly document: vscode.Uri;
  editors: number;
  subscribed: boolean;
  refresh: NodeJS.Timeout | undefined;
}

export interface ResourceWorld {
  readonly process: Pick<HubProcess, 'hub'>;
  readonly watcher: Pick<WatcherWindow, 'call' | 'listen' | 'standing'>;
  readonly ready: () => Promise<void>;
  readonly warn: (text: string) => void;
}

export class ResourceFiles implements vscode.FileSystemProvider, vscode.Disposable {
  readonly #world: ResourceWorld;
  readonly #changed = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly onDidChangeFile = this.#changed.event;
  readonly #kept = new Map<string, Kept>();
  readonly #reading = new Map<string, Promise<Kept>>();
  readonly #watched = new Map<string, Watched>();
  readonly #stops: (() => void)[];
  #clock = 0;

  constructor(world: ResourceWorld) {
    this.#world = world;
    const registration = vscode.workspace.registerFileSystemProvider(resourceScheme, this, {
      isCaseSensitive: true,
      isReadonly: true,
    });
    const stop = world.watcher.listen({ event: (said) => this.#heard(said) });
    this.#stops = [() => void registration.dispose(), stop];
  }

  /** Stores what a command has read, so that the document shows it without another request. */
  put(document: vscode.Uri, resultJson: string): void {
    this.#keep(document, documentOf(resultJson));
  }

  async stat(document: vscode.Uri): Promise<vscode.FileStat> {
    const { bytes, time } = await this.#read(document);
    return {
      type: vscode.FileType.File,
      ctime: 0,
      mtime: time,
      size: bytes.length,
      permissions: vscode.FilePermission.Readonly,
    };
  }

  async readFile(document: vscode.Uri): Promise<Uint8Array> {
    return (await this.#read(document)).bytes;
  }

  watch(document: vscode.Uri): vscode.Disposable {
    const key = document.toString();
    let watched = this.#watched.get(key);
    if (watched === undefined) {
      watched = { ...resourceOf(document), document, editors: 0, subscribed: false, refresh: undefined };
      this.#watched.set(key, watched);
    }
    const mine = watched;
    mine.editors++;
    void this.#subscribe(mine);
    let over = false;
    return new vscode.Disposable(() => {
      if (over) {
        return;
      }
      over = true;
      mine.editors--;
      if (mine.editors === 0) {
        this.#watched.delete(key);
        this.#forget(mine); // no change would be reported from now on
        clearTimeout(mine.refresh);
        void this.#unsubscribe(mine);
      }
    });
  }

  readDirectory(): [string, vscode.FileType][] {
    return [];
  }

  createDirectory(document: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(document);
  }

  writeFile(document: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(document);
  }

  delete(document: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(document);
  }

  rename(document: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(document);
  }

  dispose(): void {
    this.#stops.forEach((stop) => stop());
    for (const { refresh } of this.#watched.values()) {
      clearTimeout(refresh);
    }
    this.#watched.clear();
    this.#kept.clear();
    this.#changed.dispose();
  }

  /** Sends only one request at a time for each resource, for any number of readers. */
  #read(document: vscode.Uri): Promise<Kept> {
    const key = document.toString();
    const kept = this.#kept.get(key);
    if (kept !== undefined) {
      return Promise.resolve(kept);
    }
    const before = this.#reading.get(key);
    if (before !== undefined) {
      return before;
    }
    const current = (): boolean => this.#reading.get(key) === reading;
    const reading: Promise<Kept> = this.#request(document, current).finally(() => {
      if (current()) {
        this.#reading.delete(key);
      }
    });
    this.#reading.set(key, reading);
    return reading;
  }

  /** Reads the resource. The result is kept unless the resource has changed meanwhile. */
  async #request(document: vscode.Uri, current: () => boolean): Promise<Kept> {
    const { server, uri } = resourceOf(document);
    try {
      await this.#world.ready();
      const read = await this.#world.process.hub.servers.readResource({ requestId: randomUUID(), server, uri });
      const bytes = documentOf(resultOf(read));
      return current() ? this.#keep(document, bytes) : { bytes, time: this.#now() };
    } catch (error) {
      throw vscode.FileSystemError.Unavailable(describe(error));
    }
  }

  #keep(document: vscode.Uri, bytes: Uint8Array): Kept {
    const key = document.toString();
    const kept = { bytes, time: this.#now() };
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    let total = 0;
    for (const [index, [old, { bytes: held }]] of [...this.#kept].reverse().entries()) {
      total += held.length;
      if (index >= mostKept || (index > 0 && total > mostBytes)) {
        this.#kept.delete(old);
      }
    }
    return kept;
  }

  /**
   * Returns a new time stamp. The editor compares time and size to detect a change, and two reads may happen in one
   * millisecond.
   */
  #now(): number {
    this.#clock = Math.max(Date.now(), this.#clock + 1);
    return this.#clock;
  }

  #heard({ event }: AttachResponse): void {
    if (event.case === 'resourceUpdated') {
      const { server, uri } = event.value;
      for (const one of this.#watched.values()) {
        const below = one.uri.endsWith('/') ? one.uri : `${one.uri}/`;
        if (one.server === server && (uri === one.uri || uri.startsWith(below))) {
          this.#outdated(one);
        }
      }
    } else if (event.case === 'dropped' && event.value.notices > 0n) {
      this.#watched.forEach((one) => this.#outdated(one)); // it is not known for which resources they were
    } else if (event.case === 'snapshot') {
      // The subscriptions of this window end with their hub. For those that are still there, a change may have been
      // reported while the stream was broken.
      const now = new Set(event.value.subscriptions.map(({ server, uri }) => `${server}\n${uri}`));
      for (const one of this.#watched.values()) {
        one.subscribed = now.has(`${one.server}\n${one.uri}`);
        if (one.subscribed) {
          this.#outdated(one);
        } else {
          void this.#subscribe(one);
        }
      }
    } else if (event.case === 'serverChanged') {
      for (const one of this.#watched.values()) {
        if (one.server === event.value.server?.name) {
          void this.#subscribe(one);
        }
      }
    }
  }

  #outdated(one: Watched): void {
    this.#forget(one);
    one.refresh ??= setTimeout(() => {
      one.refresh = undefined;
      this.#forget(one);
      this.#changed.fire([{ type: vscode.FileChangeType.Changed, uri: one.document }]);
    }, refreshMs);
  }

  /** Makes the next read ask the server again, even if a read from before the change is in progress. */
  #forget({ document }: Watched): void {
    this.#kept.delete(document.toString());
    this.#reading.delete(document.toString());
  }

  /** Subscribes only if the server is running: it must not be started for this. */
  async #subscribe(one: Watched): Promise<void> {
    const server = this.#world.watcher.standing.servers.get(one.server);
    if (one.subscribed || server?.state !== ServerState.READY || !takesSubscriptions(server.capabilitiesJson)) {
      return;
    }
    one.subscribed = true;
    const value = { server: one.server, uri: one.uri };
    try {
      await this.#world.watcher.call(McpServerService.method.subscribeResource, value);
      if (one.editors === 0) {
        await this.#unsubscribe(one); // the document was closed meanwhile
      }
    } catch (error) {
      one.subscribed = false;
      this.#world.warn(`A resource is not subscribed to: ${describe(error)}`);
    }
  }

  async #unsubscribe(one: Watched): Promise<void> {
    if (!one.subscribed) {
      return;
    }
    one.subscribed = false;
    if ([...this.#watched.values()].some((other) => other.server === one.server && other.uri === one.uri)) {
      return; // another document shows the same resource under another name
    }
    const value = { server: one.server, uri: one.uri };
    await this.#world.watcher.call(McpServerService.method.unsubscribeResource, value).catch(() => undefined);
  }
}

function takesSubscriptions(capabilitiesJson: string): boolean {
  try {
    const { resources } = JSON.parse(capabilitiesJson) as { resources?: { subscribe?: unknown } };
    return resources?.subscribe === true;
  } catch {
    return false;
  }
}
