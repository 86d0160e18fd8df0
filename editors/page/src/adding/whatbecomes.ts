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
    h('h3', { class: 'unseen', text: t('Preview') }),
    entry.url ? block(t('It connects to'), entry.url) : block(t('It runs'), line),
    h('details', { open: true }, h('summary', {}, t('Changes to the file')), written(write, secrets)),
    ...(write.problems ?? []).map((p) =>
      h('p', { class: 'warning', text: visible([p.key, p.message].filter(Boolean).join(': ')) }),
    ),
    (write.leftOut ?? []).length > 0
      && h('p', {
        class: 'warning',
        text: t('Left out, not supported by this file format: {0}', visible((write.leftOut ?? []).join(', '))),
      }),
    write.needsConsent
      && h('p', {
        class: 'muted',
        text: t('McpHub shows the whole command and asks you before the first start.'),
      }),
  ];
}
