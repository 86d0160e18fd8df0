// A list of any length is one tab stop. Up, Down, Home, End and the first letters of a name move the focus in it. Right
// opens an item that can be opened, and Left closes it.

/** After a pause of this length, in milliseconds, a letter begins a new word. */
const wordMs = 800;

export interface Roving {
  /** is called after the list has changed: it makes one of the elements the tab stop */
  refresh: () => void;
}

/**
 * @param itemsOf the elements that take the focus, in order
 * @param controlsOf the controls in an element: they are tab stops only in the active element
 */
export function roving(
  list: HTMLElement,
  itemsOf: () => HTMLElement[],
  controlsOf: (item: HTMLElement) => HTMLElement[] = () => [],
): Roving {
  let active: HTMLElement | undefined;
  const spelled = speller();

  /** Returns the elements without the hidden ones: a filter hides elements. */
  const items = () => itemsOf().filter((item) => item.getClientRects().length > 0);

  function activate(item: HTMLElement) {
    active = item;
    for (const one of itemsOf()) {
      for (const part of [one, ...controlsOf(one)]) stop(part, one === item);
    }
  }

  function go(item: HTMLElement | undefined) {
    if (!item) return;
    activate(item);
    item.focus();
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
    else if (key.length === 1 && key !== ' ' && key !== '?') go(spelled(key, all, at));
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

/** Returns a function that returns the next element, after the one at a place, whose name begins as typed. */
function speller() {
  let typed = '';
  let typedAt = 0;
  return (key: string, all: HTMLElement[], at: number) => {
    const now = performance.now();
    typed = now - typedAt < wordMs ? typed + key : key;
    typedAt = now;
    // The same letter again and again goes through all elements that begin with it.
    const first = typed.charAt(0);
    const same = typed.replaceAll(first, '') === '';
    const word = (same ? first : typed).toLowerCase();
    const start = same ? at + 1 : at;
    return [...all.slice(start), ...all.slice(0, start)].find((item) => nameOf(item).toLowerCase().startsWith(word));
  };
}

function stop(element: HTMLElement, reached: boolean) {
  const index = reached ? 0 : -1;
  if (element.getAttribute('tabindex') !== String(index)) element.tabIndex = index;
}

const nameOf = (item: HTMLElement) => item.querySelector('.name')?.textContent ?? item.textContent;
