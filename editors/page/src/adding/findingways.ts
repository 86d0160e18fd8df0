// The ways to a proposal whose code is loaded when they are first chosen.

import { h, replace } from '../elements/dom.js';
import { t } from '../words/t.js';
import type { Way } from './addform.js';

export const registryWay: Way = { id: 'registry', label: t('Registry'), make: loaded('registrySearch') };
export const bundleWay: Way = { id: 'bundle', label: t('Bundle file'), make: loaded('bundleFile') };

function loaded(name: 'registrySearch' | 'bundleFile'): Way['make'] {
  return (page, propose) => {
    const element = h('div', {});
    const part = import('./finding.js').then((finding) => {
      const made: ReturnType<Way['make']> = finding[name](page, propose);
      replace(element, made.element);
      return made;
    });
    part.catch(() => {
      const text = t('What finds servers could not be loaded.');
      replace(element, h('p', { class: 'problem', role: 'alert', text }));
    });
    const then = (act: (made: ReturnType<Way['make']>) => void) => void part.then(act, () => {});
    return {
      element,
      focus: () => then((made) => made.focus()),
      begin: () => then((made) => made.begin?.()),
      stop: () => then((made) => made.stop?.()),
    };
  };
}
