// Parts that several cards are made of.
import { announce } from '../elements/announce.js';
import { h } from '../elements/dom.js';
import { copyButton } from '../elements/icon.js';
import { bytes, longClass, shortName, startOf, visible } from '../words/text.js';
import { t } from '../words/t.js';
import type {
  AcceptPromptJson as Accept,
  ApprovalScopeJson as Scope,
} from '../../../host/src/gen/mcphub/v1/prompt_pb.js';
import type { Child } from '../elements/dom.js';
import type { Surface } from '../surface.js';

/** the parts of a card that depend on its kind */
export interface Kind {
  /** the question in one line */
  title: string;
  /** text of the server */
  message?: string;
  body: Child[];
  /**
   * undefined: there is nothing to accept. content returns undefined if the body shows why it cannot be accepted. runs:
   * the host runs its model first. opens: the page opens this address.
   */
  accept: { text: string; note: string; runs?: boolean; opens?: string; content: () => Accept | undefined } | undefined;
  /** reason: the field for the reason, in the body */
  decline: { text: string; note: string; reason?: HTMLInputElement };
  /** are placed beside the buttons */
  choices?: Child[];
  /** reports whether the person has typed something that would be lost */
  edited?: () => boolean;
  /** restores what draft returned before a reload */
  restore?: (draft: string) => void;
  /** returns what was typed, for restore; never a secret */
  draft?: () => string;
  /** returns what was typed, to be copied after the question is gone; never a secret */
  typed?: () => string;
  /** focuses the first field; without it the heading gets the focus */
  focus?: () => void;
}

/** what a kind may use of its card */
export interface Kit {
  /** for ids of elements */
  id: string;
  surface: Surface;
  /** renames the accept button */
  label: (text: string) => void;
  /** returns a second accept button, with the same guards */
  acceptButton: (text: string, content: () => Accept | undefined) => HTMLButtonElement;
}

export const exact = (text: string) => h('span', { class: 'code exact', text: visible(text) });
/** Returns an element with a text of a server. */
export const prose = (text: string | undefined) =>
  text && h('p', { ...longClass('prose', text), dir: 'auto', text: visible(text) });

/** @param content is called when it is first opened */
export function disclosure(summary: string, content: () => Child[]) {
  const details = h('details', {}, h('summary', { text: summary }));
  details.addEventListener('toggle', () => details.append(...content().filter((part) => part instanceof Node)), {
    once: true,
  });
  return details;
}

const large = 64 * 1024; // a longer text is shown only on demand, so that a card appears at once

/** Returns an element that shows a whole text, with a button that copies it. */
export function block(label: string, shown: string, copied: string = shown) {
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

/** Returns an element that shows a whole name. A long name must be opened first, and has its own scroll bar. */
export function fullName(name: string | undefined = '') {
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

/** Returns a list of names and values. A name without a value is left out. */
export function facts(rows: [string, Child | Child[]][]) {
  const list = h('dl', { class: 'facts' });
  for (const [name, value] of rows) {
    const all = (Array.isArray(value) ? value : [value]).filter(Boolean);
    if (all.length) list.append(h('dt', { text: name }), h('dd', {}, ...all));
  }
  return list;
}

/** Returns a list of exact texts, one on each line, or undefined without any. */
export const lines = (items: string[] | undefined) =>
  items?.length ? h('ul', { class: 'lines' }, ...items.map((item) => h('li', {}, exact(item)))) : undefined;

/** Returns a word of a command line, quoted if a person could not tell where it ends. */
export const quoted = (word: string) => (/^[\w@%+=:,./\\-]+$/.test(word) ? word : JSON.stringify(word));

/** Returns the choice of how long a yes applies. The accept button shows the choice. */
export function scopeChoice(kit: Kit, scopes: Partial<Record<Scope, [choice: string, button: string]>>) {
  const entries = Object.entries(scopes) as [Scope, [string, string]][];
  const select = h(
    'select',
    { 'aria-label': t('How long it holds'), 'dataset': { testid: 'scope' } },
    ...entries.map(([value, [choice]]) => h('option', { value, text: choice })),
  );
  const chosen = () => entries[Math.max(0, select.selectedIndex)] ?? entries[0];
  select.addEventListener('change', () => kit.label(chosen()?.[1][1] ?? ''));
  return { select, scope: () => chosen()?.[0] ?? 'APPROVAL_SCOPE_ONCE' };
}
