// Tabs, of which one shows its panel. The tabs are one tab stop; arrows move among them, and show what they reach.

import { h, setAttribute, show } from './dom.js';

export interface Tab {
  id: string;
  label: string;
  panel: HTMLElement;
  /** is called whenever the tab comes into view */
  shown?: () => void;
}

let ids = 0;

export function tabs(label: string, all: readonly Tab[]) {
  const of = `tabs-${++ids}`;
  let chosen = all[0];
  const buttons = all.map((tab) => {
    const button = h('button', {
      'id': `${of}-${tab.id}`,
      'role': 'tab',
      'aria-controls': `${of}-${tab.id}-panel`,
      'text': tab.label,
      'dataset': { testid: `tab-${tab.id}` },
      'onclick': () => choose(tab.id),
    });
    setAttribute(tab.panel, 'id', `${of}-${tab.id}-panel`);
    setAttribute(tab.panel, 'role', 'tabpanel');
    setAttribute(tab.panel, 'aria-labelledby', button.id);
    return { tab, button };
  });
  const list = h('div', { 'class': 'tabs', 'role': 'tablist', 'aria-label': label }, ...buttons.map((b) => b.button));
  list.addEventListener('keydown', (event) => {
    const there = buttons.filter(({ button }) => !button.hidden);
    const at = there.findIndex(({ button }) => button === event.target);
    const to = { ArrowRight: there[at + 1], ArrowLeft: there[at - 1], Home: there[0], End: there.at(-1) }[event.key];
    if (at < 0 || !to) return;
    event.preventDefault();
    choose(to.tab.id);
    to.button.focus();
  });

  function choose(id: string) {
    chosen = all.find((tab) => tab.id === id) ?? chosen;
    for (const { tab, button } of buttons) {
      const on = tab === chosen;
      setAttribute(button, 'aria-selected', String(on));
      button.tabIndex = on ? 0 : -1;
      show(tab.panel, on);
    }
    chosen?.shown?.();
  }

  return {
    element: h('div', {}, list, ...all.map(({ panel }) => panel)),
    choose,
    /** shows what is chosen anew */
    refresh: () => chosen?.shown?.(),
    /** @param there the tab is one of them */
    offer: (id: string, there: boolean) => {
      const found = buttons.find(({ tab }) => tab.id === id);
      if (!found) return;
      show(found.button, there);
      if (!there && found.tab === chosen) choose(all[0]?.id ?? '');
    },
    isChosen: (id: string) => chosen?.id === id,
  };
}
