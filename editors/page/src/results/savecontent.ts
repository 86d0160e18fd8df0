// Saves one content of a result, such as the file in an embedded resource, or a picture. In an editor, the editor reads
// the content from the hub again. A browser saves the content that the page has.

import { h } from '../elements/dom.js';
import { commandLink } from '../surface.js';
import { shortName } from '../words/text.js';
import { bytesOf } from './pictureinfo.js';
import { giveFile } from './actions.js';
import { t } from '../words/t.js';
import type { JsonIndex } from '../words/jsonindex.js';
import type { Page } from '../page.js';

/** @param value the string with the content */
export function saveContent(
  { page, requestId }: { page: Page; requestId?: string | undefined },
  index: JsonIndex,
  value: number,
  { kind, uri, mimeType }: { kind: 'text' | 'blob'; uri: string; mimeType: string },
) {
  const about = shortName(uri || mimeType || t('the content'));
  if (page.surface.kind === 'vscode') {
    if (requestId === undefined) return undefined;
    const place = [index.starts.at(value) + 1, index.ends.at(value) - 1];
    const args = [requestId, ...place, kind, uri.slice(0, 2000), mimeType.slice(0, 200)];
    const link = commandLink(page.surface, 'mcphub.saveContent', args, t('Save content as…'));
    link?.setAttribute('aria-label', t('Save content as: {0}', about));
    return link && h('div', { class: 'actions' }, link);
  }
  const name =
    uri
      .replace(/[?#].*$/s, '')
      .split('/')
      .filter(Boolean)
      .at(-1) ?? 'content';
  const save = () => {
    const text = index.string(value);
    const data = kind === 'text' ? text : bytesOf(text);
    // The type of the server is not used: a browser might show the file instead of saving it.
    if (data !== undefined)
      giveFile(name, [typeof data === 'string' ? data : new Uint8Array(data)], 'application/octet-stream');
    else page.announce(t('Its data is not base64.'));
  };
  return h(
    'div',
    { class: 'actions' },
    h('button', {
      'class': 'link',
      'text': t('Download content'),
      'aria-label': t('Download content: {0}', about),
      'onclick': save,
    }),
  );
}
