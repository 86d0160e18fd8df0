// The actions for the arguments and the result of an ended request. In an editor, commands of the editor do them, else
// the browser.

import { h } from '../elements/dom.js';
import { icon, iconButton } from '../elements/icon.js';
import { commandLink } from '../surface.js';
import { readPieces, readPart } from './read.js';
import { t } from '../words/t.js';
import type { MenuItem } from '../elements/menu.js';
import type { Page } from '../page.js';
import type { RequestPartJson as RequestPart } from '../../../host/src/gen/mcphub/v1/hub_pb.js';

export interface Part {
  requestId: string;
  part: RequestPart;
  /** for a file or a document */
  name: string;
  failed: (error: unknown) => void;
}

/** Returns the item of a menu that runs a command of the host, or none if the host has no such command. */
export function commandItem({ surface }: Page, command: string, args: readonly unknown[], text: string): MenuItem[] {
  const href = commandLink(surface, command, args, text)?.getAttribute('href');
  return href ? [{ text, href }] : [];
}

/** Returns the items of a menu that open and save a part. */
export function partItems(
  page: Page,
  { requestId, part, name, failed }: Part,
  words: { open: string; save: string; download: string },
): MenuItem[] {
  const args = [requestId, part, name];
  if (page.surface.kind === 'vscode')
    return [
      ...commandItem(page, 'mcphub.openPart', args, words.open),
      ...commandItem(page, 'mcphub.savePart', args, words.save),
    ];
  const save = async () => download(`${name}.json`, await readPieces(page.call, requestId, part, Infinity));
  return [{ text: words.download, act: () => void save().catch(failed) }];
}

/** Returns what copies a part, or undefined if the host cannot. */
export function copyPart(page: Page, { requestId, part, name, failed }: Part, label: string): HTMLElement | undefined {
  if (page.surface.kind === 'vscode') {
    const link = commandLink(page.surface, 'mcphub.copyPart', [requestId, part, name], '');
    if (!link) return undefined;
    link.className = 'icon';
    link.title = label;
    link.setAttribute('aria-label', label);
    link.append(icon('copy'));
    return link;
  }
  const copy = async () => {
    await navigator.clipboard.writeText(await readPart(page.call, requestId, part, Infinity));
    page.announce(t('Copied'));
  };
  return iconButton('copy', label, { onclick: () => void copy().catch(failed) });
}

/** Lets the user save a file of JSON. */
export const download = (name: string, pieces: readonly string[]) => giveFile(name, pieces, 'application/json');

/** Lets the user save a file. */
export function giveFile(name: string, pieces: readonly BlobPart[], type: string) {
  const address = URL.createObjectURL(new Blob([...pieces], { type }));
  h('a', { href: address, download: name.replace(/[^\w.-]+/g, '_').slice(0, 100) }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000); // the browser may need some time to save the file
}
