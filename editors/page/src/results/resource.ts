// A resource that a result only names. It is read when a person asks for it, by a request like any other.

import { h, replace, setText, show } from '../elements/dom.js';
import { bytes, shortName, visible } from '../words/text.js';
import { readPart, Unread } from './read.js';
import { t } from '../words/t.js';
import type { Page } from '../page.js';

export function resourceReader(
  page: Page,
  server: string,
  uri: string,
  view: (json: string, requestId: string) => Promise<HTMLElement>,
) {
  const said = h('span', { class: 'muted', role: 'status' });
  const place = h('div', {});
  let busy = false;
  const read = h('button', {
    'class': 'secondary',
    'text': t('Read'),
    'aria-label': t('Read the resource {0}', shortName(uri)),
    'onclick': () => void start(),
  });

  async function start() {
    if (busy) return;
    busy = true;
    read.setAttribute('aria-disabled', 'true');
    setText(said, t('Reading…'));
    try {
      const requestId = crypto.randomUUID();
      const { error } = await page.call('ReadResource', { requestId, server, uri });
      if (error) throw new Unread(visible(error.message));
      replace(place, await view(await readPart(page.call, requestId, 'REQUEST_PART_RESULT'), requestId));
      setText(said, '');
    } catch (error) {
      setText(
        said,
        error instanceof Unread && error.size > 0
          ? t('It is too large to be shown here ({0}). It is in the history.', bytes(error.size))
          : error instanceof Error
            ? visible(error.message)
            : '',
      );
    }
    busy = false;
    read.removeAttribute('aria-disabled');
  }
  show(read, uri !== '');
  return h('div', {}, h('div', { class: 'actions' }, read, said), place);
}
