// The actions of a server beside its name: the one that its state asks for as a word, Stop as an icon, all others in a
// menu. An action that would end running calls asks first, in a line below.

import { html, render } from 'lit-html';
import { h } from '../elements/dom.js';
import { glyph } from '../elements/icon.js';
import { menuButton } from '../elements/menu.js';
import { holdsFocus, noneFocused } from '../elements/keepfocus.js';
import { once } from '../elements/press.js';
import { requestsOf } from '../hub/requestwords.js';
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
  const shown = shortName(name);
  const element = h('span', { class: 'acts' });
  const said = h('div', { class: 'said' });
  let asking: Action | undefined;
  let problem = '';
  let busy = false;

  const items = () =>
    actionsFor(page, name)
      .filter(({ place }) => place === undefined)
      .map((action) => ({ text: action.label, testid: action.testid, act: () => void choose(action) }));
  const more = menuButton('more', t('More actions for {0}', shown), items, 'more');

  function ask(action?: Action) {
    asking = action;
    draw();
  }

  async function choose(action: Action) {
    if (busy) return;
    ask(asking !== action && callsOf(page, name) > 0 && action.loses ? action : undefined);
    if (asking) {
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

  function draw() {
    const held = holdsFocus(said);
    const question = asking && questionView(asking, callsOf(page, name), choose, ask);
    render(
      html`${question}
        <p class="problem" role="alert">${problem}</p>`,
      said,
    );
    if (held && !holdsFocus(said)) home()?.focus();
  }

  function update() {
    const held = holdsFocus(element);
    const all = actionsFor(page, name);
    if (!all.some(({ testid }) => testid === asking?.testid)) asking = undefined;
    const isPrimary = ({ place }: Action) => place === 'primary';
    element.classList.toggle('always', all.some(isPrimary));
    const buttons = all.filter(({ place }) => place !== undefined).map((action) => buttonView(action, shown, choose));
    render(html`${buttons}${more.element}`, element);
    draw();
    if (held && noneFocused()) home()?.focus();
  }

  return { element, said, update };
}

type Choose = (action: Action) => Promise<void>;

function actionsFor({ state, adding }: Page, name: string) {
  const server = state.servers.get(name);
  return server ? actionsOf(server, adding !== undefined) : [];
}

const callsOf = ({ state }: Page, name: string) =>
  requestsOf(state.requests, name).filter((r) => r.method !== 'initialize').length;

const questionView = (asking: Action, calls: number, choose: Choose, ask: () => void) =>
  html`<p>${asking.loses?.(calls)}</p>
    <div class="buttons">
      <button class="primary" data-testid="confirm" @click=${once(() => void choose(asking))}>${asking.label}</button>
      <button @click=${() => ask()}>${t('Cancel')}</button>
    </div>`;

// Two templates: when Start becomes Stop, the button that had the focus goes, and a second press of Enter stops
// nothing.
const buttonView = (action: Action, server: string, choose: Choose) =>
  action.place === 'icon'
    ? html`<button
        class="icon"
        aria-label="${action.label} ${server}"
        title=${action.label}
        data-testid=${action.testid}
        @click=${once(() => void choose(action))}
      >
        ${glyph('stop')}
      </button>`
    : html`<button
        class="plain"
        aria-label="${action.label} ${server}"
        data-testid=${action.testid}
        @click=${once(() => void choose(action))}
      >
        ${action.label}
      </button>`;
