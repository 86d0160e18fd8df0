// Parts that several cards are made of.
import { announce } from '../elements/announce.js';
import { h } from '../elements/dom.js';
import { copyButton } from '../elements/icon.js';
import { bytes, longClass, shortName, startOf, visible } from '../words/text.js';
import { t } from '../words/t.js';

/** @typedef {import('../../../host/src/gen/mcphub/v1/prompt_pb.js').ApprovalScopeJson} Scope */
/** @typedef {import('../../../host/src/gen/mcphub/v1/prompt_pb.js').AcceptPromptJson} Accept */
/** @typedef {import('../elements/dom.js').Child} Child */
/**
 * @typedef {object} Kind the parts of a card that depend on its kind
 * @property {string} title the question in one line
 * @property {string} [message] text of the server
 * @property {Child[]} body
 * @property {{ text: string, note: string, runs?: boolean, opens?: string, content: () => Accept | undefined } |
 * undefined} accept undefined: there is nothing to accept. content returns undefined if the body shows why it cannot be
 * accepted. runs: the host runs its model first. opens: the page opens this address.
 * @property {{ text: string, note: string, reason?: HTMLInputElement }} decline reason: the field for the reason, in
 *   the body
 * @property {Child[]} [choices] are placed beside the buttons
 * @property {() => boolean} [edited] reports whether the person has typed something that would be lost
 * @property {(draft: string) => void} [restore] restores what draft returned before a reload
 * @property {() => string} [draft] returns what was typed, for restore; never a secret
 * @property {() => string} [typed] returns what was typed, to be copied after the question is gone; never a secret
 * @property {() => void} [focus] focuses the first field; without it the heading gets the focus
 */
/**
 * @typedef {object} Kit what a kind may use of its card
 * @property {string} id for ids of elements
 * @property {import('../surface.js').Surface} surface
 * @property {(text: string) => void} label renames the accept button
 * @property {(text: string, content: () => Accept | undefined) => HTMLButtonElement} acceptButton returns a second
 * accept button, with the same guards
 */

/** @param {string} text */
export const exact = (text) => h('span', { class: 'code exact', text: visible(text) });
/** Returns an element with a text of a server. @param {string | undefined} text */
export const prose = (text) => text && h('p', { ...longClass('prose', text), dir: 'auto', text: visible(text) });

/** @param {string} summary @param {() => Child[]} content is called when it is first opened */
export function disclosure(summary, content) {
  const details = h('details', {}, h('summary', { text: summary }));
  details.addEventListener('toggle', () => details.append(...content().filter((part) => part instanceof Node)), {
    once: true,
  });
  return details;
}

const large = 64 * 1024; // a longer text is shown only on demand, so that a card appears at once

/**
 * Returns an element that shows a whole text, with a button that copies it.
 * @param {string} label
 * @param {string} shown
 * @param {string} [copied]
 */
export function block(label, shown, copied = shown) {
  const pre = () =>
    h('pre', { 'class': 'code exact', 'tabindex': 0, 'role': 'group', 'aria-label': label, 'text': visible(shown) });
  const copy = copyButton(t('Copy {0}', label), () => copied, announce);
  return h(
    'div',
    { class: 'block' },
    h('div', { class: 'block-head' }, h('h4', { text: label }), copy),
    shown.length > large ? disclosure(t('Show all of it: {0}', bytes(shown.length)), () => [pre()]) : pre(),
  );
}

/**
 * Returns an element that shows a whole name. A long name must be opened first, and has its own scroll bar.
 * @param {string | undefined} name
 */
export function fullName(name = '') {
  const short = shortName(name);
  if (short === visible(name)) return exact(name);
  const whole = () =>
    h('p', {
      ...longClass('code exact', startOf(name, large)),
      'role': 'group',
      'aria-label': t('Whole name'),
      'text': visible(startOf(name, large)),
    });
  return disclosure(short, () => [whole()]);
}

/** Returns a list of names and values. A name without a value is left out. @param {[string, Child | Child[]][]} rows */
export function facts(rows) {
  const list = h('dl', { class: 'facts' });
  for (const [name, value] of rows) {
    const all = (Array.isArray(value) ? value : [value]).filter(Boolean);
    if (all.length) list.append(h('dt', { text: name }), h('dd', {}, ...all));
  }
  return list;
}

/** Returns a list of exact texts, one on each line, or undefined without any. @param {string[] | undefined} items */
export const lines = (items) =>
  items?.length ? h('ul', { class: 'lines' }, ...items.map((item) => h('li', {}, exact(item)))) : undefined;

/** Returns a word of a command line, quoted if a person could not tell where it ends. @param {string} word */
export const quoted = (word) => (/^[\w@%+=:,./\\-]+$/.test(word) ? word : JSON.stringify(word));

/**
 * Returns the choice of how long a yes applies. The accept button shows the choice.
 * @param {Kit} kit @param {Partial<Record<Scope, [choice: string, button: string]>>} scopes
 */
export function scopeChoice(kit, scopes) {
  const entries = /** @type {[Scope, [string, string]][]} */ (Object.entries(scopes));
  const select = h(
    'select',
    { 'aria-label': t('How long it holds'), 'dataset': { testid: 'scope' } },
    ...entries.map(([value, [choice]]) => h('option', { value, text: choice })),
  );
  const chosen = () => entries[Math.max(0, select.selectedIndex)] ?? entries[0];
  select.addEventListener('change', () => kit.label(chosen()?.[1][1] ?? ''));
  return { select, scope: () => chosen()?.[0] ?? 'APPROVAL_SCOPE_ONCE' };
}
