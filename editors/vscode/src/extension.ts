// Creates the parts when the editor activates the extension, and ends them when the window closes.
import * as vscode from 'vscode';
import { HubError, Mirror, Subscriptions, untilShown, WatcherWindow } from '@mcphub/host/contract';
import type { Hub, Root } from '@mcphub/host/contract';
import type { McpHubApi } from '../api.js';
import { Answers } from './questions/answers.js';
import { tellWalkthrough } from './begin/begin.js';
import { DemoServer } from './begin/demoserver.js';
import { createApi } from './api/api.js';
import { Grants, manageGrants } from './api/grants.js';
import { ChatOffer } from './chat/chatoffer.js';
import { bounded } from './hub/bounded.js';
import { registerCommands } from './commands/commands.js';
import { CommandWorld } from './commands/commandworld.js';
import { ConfigFiles } from './config/configfiles.js';
import { Documents } from './commands/documents.js';
import { hello, notRunning } from './hub/hello.js';
import { Known } from './hub/known.js';
import { HubProcess, describe, setting } from './hub/hubprocess.js';
import { tellOfTrouble } from './hub/hubtrouble.js';
import { Notifier } from './questions/notify.js';
import { ConfigProblems } from './lens/configproblems.js';
import { Lenses } from './lens/lenses.js';
import { Output } from './log/output.js';
import { Frames } from './page/frames.js';
import { allPages } from './page/pages.js';
import { Panel } from './page/panel.js';
import type { PageWorld } from './page/pageview.js';
import { removeCopy } from './page/finding.js';
import { ResourceFiles } from './resources/resourcefiles.js';
import { Sampling } from './questions/sampling.js';
import { Secrets } from './questions/secrets.js';
import { Sidebar } from './page/sidebar.js';
import { showTrees } from './views/views.js';
import { Tabs } from './page/tabs.js';
import { Status } from './status/status.js';

// The editor kills the extension host 5 s after it has asked it to end.
const leaveLimitMs = 4_000;

let leave: (() => Promise<void>) | undefined;

export function activate(context: vscode.ExtensionContext): McpHubApi {
  const output = new Output();
  const process = new HubProcess(context, output);
  const views = setting('views', true); // read once for the life of the window, since servers are told only once
  const listenerFailed = (error: unknown): void => output.hub.warn(`A listener failed: ${describe(error)}`);
  const watcher = new WatcherWindow(hello(views), roots(), listenerFailed, notRunning);
  const secrets = new Secrets(context);
  const sampling = new Sampling(watcher);
  const answers = new Answers(watcher, secrets, sampling, output);
  const demo = new DemoServer(context.globalState, process);
  const configFiles = new ConfigFiles(context, process, output, () => demo.sources());
  const documents = new Documents(vscode.Uri.joinPath(context.globalStorageUri, 'texts').fsPath);
  const frames = new Frames(
    vscode.Uri.joinPath(context.extensionUri, 'media/page/apps/sandbox.html').fsPath,
    output,
    views,
  );
  const pageWorld: PageWorld = {
    extensionUri: context.extensionUri,
    process,
    answers,
    sampling,
    frames,
    output,
    roots,
  };
  const sidebar = new Sidebar(pageWorld);
  const panel = new Panel(pageWorld);
  const pages = allPages(sidebar, panel);
  const known = new Known(watcher);
  const tabs = new Tabs(pageWorld, known);
  const ready = async (): Promise<void> => {
    await process.settled;
    await configFiles.read;
  };
  const resources = new ResourceFiles({ process, watcher, ready, warn: (text) => output.hub.warn(text) });
  const world = new CommandWorld({
    process,
    watcher,
    answers,
    secrets,
    configFiles,
    documents,
    resources,
    output,
    known,
    sidebar,
    panel,
    tabs,
    demo,
    ready,
  });

  const grants = new Grants(context.globalState);
  const stopServerLogs = watcher.listen({
    event: ({ event }) => {
      if (event.case === 'logMessage') {
        output.serverSaid(event.value);
      }
    },
  });
  context.subscriptions.push(
    new Status(process, watcher),
    new Notifier(watcher, answers, pages),
    registerCommands(world),
    tellWalkthrough(watcher),
    new Lenses(watcher, process),
    new ConfigProblems(watcher),
    vscode.commands.registerCommand('mcphub.manageExtensions', () => manageGrants(grants)),
    tellOfTrouble(process),
    new ChatOffer({ process, output, ready }),
    process.onDidChangeState(({ state }) => {
      if (state !== 'ready') {
        watcher.hubLost();
      }
    }),
    process.onDidStart((hub) => watcher.follow(hub)),
    vscode.workspace.onDidChangeWorkspaceFolders(() => {
      watcher.setRoots(roots());
      sidebar.rootsChanged();
      panel.rootsChanged();
      tabs.rootsChanged();
    }),
    { dispose: stopServerLogs },
    { dispose: watcher.listen({ changed: (_, { prompts }) => sidebar.asks([...prompts.keys()]) }) },
    showTrees(known, process),
    sidebar,
    panel,
    tabs,
    known,
    configFiles,
    documents,
    resources,
    sampling,
    frames,
    { dispose: () => void removeCopy() },
    process,
    output,
  );
  // Leave the hub first. A window that is closed by this host counts as closed for good. A window whose stream breaks
  // may come back, together with its open questions.
  leave = async () => {
    const left = process.leave().then(() => watcher.close());
    if (!(await bounded(left, leaveLimitMs))) {
      output.hub.warn('The hub was not left in time; it ends or waits by itself.');
    }
  };
  void sampling.look();
  void frames.addresses(); // so that they are known before the page is drawn
  void process.start();
  const hub = (): Hub => process.hub;
  const mirror = new Mirror(watcher, listenerFailed);
  const subscriptions = new Subscriptions(hub);
  context.subscriptions.push(
    mirror,
    process.onDidChangeState(({ state }) => {
      if (state === 'ready') {
        void ready().then(() => subscriptions.renew()); // a hub has no servers before it has read the config
      }
    }),
  );
  const mirrored = async (): Promise<void> => {
    const gone = new AbortController();
    const listening = process.onDidChangeState(({ message }) =>
      gone.abort(new HubError('unavailable', 'HUB_NOT_READY', message)),
    );
    try {
      await untilShown(watcher, (await hub().servers.listServers({})).servers, gone.signal);
    } finally {
      listening.dispose();
    }
  };
  return createApi({ hub, ready, mirrored, watcher, mirror, subscriptions, grants });
}

/**
 * Leaves the hub. The editor waits a few seconds for this. With a grace period the hub runs on, and the next window of
 * these folders takes it over.
 */
export async function deactivate(): Promise<void> {
  await leave?.();
}

function roots(): Root[] {
  return (vscode.workspace.workspaceFolders ?? [])
    .filter((f) => f.uri.scheme === 'file')
    .map((f) => ({ uri: f.uri.toString(), name: f.name }));
}
