// The result of a tool, for people: texts as texts, small pictures as pictures, everything else as the JSON that came.

import { h } from '../elements/dom.js';
import { arrayOf, objectOf, parse, stringify, stringOf } from '../words/jsontext.js';
import { bytes, pretty, visible } from '../words/text.js';

const pictures = /^image\/(?:png|jpeg|gif|webp)$/;
const mostPictureBytes = 200_000;
const mostShown = 256 << 10;

/**
 * @param {{ json: string, size: number, plain?: boolean }} result json '' = not here; plain: no result of a tool, but
 * some JSON
 * @returns {HTMLElement}
 */
export function resultView({ json, size, plain = false }) {
  if (json === '')
    return h('p', {
      class: 'muted',
      text:
        size > mostShown
          ? `The result is too large to be shown here (${bytes(size)}).`
          : `The result is no longer kept (${bytes(size)}).`,
    });
  const whole = () => code(plain ? 'Data of the error' : 'Result', pretty(json));
  if (plain) return whole();
  let result;
  try {
    result = objectOf(parse(json));
  } catch {
    return whole();
  }
  const structured = result.get('structuredContent');
  const blocks = arrayOf(result.get('content')).map(blockView);
  if (structured === undefined && blocks.length === 0) return whole();
  return h(
    'div',
    { class: 'result', dataset: { testid: 'result' } },
    ...blocks,
    structured !== undefined && code('Structured content', pretty(stringify(structured))),
    h('details', {}, h('summary', { text: 'Whole result as JSON' }), whole()),
  );
}

/** @param {import('../words/jsontext.js').Json} json */
function blockView(json) {
  const block = objectOf(json);
  const type = stringOf(block.get('type'));
  const mimeType = stringOf(block.get('mimeType'));
  const data = stringOf(block.get('data'));
  if (type === 'text') return code('Text', stringOf(block.get('text')));
  if (type === 'image' && pictures.test(mimeType) && data.length < mostPictureBytes && /^[\w+/=\s]*$/.test(data)) {
    return h('img', { src: `data:${mimeType};base64,${data}`, alt: 'Picture in the result' });
  }
  if (data.length > 1000)
    return h('p', {
      class: 'muted',
      text: `${type || 'Data'} of type ${visible(mimeType)}, ${bytes((data.length * 3) / 4)}`,
    });
  return code(type || 'Content', pretty(stringify(json)));
}

/** @param {string} label @param {string} text */
function code(label, text) {
  return h('pre', {
    'class': 'code',
    'tabindex': 0,
    'role': 'region',
    'aria-label': visible(label),
    'dir': 'auto',
    'text': visible(text),
  });
}
