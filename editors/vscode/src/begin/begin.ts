// The commands for a first start, and the context keys that tell the walkthrough which steps were done.
import * as vscode from 'vscode';
import { Origin, PromptCause } from '@mcphub/host/contract';
import type { WatcherWindow } from '@mcphub/host/contract';
import type { ConfigFiles } from '../config/configfiles.js';
import { demoName, type DemoServer } from './demoserver.js';
import { openOrCreateConfig } from './newconfig.js';

/** The ends of a question that a person has seen, or could have seen. */
const seen = [PromptCause.ANSWERED, PromptCause.DECLINED, PromptCause.DISMISSED, PromptCause.WITHDRAWN];

export interface Begin {
  readonly demo: DemoServer;
  readonly configFiles: ConfigFiles;
  /** Shows the page. */
  readonly show: () => Promise<void>;
}

type Commands = Readonly<Record<string, () => Promise<void>>>;

export function beginCommands({ demo, configFiles, show }: Begin): Commands {
  return {
    'mcphub.getStarted': async () => {
      // The second argument opens it in the current editor group.
      await vscode.commands.executeCommand('workbench.action.openWalkthrough', 'mcphub.mcphub#begin', false);
    },
    'mcphub.createConfig': () => openOrCreateConfig(configFiles),
    'mcphub.addDemoServer': async () => {
      await show();
      await demo.add(configFiles);
    },
    'mcphub.removeDemoServer': () => demo.remove(configFiles),
  };
}

/** Sets context keys that mark steps of the walkthrough as done. */
export function tellWalkthrough(watcher: WatcherWindow): vscode.Disposable {
  const told = new Set<string>();
  const tell = (key: string): void => {
    if (!told.has(key)) {
      told.add(key);
      void vscode.commands.executeCommand('setContext', `mcphub.done.${key}`, true);
    }
  };
  const stop = watcher.listen({
    event: ({ event }) => {
      if (event.case === 'mcpRequestCancelled' && event.value.cancellation?.origin === Origin.USER) {
        tell('stopped');
      } else if (event.case === 'promptClosed' && seen.includes(event.value.cause)) {
        tell('asked');
      }
    },
    changed: ({ servers }, standing) => {
      if (servers === true && [...standing.servers.keys()].some((name) => name !== demoName)) {
        tell('server');
      }
    },
  });
  return new vscode.Disposable(stop);
}
