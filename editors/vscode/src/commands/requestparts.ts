// Opens, saves, copies and compares arguments and results of finished requests of any size. They are read from the hub
// in pieces, and one turn of the extension host handles only one piece.
import * as vscode from 'vscode';
import { RequestPart } from '@mcphub/host/contract';
import type { CommandWorld } from './commandworld.js';
import { writePieces } from './textfiles.js';
import { withStop } from './stoppable.js';

/** The size of a piece in bytes. The hub needs a few milliseconds to return it. */
const pieceBytes = 512 << 10;

/** The arguments of a link on the page. They are not trusted. */
export interface PartLink {
  readonly requestId: string;
  readonly part: RequestPart;
  readonly name: string;
}

export function partLink(requestId: unknown, part: unknown, name: unknown): PartLink {
  const parts: Readonly<Record<string, RequestPart>> = {
    REQUEST_PART_ARGUMENTS: RequestPart.ARGUMENTS,
    REQUEST_PART_RESULT: RequestPart.RESULT,
  };
  const known = typeof part === 'string' && Object.hasOwn(parts, part) ? parts[part] : undefined;
  if (typeof requestId !== 'string' || known === undefined) {
    throw new Error('This command is for the links of the page of McpHub: open a request in its history.');
  }
  return { requestId, part: known, name: typeof name === 'string' ? name : 'result' };
}

/** Yields the pieces of a part in order. */
export async function* pieces(world: CommandWorld, { requestId, part }: PartLink, signal: AbortSignal) {
  for (let offset = 0n; ;) {
    const piece = await world.process.hub.requests.readRequest(
      { requestId, part, offset, limit: pieceBytes },
      { signal },
    );
    yield piece.text;
    if (piece.nextOffset <= offset) {
      return;
    }
    offset = piece.nextOffset;
  }
}

export async function openPart(world: CommandWorld, link: PartLink): Promise<void> {
  await withStop('Opening…', (signal) => world.documents.open(link.name, pieces(world, link, signal)));
}

export async function compareParts(world: CommandWorld, before: PartLink, now: PartLink): Promise<void> {
  const both = await withStop('Comparing…', async (signal) => [
    await world.documents.put(`${before.name}-before`, pieces(world, before, signal)),
    await world.documents.put(now.name, pieces(world, now, signal)),
  ]);
  if (both !== undefined) {
    await vscode.commands.executeCommand('vscode.diff', both[0], both[1], 'McpHub: Previous Result ↔ Result');
  }
}

export async function copyPart(world: CommandWorld, link: PartLink): Promise<void> {
  const copied = await withStop('Copying…', async (signal) => {
    const all: string[] = [];
    for await (const piece of pieces(world, link, signal)) {
      all.push(piece);
    }
    await vscode.env.clipboard.writeText(all.join(''));
    return true;
  });
  if (copied === true) {
    vscode.window.setStatusBarMessage('McpHub: copied', 3000);
  }
}

export async function savePart(world: CommandWorld, link: PartLink): Promise<void> {
  const to = await whereTo(link.name);
  if (to !== undefined) {
    await withStop('Saving…', (signal) => save(to, pieces(world, link, signal)));
  }
}

/** Saves what happened to a request, and the state of the hub, without arguments, results and secrets. */
export async function saveReport(world: CommandWorld, requestId: unknown): Promise<void> {
  if (typeof requestId !== 'string') {
    throw new Error('This command is for the links of the page of McpHub: open a request in its history.');
  }
  const { bundleJson } = await world.process.hub.requests.getTrace({ requestId, bundle: true });
  const to = await whereTo(`mcphub-report-${requestId}`);
  if (to !== undefined) {
    await save(to, [`${JSON.stringify(JSON.parse(bundleJson), undefined, 2)}\n`]);
  }
}

function whereTo(name: string): Thenable<vscode.Uri | undefined> {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const file = `${name.replace(/[^\w.-]+/gu, '_').slice(0, 80)}.json`;
  return vscode.window.showSaveDialog({
    ...(folder === undefined ? {} : { defaultUri: vscode.Uri.joinPath(folder, file) }),
    filters: { 'JSON': ['json'], 'All Files': ['*'] },
  });
}

/** Writes a text or bytes as they come. */
export async function save(
  to: vscode.Uri,
  text: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
): Promise<void> {
  if (to.scheme === 'file') {
    await writePieces(to.fsPath, text, 0o666); // reduced by the umask, as with every file that a user saves
    return;
  }
  const all: Uint8Array[] = []; // another extension's file system takes a file only as a whole
  for await (const piece of text) {
    all.push(Buffer.from(piece));
  }
  await vscode.workspace.fs.writeFile(to, Buffer.concat(all));
}
