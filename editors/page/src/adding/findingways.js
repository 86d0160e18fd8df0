// The ways to a proposal whose code is loaded when they are first chosen.

import { h, replace } from '../elements/dom.js';
import { t } from '../words/t.js';

/** @typedef {import('./addform.js').Way} Way */

/** @type {Way} */
export const registryWay = { id: 'registry', label: t('Registry'), make: loaded('registrySearch') };
/** @type {Way} */
export const bundleWay = { id: 'bundle', label: t('Bundle file'), make: loaded('bundleFile') };

/** @param {'registrySearch' | 'bundleFile'} name @returns {Way['make']} */
function loaded(name) {
  return (page, propose) => {
    const element = h('div', {});
    const part = import('./finding.js').then((finding) => {
      /** @type {ReturnType<Way['make']>} */
      const made = finding[name](page, propose);
      replace(element, made.element);
      return made;
    });
    part.catch(() => {
      const text = t('What finds servers could not be loaded.');
      replace(element, h('p', { class: 'problem', role: 'alert', text }));
    });
    const then = (/** @type {(made: ReturnType<Way['make']>) => void} */ act) => void part.then(act, () => {});
    return {
      element,
      focus: () => then((made) => made.focus()),
      begin: () => then((made) => made.begin?.()),
      stop: () => then((made) => made.stop?.()),
    };
  };
}
