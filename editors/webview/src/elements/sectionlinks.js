// Ways to the sections of the page: what stands above one of them may be long. One tab stop.

import { h } from './dom.js';
import { roving } from './roving.js';

/** @param {HTMLElement} place */
export function sectionLinks(place) {
  const links = [...document.querySelectorAll('main section')].map((section) => {
    const heading = section.querySelector('h2');
    const name = heading?.firstChild?.textContent?.trim() ?? '';
    return h('button', {
      type: 'button',
      class: 'link',
      text: name,
      dataset: { testid: `to-${section.id}` },
      onclick: () => {
        section.scrollIntoView({ block: 'start' });
        heading?.focus({ preventScroll: true });
      },
    });
  });
  place.append(...links);
  place.addEventListener('keydown', (event) => {
    const at = links.findIndex((link) => link === event.target);
    const next = event.key === 'ArrowRight' ? links[at + 1] : event.key === 'ArrowLeft' ? links[at - 1] : undefined;
    if (at < 0 || !next) return;
    next.focus();
    event.preventDefault();
  });
  roving(place, () => links).refresh();
}
