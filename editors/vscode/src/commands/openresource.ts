// The commands that open a resource of a server as a document, or put its text where the user wants it. The resource is
// picked, made from a template, or named by a link of the page.
import * as vscode from 'vscode';
import type { CommandWorld } from './commandworld.js';
import { inMessage, quoted } from '../plaintext.js';
import { pickArguments, pickOfferer, pickResource, type Offered } from './offers.js';
import { placeText } from './placetext.js';
import { documentText } from '../resources/content.js';
import type { ResourceFiles } from '../resources/resourcefiles.js';
import { documentUri } from '../resources/resourceuri.js';
import { userRequest } from '../resources/userrequest.js';

interface Chosen {
  readonly server: string;
  readonly uri: string;
  readonly mimeType: string;
}

export async function openResource(
  world: CommandWorld,
  files: ResourceFiles,
  server?: unknown,
  uri?: unknown,
): Promise<void> {
  const linked = typeof server === 'string' && typeof uri === 'string';
  const chosen = linked
    ? { server, uri, mimeType: '' }
    : await choose(world, vscode.l10n.t('Open Resource: Select a Server'));
  const resultJson = chosen && (await read(world, chosen));
  if (chosen === undefined || resultJson === undefined) {
    return;
  }
  const document = documentUri(chosen, chosen.mimeType);
  files.put(document, resultJson);
  await vscode.commands.executeCommand('vscode.open', document, { preview: true });
}

export async function insertResource(world: CommandWorld): Promise<void> {
  const chosen = await choose(world, vscode.l10n.t('Insert Resource: Select a Server'));
  const resultJson = chosen && (await read(world, chosen));
  if (chosen === undefined || resultJson === undefined) {
    return;
  }
  await placeText(documentText(resultJson), vscode.l10n.t('Insert Resource: Select a Destination'));
}

function read(world: CommandWorld, { server, uri }: Chosen): Promise<string | undefined> {
  const title = vscode.l10n.t('Reading {0} of {1}…', quoted(uri), quoted(server));
  return userRequest(world, title, (requestId) => world.process.hub.servers.readResource({ requestId, server, uri }));
}

async function choose(world: CommandWorld, title: string): Promise<Chosen | undefined> {
  const server = await pickOfferer(world, title, 'resources');
  const offered = server === undefined ? undefined : await pickResource(world, server.name);
  return server === undefined || offered === undefined ? undefined : named(world, server.name, offered);
}

async function named(world: CommandWorld, server: string, offered: Offered): Promise<Chosen | undefined> {
  if ('resource' in offered) {
    const { uri, mimeType } = offered.resource;
    return { server, uri, mimeType };
  }
  if (!('template' in offered)) {
    return undefined;
  }
  const { uriTemplate, variables, mimeType } = offered.template;
  const values = await pickArguments(
    world,
    server,
    { case: 'uriTemplate', value: uriTemplate },
    variables.map((name) => ({ name, description: inMessage(uriTemplate), required: false })),
  );
  if (values === undefined) {
    return undefined;
  }
  const { uri } = await world.process.hub.servers.expandUriTemplate({ uriTemplate, values });
  return { server, uri, mimeType };
}
