// The actions of a server beside its name: the one that its state asks for as a word, Stop as an icon, all others in a
// menu. An action that would end running calls asks first, in a line below.

import { html, render } from 'lit-html';
import { h } from '../elements/dom.js';
import { glyph } from '../elements/icon.js';
import { menuButton } from '../elements/menu.js';
import { shortName, visible } from '../words/text.js';
import { t } from '../words/t.js';
import { actionsOf } from './serveractions.js';
import type { Page } from '../page.js';
import type { Action } from './serveractions.js';

export interface ServerActs {
  element: HTMLElement;
  /** the question, and what was refused */
  said: HTMLElement;
  update: () => void;
}

/** @param home takes the focus when the action that has it goes */
export function serverActs(page: Page, name: string, home: () => HTMLElement | null | undefined): ServerActs {
  const { state } = page;
  const shown = shortName(name);
  const element = h('span', { class: 'acts' });
  const said = h('div', { class: 'said' });
  let asking: Action | undefined;
  let problem = '';
  let busy = false;

  const actions = () => {
    const server = state.servers.get(name);
    return server ? actionsOf(server, page.adding !== undefined) : [];
  };
  const calls = () => [...state.requests.values()].filter((r) => r.server === name && r.method !== 'initialize').length;
  const more = menuButton(
    'more',
    t('More actions for {0}', shown),
    () =>
      actions()
        .filter(({ place }) => place === undefined)
        .map((action) => ({ text: action.label, testid: action.testid, act: () => void choose(action) })),
    'more',
  );

  async function choose(action: Action) {
    if (busy) return;
    const running = calls();
    asking = asking !== action && running > 0 && action.loses ? action : undefined;
    if (asking) {
      draw();
      said.querySelector('button')?.focus();
      return;
    }
    busy = true;
    problem = '';
    draw();
    const reply = await action.act(page, name);
    busy = false;
    problem = visible(reply?.error?.message);
    update();
  }

  /** The second click of a double click is meant for what the first one has done. */
  const once = (act: () => void) => (event: MouseEvent) => {
    if (event.detail < 2) act();
  };

  function draw() {
    const held = said.contains(document.activeElement);
    render(
      html`${
          asking
            ? html`<p>${asking.loses?.(calls())}</p>
                <div class="buttons">
                  <button class="primary" data-testid="confirm" @click=${once(() => void choose(asking as Action))}>
                    ${asking.label}
                  </button>
                  <button
                    @click=${() => {
                      asking = undefined;
                      draw();
                    }}
                  >
                    ${t('Cancel')}
                  </button>
                </div>`
            : ''
        }
        <p class="problem" role="alert">${problem}</p>`,
      said,
    );
    if (held && !said.contains(document.activeElement)) home()?.focus();
  }

  function update() {
    const held = element.contains(document.activeElement);
    const all = actions();
    if (asking && !all.some(({ testid }) => testid === asking?.testid)) asking = undefined;
    element.classList.toggle(
      'always',
      all.some(({ place }) => place === 'primary'),
    );
    render(
      html`${all
        .filter(({ place }) => place !== undefined)
        .map((action) =>
          action.place === 'icon'
            ? html`<button
                class="icon"
                aria-label="${action.label} ${shown}"
                title=${action.label}
                data-testid=${action.testid}
                @click=${once(() => void choose(action))}
              >
                ${glyph('stop')}
              </button>`
            : html`<button
                class="plain"
                aria-label="${action.label} ${shown}"
                data-testid=${action.testid}
                @click=${once(() => void choose(action))}
              >
                ${action.label}
              </button>`,
        )}${more.element}`,
      element,
    );
    draw();
    if (held && document.activeElement === document.body) home()?.focus();
  }

  return { element, said, update };
}
