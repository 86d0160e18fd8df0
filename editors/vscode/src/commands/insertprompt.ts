// The commands that fill a prompt template of a server and put its text where the user wants it. The text is never sent
// anywhere.
import * as vscode from 'vscode';
import { RequestPart } from '@mcphub/host/contract';
import type { CommandWorld } from './commandworld.js';
import { pieces } from './requestparts.js';
import { insertText, placeText, toChat } from './placetext.js';
import { withStop } from './stoppable.js';
import { quoted } from '../plaintext.js';
import { longestResult, promptText } from '../resources/content.js';
import { pickArguments, pickOfferer, pickPrompt } from './offers.js';
import { userRequest } from '../resources/userrequest.js';

export async function insertPrompt(world: CommandWorld): Promise<void> {
  const server = await pickOfferer(world, vscode.l10n.t('Insert Prompt: Select a Server'), 'prompts');
  const offered = server === undefined ? undefined : await pickPrompt(world, server.name);
  if (server === undefined || offered === undefined || !('prompt' in offered)) {
    return;
  }
  const { name, arguments: args } = offered.prompt;
  const given = await pickArguments(world, server.name, { case: 'mcpPrompt', value: name }, args);
  if (given === undefined) {
    return;
  }
  const title = vscode.l10n.t('Getting the prompt {0} of {1}…', quoted(name), quoted(server.name));
  const resultJson = await userRequest(world, title, (requestId) =>
    world.process.hub.servers.getMcpPrompt({ requestId, server: server.name, name, arguments: given }),
  );
  if (resultJson !== undefined) {
    await placeText(promptText(resultJson), vscode.l10n.t('Insert Prompt: Select a Destination'));
  }
}

/** Returns the text of a prompt template that the page has filled, by the id of its request. */
async function filled(world: CommandWorld, requestId: unknown): Promise<string | undefined> {
  if (typeof requestId !== 'string') {
    throw new Error('This command is for the links of the page of McpHub: open a prompt of a server there.');
  }
  return withStop(vscode.l10n.t('Reading…'), async (signal) => {
    const all: string[] = [];
    let length = 0;
    for await (const piece of pieces(world, { requestId, part: RequestPart.RESULT, name: '' }, signal)) {
      all.push(piece);
      length += piece.length;
      if (length > longestResult) {
        break; // promptText throws for it
      }
    }
    return promptText(all.join(''));
  });
}

export async function insertPromptText(world: CommandWorld, requestId: unknown): Promise<void> {
  const text = await filled(world, requestId);
  if (text !== undefined) {
    await insertText(text);
  }
}

export async function promptTextToChat(world: CommandWorld, requestId: unknown): Promise<void> {
  const text = await filled(world, requestId);
  if (text !== undefined) {
    await toChat(text);
  }
}
