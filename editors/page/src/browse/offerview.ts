// One entry of a list of offers: a head that opens it, and a body that is made when it is first opened.

import { h, replace, setText, show } from '../elements/dom.js';
import { arrayOf, numberOf, objectOf, parse, stringOf } from '../words/jsontext.js';
import { bytesOf, pictureInfo } from '../results/pictureinfo.js';
import { dateOf } from '../words/t.js';
import { shortName, visible } from '../words/text.js';
import type { JsonObject } from '../words/jsontext.js';

/** Returns the parsed definition, or an empty object. */
export function definitionOf(json: string | undefined): JsonObject {
  try {
    return objectOf(parse(json ?? '{}'));
  } catch {
    return objectOf(null);
  }
}

const icons = /^data:image\/(?:png|jpeg|gif|webp);base64,([\w+/=]+)$/;
const mostIcon = 64 << 10;

/**
 * Returns the icon of an offer, if its definition contains the picture itself. A picture that is loaded from elsewhere
 * would tell the owner of that place who looks at it.
 */
function iconOf(definition: JsonObject) {
  for (const one of arrayOf(definition.get('icons')).slice(0, 20)) {
    const src = stringOf(objectOf(one).get('src'));
    const data = src.length <= mostIcon ? bytesOf(icons.exec(src)?.[1] ?? '') : undefined;
    const info = data && pictureInfo(data);
    if (info && info.width <= 512 && info.height <= 512)
      return h('img', { class: 'offer-icon', src, alt: '', width: 16, height: 16, draggable: 'false' });
  }
  return undefined;
}

/** Returns the hints of a server about one resource, in words. */
export function annotationsOf(definition: JsonObject) {
  const annotations = objectOf(definition.get('annotations'));
  const priority = numberOf(annotations.get('priority'));
  const audience = arrayOf(annotations.get('audience')).map(stringOf).filter(Boolean).slice(0, 10).map(shortName);
  const modified = Date.parse(stringOf(annotations.get('lastModified')));
  return {
    audience: audience.join(', '),
    priority: priority === undefined ? '' : String(priority),
    modified: Number.isFinite(modified) ? dateOf(modified) : '',
  };
}

export function offerFrame({
  name,
  title,
  definition,
  testid,
  build,
}: {
  name: string;
  title: string;
  definition: JsonObject;
  testid: string;
  build: (head: HTMLElement) => (HTMLElement | string | false | undefined)[];
}) {
  const state = h('span', { class: 'state' });
  const head = h(
    'button',
    { 'class': 'head', 'aria-expanded': 'false', 'onclick': () => expand() },
    iconOf(definition),
    h('span', { class: 'name', dir: 'auto', text: shortName(title || name) }),
    title !== '' && title !== name && h('span', { class: 'of', dir: 'auto', text: shortName(name) }),
    state,
  );
  const body = h('div', { class: 'body', hidden: true });
  const element = h('li', { class: 'tool', dataset: { testid } }, h('h5', {}, head), body);
  function expand() {
    const open = Boolean(body.hidden);
    show(body, open);
    head.setAttribute('aria-expanded', String(open));
    if (open && !body.firstChild) replace(body, ...build(head));
  }
  return { element, head, say: (text: string) => setText(state, visible(text)) };
}
