// Parts that several cards are made of.
import { announce } from '../elements/announce.js';
import { h } from '../elements/dom.js';
import { copyButton } from '../elements/icon.js';
import { JsonNumber, objectOf, parse, stringify } from '../words/jsontext.js';
import { bytes, longClass, pretty, shortName, startOf, visible } from '../words/text.js';
import { t } from '../words/t.js';
import type {
  AcceptPromptJson as Accept,
  ApprovalScopeJson as Scope,
} from '../../../host/src/gen/mcphub/v1/prompt_pb.js';
import type { Json } from '../words/jsontext.js';
import type { Child } from '../elements/dom.js';
import type { MenuItem } from '../elements/menu.js';
import type { Surface } from '../surface.js';

/** One way to accept. */
export interface Accepting {
  text: string;
  /** returns undefined if the body shows why it cannot be accepted */
  content: () => Accept | undefined;
  /** the host runs its model first */
  runs?: boolean;
  /** the page opens this address */
  opens?: string;
}

/** the parts of a card that depend on its kind */
export interface Kind {
  /** the question in one line */
  title: string;
  /** who asks; without it the server, and the call that it asks for */
  from?: string;
  /** a yes may do harm */
  dangerous?: boolean;
  body: Child[];
  /** undefined: there is nothing to accept. variants: other ways to accept, in a menu beside the button */
  accept: (Accepting & { variants?: (Pick<Accepting, 'text' | 'content'> & { testid: string })[] }) | undefined;
  /** the text of the button */
  decline: string;
  /** returns the reason for a no, from a field in the body */
  reason?: () => string;
  /** are placed beside the buttons */
  choices?: Child[];
  /** further actions, in the menu of the card */
  more?: MenuItem[];
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

/** How much of a server's message is a title, in UTF-16 units. */
const longestTitle = 160;

/**
 * Returns the title of a question and the first part of its body: the message of the server is the title, and stands
 * whole below it only where it is too long for one.
 * @param otherwise the title of a question without a message
 */
export function asked(message: string | undefined, otherwise: string): { title: string; whole: Child } {
  const [first = '', ...rest] = visible(message).trim().split('\n');
  if (first === '') return { title: otherwise, whole: undefined };
  if (rest.length === 0 && first.length <= longestTitle) return { title: first, whole: undefined };
  const title =
    first.length <= longestTitle ? first : `${first.slice(0, longestTitle).replace(/[\uD800-\uDBFF]$/, '')}…`;
  return { title, whole: prose(message) };
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

/** Returns a line that is less important than the rest. */
export const quiet = (text: string) => h('p', { class: 'quiet', text });
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

/** Longer texts are shown as JSON, in UTF-16 units: of one value, and of all arguments. */
const plainest = 300;
const mostGiven = 8000;

/**
 * Returns arguments as a list of names and values, or undefined if they are no flat object of short values, or if the
 * list would not say all of the text: a name that stands twice means one thing to one server and another to the next. A
 * text that could be taken for another kind of value, or whose ends cannot be seen, stands in quotes.
 */
export function given(json: string) {
  if (json.length > mostGiven) return undefined;
  let value: Json;
  try {
    value = parse(json);
  } catch {
    return undefined;
  }
  if (pretty(stringify(value)) !== pretty(json)) return undefined;
  const members = [...objectOf(value)];
  const plain = (value: Json) =>
    typeof value === 'string'
      ? value.length <= plainest
      : typeof value !== 'object' || value === null || value instanceof JsonNumber;
  if (members.length === 0 || members.length > 12) return undefined;
  if (!members.every(([name, value]) => name !== '' && name.length <= 64 && plain(value))) return undefined;
  return h(
    'dl',
    { 'class': 'given', 'aria-label': t('Arguments') },
    ...members.flatMap(([name, value]) => [h('dt', { text: visible(name) }), h('dd', {}, exact(spelled(value)))]),
  );
}

const doubtful = /^(?:|true|false|null|-?\d.*|["\s[{].*|[^]*[\s"])$/;
const spelled = (value: Json) =>
  typeof value === 'string' && !doubtful.test(value) && !value.includes('\n') ? value : stringify(value);

/** Returns a list of exact texts, one on each line, or undefined without any. */
export const lines = (items: readonly string[] | undefined) =>
  items?.length ? h('ul', { class: 'lines' }, ...items.map((item) => h('li', {}, exact(item)))) : undefined;

/** Returns a word of a command line, quoted if a person could not tell where it ends. */
export const quoted = (word: string) => (/^[\w@%+=:,./\\-]+$/.test(word) ? word : JSON.stringify(word));

/** Returns the ways to say yes that differ in how long they hold. The first is that of the button. */
export function scopes(
  content: (scope: Scope) => Accept,
  texts: Partial<Record<Scope, string>>,
): NonNullable<Kind['accept']> {
  const all = (Object.entries(texts) as [Scope, string][]).map(([scope, text]) => ({
    text,
    testid: scope,
    content: () => content(scope),
  }));
  const [first, ...variants] = all;
  return { text: first?.text ?? '', content: first?.content ?? (() => undefined), variants };
}
