// The actions for the arguments and the result of an ended request. In an editor, commands of the editor do them, else
// the browser.

import { h } from '../elements/dom.js';
import { commandLink } from '../surface.js';
import { readPieces, readPart } from './read.js';
import { t } from '../words/t.js';
import type { Page } from '../page.js';
import type { RequestPartJson as RequestPart } from '../../../host/src/gen/mcphub/v1/hub_pb.js';

/** @param of what: what the action is for, for people who do not see where the button is */
export function partActions(
  page: Page,
  {
    requestId,
    part,
    name,
    what,
    failed,
  }: { requestId: string; part: RequestPart; name: string; what: string; failed: (error: unknown) => void },
): (HTMLElement | undefined)[] {
  const { surface, call, announce } = page;
  const args = [requestId, part, name];
  const link = (command: string, text: string) => {
    const element = commandLink(surface, command, args, text);
    element?.setAttribute('aria-label', `${text}: ${what}`);
    return element;
  };
  const own = (text: string, act: () => Promise<void>) =>
    h('button', {
      'class': 'link',
      text,
      'aria-label': `${text}: ${what}`,
      'onclick': () => void act().catch(failed),
    });
  if (surface.kind !== 'web')
    return [
      link('mcphub.openPart', t('Open in Editor')),
      link('mcphub.savePart', t('Save As…')),
      link('mcphub.copyPart', t('Copy')),
    ];
  return [
    own(t('Download'), async () => download(`${name}.json`, await readPieces(call, requestId, part, Infinity))),
    own(t('Copy'), async () => {
      await navigator.clipboard.writeText(await readPart(call, requestId, part, Infinity));
      announce(t('Copied'));
    }),
  ];
}

/** Lets the user save a file of JSON. */
export const download = (name: string, pieces: readonly string[]) => giveFile(name, pieces, 'application/json');

/** Lets the user save a file. */
export function giveFile(name: string, pieces: readonly BlobPart[], type: string) {
  const address = URL.createObjectURL(new Blob([...pieces], { type }));
  h('a', { href: address, download: name.replace(/[^\w.-]+/g, '_').slice(0, 100) }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000); // the browser may need some time to save the file
}
