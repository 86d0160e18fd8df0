// Makes elements without markup: every text becomes a text node, so a text of a server can never become an element.

export type Child = Node | string | null | undefined | false;

/** The value of an attribute, the dataset, or the listener of an event. */
export type Prop = string | number | boolean | null | undefined | Record<string, string> | ((event: never) => unknown);

export type Props = { class?: string; text?: string; dataset?: Record<string, string>; [name: string]: Prop };

/**
 * Returns a new element. Props are attributes, except class, text, dataset and the on<event> functions. The values
 * false, null and undefined leave an attribute out. A button needs no type: the page has no form that it could submit.
 */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === 'object') Object.assign(element.dataset, value);
    else if (typeof value === 'function') element.addEventListener(name.slice(2), value as EventListener);
    else if (name === 'class') element.className = String(value);
    else if (name === 'text') element.textContent = String(value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...present(children));
  return element;
}

function present(children: readonly Child[]): (Node | string)[] {
  return children.filter((c) => c !== undefined && c !== null && c !== false && c !== '') as (Node | string)[];
}

/** Replaces all children of an element. */
export function replace(parent: Element, ...children: (Child | readonly Child[])[]) {
  parent.replaceChildren(...present(children.flat()));
}

/** Returns an empty line for what went wrong. A screen reader reads it out at once. */
export const alertLine = (className: string = 'problem') => h('p', { class: className, role: 'alert' });

/** Sets a text only if it differs: painting something that has not changed must cause no layout. */
export function setText(element: Element, text: string) {
  const node = element.firstChild;
  if (node instanceof Text && !node.nextSibling) {
    if (node.data !== text) node.data = text;
  } else if (element.textContent !== text) element.textContent = text;
}

/** Sets an attribute only if it differs. undefined removes it. */
export function setAttribute(element: Element, name: string, value: string | number | undefined) {
  if (value === undefined) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, String(value));
}

export function show(element: HTMLElement, shown: boolean) {
  if (element.hidden === shown) element.hidden = !shown;
}

/** The elements of each list by key. */
const lists: WeakMap<Element, Map<string, HTMLElement>> = new WeakMap();

/**
 * Makes the children of parent match items, in their order. An element is kept as long as its key is in items, and is
 * moved only if the order has changed. So the focus, the scroll position and a half-typed text in it are kept.
 * @param parent has no other children
 * @param update is called for new elements, too
 */
export function patchList<T>(
  parent: Element,
  items: Iterable<T>,
  keyOf: (item: T) => string,
  create: (item: T) => HTMLElement,
  update?: (element: HTMLElement, item: T) => void,
) {
  const before = lists.get(parent) ?? (new Map() as Map<string, HTMLElement>);
  const now: Map<string, HTMLElement> = new Map();
  for (const item of items) {
    const key = keyOf(item);
    const element = before.get(key) ?? create(item);
    now.set(key, element);
    update?.(element, item);
  }
  for (const [key, element] of before) if (!now.has(key)) element.remove();
  let place = parent.firstElementChild;
  for (const element of now.values()) {
    if (element === place) place = place.nextElementSibling;
    else parent.insertBefore(element, place);
  }
  lists.set(parent, now);
}
