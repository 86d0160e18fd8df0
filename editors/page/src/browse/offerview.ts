// What the definition of an entry says, which the server has written.

import { h } from '../elements/dom.js';
import { arrayOf, numberOf, objectOf, parse, stringOf } from '../words/jsontext.js';
import { bytesOf, pictureInfo } from '../results/pictureinfo.js';
import { dateOf } from '../words/t.js';
import { prose } from '../questions/cardparts.js';
import { shortName, startOf, visible } from '../words/text.js';
import type { JsonObject } from '../words/jsontext.js';

/** Returns the parsed definition, or an empty object. */
export function definitionOf(json: string | undefined): JsonObject {
  try {
    return objectOf(parse(json ?? '{}'));
  } catch {
    return objectOf(null);
  }
}

const longestProse = 4000;

/** Returns what stands first of an opened thing: whose it is, and what its server says of it. */
export function aboutOf(server: string, description = '') {
  const text = description.length > 300 || description.includes('\n') ? '' : visible(description);
  const line = h('p', { class: 'quiet', dir: 'auto', text: [shortName(server), text].filter(Boolean).join(' · ') });
  return h('div', {}, line, text === '' && prose(startOf(description, longestProse)));
}

const icons = /^data:image\/(?:png|jpeg|gif|webp);base64,([\w+/=]+)$/;
const mostIcon = 64 << 10;

/**
 * Returns the icon of an offer, if its definition contains the picture itself. A picture that is loaded from elsewhere
 * would tell the owner of that place who looks at it.
 */
export function iconOf(definition: JsonObject) {
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
