// Elements without markup: every text becomes a text node, so what a server says can never become an element.

/** @typedef {Node | string | null | undefined | false} Child */
/**
 * What an attribute can be made of, and what hears an event.
 * @typedef {string | number | boolean | null | undefined | Record<string, string> | ((event: never) => unknown)} Prop
 */
/** @typedef {{ class?: string, text?: string, dataset?: Record<string, string>, [name: string]: Prop }} Props */

/**
 * An element. Props are attributes, but for class, text, dataset and on<event> functions; false, null and undefined
 * leave an attribute out. A button needs no type: the page has no form that it could submit.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Props} [props]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === 'object') Object.assign(element.dataset, value);
    else if (typeof value === 'function') element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    else if (name === 'class') element.className = String(value);
    else if (name === 'text') element.textContent = String(value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...present(children));
  return element;
}

/** @param {readonly Child[]} children @returns {(Node | string)[]} */
function present(children) {
  return /** @type {(Node | string)[]} */ (
    children.filter((c) => c !== undefined && c !== null && c !== false && c !== '')
  );
}

/**
 * Puts children in the place of all that an element holds.
 * @param {Element} parent
 * @param {...(Child | readonly Child[])} children
 */
export function replace(parent, ...children) {
  parent.replaceChildren(...present(/** @type {Child[]} */ (children.flat())));
}

/**
 * Writes a text only when it is another one: painting what has not changed must cost no layout.
 * @param {Element} element
 * @param {string} text
 */
export function setText(element, text) {
  const node = element.firstChild;
  if (node instanceof Text && !node.nextSibling) {
    if (node.data !== text) node.data = text;
  } else if (element.textContent !== text) element.textContent = text;
}

/**
 * As setText, for an attribute; undefined removes it.
 * @param {Element} element
 * @param {string} name
 * @param {string | number | undefined} value
 */
export function setAttribute(element, name, value) {
  if (value === undefined) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, String(value));
}

/** @param {HTMLElement} element @param {boolean} shown */
export function show(element, shown) {
  if (element.hidden === shown) element.hidden = !shown;
}

/** Of each list, its elements by key. @type {WeakMap<Element, Map<string, HTMLElement>>} */
const lists = new WeakMap();

/**
 * Makes the children of parent those of items, in order. An element stays the same for as long as its key is there, and
 * is not moved unless the order changed: what is focused, scrolled or half typed inside it survives.
 * @template T
 * @param {Element} parent that holds nothing else
 * @param {Iterable<T>} items
 * @param {(item: T) => string} keyOf
 * @param {(item: T) => HTMLElement} create
 * @param {(element: HTMLElement, item: T) => void} [update] for new elements, too
 */
export function patchList(parent, items, keyOf, create, update) {
  /** @type {Map<string, HTMLElement>} */
  const before = lists.get(parent) ?? new Map();
  /** @type {Map<string, HTMLElement>} */
  const now = new Map();
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
