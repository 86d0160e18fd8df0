// Makes elements without markup: every text becomes a text node, so a text of a server can never become an element.

/** @typedef {Node | string | null | undefined | false} Child */
/**
 * The value of an attribute, the dataset, or the listener of an event.
 * @typedef {string | number | boolean | null | undefined | Record<string, string> | ((event: never) => unknown)} Prop
 */
/** @typedef {{ class?: string, text?: string, dataset?: Record<string, string>, [name: string]: Prop }} Props */

/**
 * Returns a new element. Props are attributes, except class, text, dataset and the on<event> functions. The values
 * false, null and undefined leave an attribute out. A button needs no type: the page has no form that it could submit.
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
 * Replaces all children of an element.
 * @param {Element} parent
 * @param {...(Child | readonly Child[])} children
 */
export function replace(parent, ...children) {
  parent.replaceChildren(...present(children.flat()));
}

/**
 * Sets a text only if it differs: painting something that has not changed must cause no layout.
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
 * Sets an attribute only if it differs. undefined removes it.
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

/** The elements of each list by key. @type {WeakMap<Element, Map<string, HTMLElement>>} */
const lists = new WeakMap();

/**
 * Makes the children of parent match items, in their order. An element is kept as long as its key is in items, and is
 * moved only if the order has changed. So the focus, the scroll position and a half-typed text in it are kept.
 * @template T
 * @param {Element} parent has no other children
 * @param {Iterable<T>} items
 * @param {(item: T) => string} keyOf
 * @param {(item: T) => HTMLElement} create
 * @param {(element: HTMLElement, item: T) => void} [update] is called for new elements, too
 */
export function patchList(parent, items, keyOf, create, update) {
  const before = lists.get(parent) ?? /** @type {Map<string, HTMLElement>} */ (new Map());
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
