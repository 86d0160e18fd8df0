// A list of any length is one tab stop. Up, Down, Home and End move in it, as does typing the start of a name; Right
// opens what can be opened, and Left closes it.

/** A pause that long begins another word. */
const wordMs = 800;

/**
 * @typedef {object} Roving
 * @property {() => void} refresh after the list has changed: one of its elements is the tab stop
 */

/**
 * @param {HTMLElement} list
 * @param {() => HTMLElement[]} itemsOf the elements that take the focus, in order
 * @param {(item: HTMLElement) => HTMLElement[]} [controlsOf] what is in an element: a tab stop only in the active one
 * @returns {Roving}
 */
export function roving(list, itemsOf, controlsOf = () => []) {
  /** @type {HTMLElement | undefined} */
  let active;
  let typed = '';
  let typedAt = 0;

  /** Hidden ones, as a filter leaves them, are passed over. */
  const items = () => itemsOf().filter((item) => item.getClientRects().length > 0);

  /** @param {HTMLElement} item */
  function activate(item) {
    active = item;
    for (const one of itemsOf()) {
      for (const part of [one, ...controlsOf(one)]) stop(part, one === item);
    }
  }

  /** @param {HTMLElement | undefined} item */
  function go(item) {
    if (!item) return;
    activate(item);
    item.focus();
  }

  /** The next element whose name begins with what was typed. @param {string} key @param {HTMLElement} from */
  function spell(key, from) {
    const now = performance.now();
    typed = now - typedAt < wordMs ? typed + key : key;
    typedAt = now;
    const all = items();
    const at = all.indexOf(from);
    // One letter again and again walks through all that begin with it.
    const first = typed.charAt(0);
    const same = typed.replaceAll(first, '') === '';
    const word = (same ? first : typed).toLowerCase();
    const start = same ? at + 1 : at;
    return [...all.slice(start), ...all.slice(0, start)].find((item) => nameOf(item).toLowerCase().startsWith(word));
  }

  list.addEventListener('focusin', ({ target }) => {
    if (!(target instanceof HTMLElement)) return;
    const item = itemsOf().find((one) => one === target || controlsOf(one).includes(target));
    if (item && item !== active) activate(item);
  });
  list.addEventListener('keydown', (event) => {
    const { target, key } = event;
    if (!(target instanceof HTMLElement) || event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
    const all = items();
    const at = all.indexOf(target);
    if (at < 0) return;
    const open = target.getAttribute('aria-expanded');
    if (key === 'ArrowDown') go(all[at + 1]);
    else if (key === 'ArrowUp') go(all[at - 1]);
    else if (key === 'Home') go(all[0]);
    else if (key === 'End') go(all.at(-1));
    else if (key === 'ArrowRight' && open === 'false') target.click();
    else if (key === 'ArrowLeft' && open === 'true') target.click();
    else if (key.length === 1 && key !== ' ' && key !== '?') go(spell(key, target));
    else return;
    event.preventDefault();
    event.stopPropagation();
  });

  return {
    refresh: () => {
      const all = itemsOf();
      const [first] = all;
      if (active && all.includes(active)) activate(active);
      else if (first) activate(first);
      else active = undefined;
    },
  };
}

/** @param {HTMLElement} element @param {boolean} reached */
function stop(element, reached) {
  const index = reached ? 0 : -1;
  if (element.getAttribute('tabindex') !== String(index)) element.tabIndex = index;
}

/** @param {HTMLElement} item */
const nameOf = (item) => item.querySelector('.name')?.textContent ?? item.textContent;
