// What a form shows before it writes: what would run, and which lines of the file would change.

import { h } from '../elements/dom.js';
import { block, quoted } from '../questions/cardparts.js';
import { visible } from '../words/text.js';
import { t } from '../words/t.js';
import { written } from './frame.js';
import type { ConfigWriteJson } from '../../../host/src/gen/mcphub/v1/config_pb.js';
import type { ServerFormJson as ServerForm } from '../../../host/src/gen/mcphub/v1/config_pb.js';

/**
 * @param write the reply to a preview
 * @param entry what the fields describe; dots stand for covered values
 * @param secrets the covered values, which the lines of the file do not show either
 */
export function whatBecomes(write: ConfigWriteJson, entry: ServerForm, secrets: string[]) {
  const line = [entry.command ?? '', ...(entry.args ?? [])].map(quoted).join(' ');
  return [
    h('h3', { class: 'unseen', text: t('What would run, and what would be written') }),
    entry.url ? block(t('It connects to'), entry.url) : block(t('It runs'), line),
    h('details', { open: true }, h('summary', {}, t('What is written')), written(write, secrets)),
    ...(write.problems ?? []).map((p) =>
      h('p', { class: 'warning', text: visible([p.key, p.message].filter(Boolean).join(': ')) }),
    ),
    (write.leftOut ?? []).length > 0
      && h('p', {
        class: 'warning',
        text: t('The file has no words for {0}: left out.', visible((write.leftOut ?? []).join(', '))),
      }),
    write.needsConsent
      && h('p', {
        class: 'muted',
        text: t('You will be asked, with the whole command, before it is started for the first time.'),
      }),
  ];
}
