// The commands of the rows of the trees. The editor passes the row; the page's links pass what is to be opened.
import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import { McpHubService, McpServerService, RequestPart } from '@mcphub/host/contract';
import type { Ended } from '../../../page/src/hub/ended.js';
import { endWords } from '../../../page/src/history/endwords.js';
import { ofWords, titleOf } from '../../../page/src/hub/requestwords.js';
import { quoted } from '../plaintext.js';
import type { ServerRow } from '../views/servertree.js';
import { exists, thingOf } from '../views/thing.js';
import type { CommandWorld } from './commandworld.js';
import { pieces, copyPart } from './requestparts.js';
import { mayLose, startServer, stopServer } from './servercommands.js';

type Commands = Readonly<Record<string, (...args: unknown[]) => Promise<void> | void>>;

/** Commands whose first argument is a row. They stand in menus of the trees only, where there is one. */
export function treeCommands(world: CommandWorld): Commands {
  const { servers, requests } = { servers: McpServerService.method, requests: McpHubService.method };
  const onServer = (act: (server: string) => Promise<unknown>) => async (row: unknown) => {
    await act((row as ServerRow).server);
  };
  const losing = (question: (server: string) => string, verb: string, act: (server: string) => Promise<unknown>) =>
    onServer(async (server) => {
      if (await mayLose(world, server, question(quoted(server)), verb)) {
        await act(server);
      }
    });
  const call = world.watcher.call;
  return {
    'mcphub.open': (thing) => open(world, thing),
    'mcphub.row.start': onServer((server) => startServer(world, server, false)),
    'mcphub.row.stop': onServer((server) => stopServer(world, server)),
    'mcphub.row.restart': losing(
      (server) => vscode.l10n.t('Restart {0}?', server),
      vscode.l10n.t('Restart'),
      (server) => call(servers.restartServer, { server, reason: 'restarted in the editor' }),
    ),
    'mcphub.row.signIn': onServer((server) => call(servers.signIn, { server })),
    'mcphub.row.signOut': losing(
      (server) => vscode.l10n.t('Sign out of {0}?', server),
      vscode.l10n.t('Sign Out'),
      (server) => call(servers.signOut, { server }),
    ),
    'mcphub.row.enable': onServer((server) => call(servers.setServerEnabled, { server, enabled: true })),
    'mcphub.row.disable': losing(
      (server) => vscode.l10n.t('Disable {0}?', server),
      vscode.l10n.t('Disable'),
      (server) => call(servers.setServerEnabled, { server, enabled: false }),
    ),
    'mcphub.row.allowQuestions': onServer((server) => call(servers.muteServer, { server, muted: false })),
    'mcphub.row.review': onServer((server) => startServer(world, server, true)),
    'mcphub.row.openConfig': onServer(async (server) => vscode.commands.executeCommand('mcphub.openConfig', server)),
    'mcphub.row.showLog': onServer(async (server) => vscode.commands.executeCommand('mcphub.showLogs', server)),
    'mcphub.row.callAgain': (row) => callAgain(world, row as Ended, requests.callTool),
    'mcphub.row.copy': (row) => copy(world, row as Ended),
    'mcphub.row.showTrace': async (row) => {
      await vscode.commands.executeCommand('mcphub.showTrace', (row as Ended).requestId);
    },
  };
}

function open(world: CommandWorld, argument: unknown): void {
  const thing = thingOf(argument);
  if (thing === undefined || !exists(world.known, thing)) {
    throw new Error(vscode.l10n.t('It is not there any more.'));
  }
  world.tabs.open(thing);
}

/** Makes a request once more with the same arguments, as the page does. Its end shows like any other. */
async function callAgain(
  world: CommandWorld,
  { requestId: before, about }: Ended,
  callTool: typeof McpHubService.method.callTool,
): Promise<void> {
  const { server = '', tool = '', subject = '', method, argumentsPreview = '' } = about;
  const given: string[] = [];
  if (argumentsPreview !== '') {
    const part = { requestId: before, part: RequestPart.ARGUMENTS, name: 'arguments' };
    for await (const piece of pieces(world, part, new AbortController().signal)) {
      given.push(piece);
    }
  }
  const requestId = randomUUID();
  const argumentsJson = given.join('');
  const { readResource, getMcpPrompt } = McpServerService.method;
  if (method === 'resources/read') {
    await world.watcher.call(readResource, { requestId, server, uri: subject });
  } else if (method === 'prompts/get') {
    const values = JSON.parse(argumentsJson || '{}') as Record<string, string>;
    await world.watcher.call(getMcpPrompt, { requestId, server, name: subject, arguments: values });
  } else {
    await world.watcher.call(callTool, { requestId, server, tool, argumentsJson });
  }
}

/** Copies the result of a request, or, without one, what came of it. */
async function copy(world: CommandWorld, entry: Ended): Promise<void> {
  if (entry.finished !== undefined && !entry.earlier && entry.outcome === 'done') {
    await copyPart(world, { requestId: entry.requestId, part: RequestPart.RESULT, name: 'result' });
    return;
  }
  await vscode.env.clipboard.writeText([titleOf(entry.about), ofWords(entry.about), endWords(entry)].join(' · '));
}
