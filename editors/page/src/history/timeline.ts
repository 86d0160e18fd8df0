// The timeline of a request: states, messages with type and size, cancellations, and prompts.

import { h } from '../elements/dom.js';
import { byWhom, sentWords } from '../hub/requestwords.js';
import { bytes, causeWord, shortName, stateWord, visible } from '../words/text.js';
import { plural, t } from '../words/t.js';
import type { TraceEntryJson as TraceEntry, TraceJson as Trace } from '../../../host/src/gen/mcphub/v1/hub_pb.js';

export function timeline(trace: Trace | undefined) {
  if (!trace) return h('p', { class: 'muted', text: t('The hub no longer keeps its timeline.') });
  const entries = trace.entries ?? [];
  const from = Date.parse(entries[0]?.time ?? '');
  const rows = entries.map((entry) =>
    h(
      'li',
      {},
      h('span', { class: 'time', text: `+${Math.round(Date.parse(entry.time ?? '') - from)} ms` }),
      h('span', { text: entryWords(entry) }),
    ),
  );
  return h(
    'div',
    {},
    h('ol', { 'class': 'timeline', 'aria-label': t('Timeline') }, ...rows),
    (trace.omittedEntries ?? 0) > 0
      && h('p', {
        class: 'muted',
        text: plural(
          trace.omittedEntries ?? 0,
          '{0} entry in the middle left out.',
          '{0} entries in the middle left out.',
        ),
      }),
  );
}

function entryWords({ state, message, cancellation, prompt, hubError, delivery }: TraceEntry) {
  if (state) return stateWord(state.state);
  if (cancellation) return t('Cancel {0}', byWhom(cancellation));
  if (delivery) return t('Cancel {0}', sentWords(delivery.delivery, delivery.error));
  if (prompt) return prompt.cause ? t('Question closed: {0}', causeWord(prompt.cause)) : t('Question opened');
  if (hubError) return `${hubError.reason}: ${visible(hubError.message)}`;
  if (!message) return t('Something that this page does not know');
  const arrow = message.direction === 'REQUEST_DIRECTION_INCOMING' ? '←' : '→';
  const code = message.type === 'error' ? ` ${message.errorCode ?? 0}` : '';
  const id = message.wireIdJson ? ` ${visible(message.wireIdJson)}` : '';
  return `${arrow} ${message.type}${code} ${shortName(message.method)}${id}, ${bytes(message.sizeBytes ?? 0)}${message.dropped ? t(', dropped') : ''}`;
}
