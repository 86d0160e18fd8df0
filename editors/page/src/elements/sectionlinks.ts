// Links to the sections of the page: the sections above one of them may be long. All links are one tab stop.

import { h, show } from './dom.js';
import { roving } from './roving.js';

export function sectionLinks(place: HTMLElement) {
  const sections: NodeListOf<HTMLElement> = document.querySelectorAll('main section');
  const links = [...sections].map((section) => {
    const heading = section.querySelector('h2');
    const name = heading?.firstChild?.textContent?.trim() ?? '';
    const link = h('button', {
      class: 'link',
      text: name,
      dataset: { testid: `to-${section.id}` },
      onclick: () => {
        section.scrollIntoView({ block: 'start' });
        heading?.focus({ preventScroll: true });
      },
    });
    // The link to a hidden section is hidden, too.
    const follow = () => show(link, !section.hidden);
    new MutationObserver(follow).observe(section, { attributes: true, attributeFilter: ['hidden'] });
    follow();
    return link;
  });
  const shown = () => links.filter((link) => !link.hidden);
  place.append(...links);
  place.addEventListener('keydown', (event) => {
    const all = shown();
    const at = all.findIndex((link) => link === event.target);
    const next = event.key === 'ArrowRight' ? all[at + 1] : event.key === 'ArrowLeft' ? all[at - 1] : undefined;
    if (at < 0 || !next) return;
    next.focus();
    event.preventDefault();
  });
  roving(place, shown).refresh();
}
