// The timeline of a request: states, messages by type and size, cancels, prompts.

import { h } from '../elements/dom.js';
import { byWhom, sentWords } from '../running/requestwords.js';
import { bytes, causeWord, plural, shortName, stateWord, visible } from '../words/text.js';

/** @typedef {import('../../../host/src/gen/mcphub/v1/hub_pb.js').TraceJson} Trace */
/** @typedef {import('../../../host/src/gen/mcphub/v1/hub_pb.js').TraceEntryJson} TraceEntry */

/** @param {Trace | undefined} trace */
export function timeline(trace) {
  if (!trace) return h('p', { class: 'muted', text: 'The hub no longer keeps its timeline.' });
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
    h('ol', { 'class': 'timeline', 'aria-label': 'Timeline' }, ...rows),
    (trace.omittedEntries ?? 0) > 0
      && h('p', {
        class: 'muted',
        text: `${plural(trace.omittedEntries ?? 0, 'entry', 'entries')} in the middle left out.`,
      }),
  );
}

/** @param {TraceEntry} entry */
function entryWords({ state, message, cancellation, prompt, hubError, delivery }) {
  if (state) return stateWord(state.state);
  if (cancellation) return `Cancel ${byWhom(cancellation)}`;
  if (delivery) return `Cancel ${sentWords(delivery.delivery, delivery.error)}`;
  if (prompt) return prompt.cause ? `Question closed: ${causeWord(prompt.cause)}` : 'Question opened';
  if (hubError) return `${hubError.reason}: ${visible(hubError.message)}`;
  if (!message) return 'Something that this page does not know';
  const arrow = message.direction === 'REQUEST_DIRECTION_INCOMING' ? '←' : '→';
  const code = message.type === 'error' ? ` ${message.errorCode ?? 0}` : '';
  const id = message.wireIdJson ? ` ${visible(message.wireIdJson)}` : '';
  return `${arrow} ${message.type}${code} ${shortName(message.method)}${id}, ${bytes(message.sizeBytes ?? 0)}${message.dropped ? ', dropped' : ''}`;
}
