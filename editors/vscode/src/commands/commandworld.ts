// The objects that the commands use.
import { CancelOutcome, HubError, McpHubService } from '@mcphub/host/contract';
import type { WatcherWindow } from '@mcphub/host/contract';
import type { Answers } from '../questions/answers.js';
import type { ConfigFiles } from '../config/configfiles.js';
import type { DemoServer } from '../begin/demoserver.js';
import type { Documents } from './documents.js';
import type { ResourceFiles } from '../resources/resourcefiles.js';
import type { HubProcess } from '../hub/hubprocess.js';
import type { Known } from '../hub/known.js';
import type { Output } from '../log/output.js';
import type { Panel } from '../page/panel.js';
import type { Secrets } from '../questions/secrets.js';
import type { Sidebar } from '../page/sidebar.js';
import type { Tabs } from '../page/tabs.js';

export class CommandWorld {
  readonly process: HubProcess;
  readonly watcher: WatcherWindow;
  readonly answers: Answers;
  readonly secrets: Secrets;
  readonly configFiles: ConfigFiles;
  readonly documents: Documents;
  readonly resources: ResourceFiles;
  readonly output: Output;
  readonly known: Known;
  readonly sidebar: Sidebar;
  readonly tabs: Tabs;
  readonly panel: Panel;
  readonly demo: DemoServer;
  /**
   * Resolves when neither a start of the hub nor a reading of the config is in progress. A command must wait, since the
   * command itself may have activated the extension.
   */
  readonly ready: () => Promise<void>;

  constructor(parts: Omit<CommandWorld, 'cancel' | 'stopAll'>) {
    ({
      process: this.process,
      watcher: this.watcher,
      answers: this.answers,
      secrets: this.secrets,
      configFiles: this.configFiles,
      documents: this.documents,
      resources: this.resources,
      output: this.output,
      known: this.known,
      sidebar: this.sidebar,
      tabs: this.tabs,
      panel: this.panel,
      demo: this.demo,
      ready: this.ready,
    } = parts);
  }

  /**
   * Cancels a request with origin user, which only a window can do. If the window's stream is broken at that moment, it
   * cancels as the host, so that Cancel always works.
   */
  async cancel(requestId: string, reason: string): Promise<CancelOutcome> {
    try {
      const reply = await this.watcher.ask({ message: { case: 'cancelMcpRequest', value: { requestId, reason } } });
      return reply.cancelOutcome;
    } catch (error) {
      if (!(error instanceof HubError) || error.code !== 'unavailable') {
        throw error;
      }
      return (await this.process.hub.requests.cancelRequest({ requestId, reason })).outcome;
    }
  }

  /** Cancels everything that runs, in the same way. Returns the number of requests. */
  async stopAll(reason: string): Promise<number> {
    const value = { scope: { case: 'all', value: true } as const, reason };
    try {
      return (await this.watcher.call(McpHubService.method.cancelRequests, value)).requestIds.length;
    } catch (error) {
      if (!(error instanceof HubError) || error.code !== 'unavailable') {
        throw error;
      }
      return (await this.process.hub.requests.cancelRequests(value)).requestIds.length;
    }
  }
}
