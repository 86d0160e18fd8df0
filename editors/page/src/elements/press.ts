// What changes the layout waits while the pointer is pressed. Else a button could move away between the press and its
// click, and the click would be lost.

/** The functions that wait for the end of a press of the pointer; undefined while the pointer is not pressed. */
let pressed: (() => void)[] | undefined;
let lifted: ReturnType<typeof setTimeout> | undefined;
let follows = false;

/** How long after its release a press is over if no click has followed, in milliseconds. */
const clickPause = 100;

/** Begins to follow the pointer. A form calls it before its first afterPress. */
export function followPress() {
  if (follows) return;
  follows = true;
  const over = () => {
    clearTimeout(lifted);
    const waiting = pressed ?? [];
    pressed = undefined;
    for (const act of waiting) act();
  };
  addEventListener(
    'pointerdown',
    ({ button }) => {
      if (button !== 0) return;
      clearTimeout(lifted);
      pressed ??= [];
    },
    true,
  );
  addEventListener('click', over, true);
  addEventListener('pointerup', () => (lifted = setTimeout(over, clickPause)), true); // no click may follow
  addEventListener('pointercancel', over, true);
}

/** Runs act, but not between the press of a button and its click. */
export function afterPress(act: () => void) {
  if (pressed) pressed.push(act);
  else act();
}

/** Returns a listener that leaves out the second click of a double click: it was meant for what the first has done. */
export const once =
  (act: () => void) =>
  ({ detail: clicks }: MouseEvent) => {
    if (clicks < 2) act();
  };

/** Returns a promise that is fulfilled at once, or, while the pointer is pressed, when it is released. */
export const pressOver = () => new Promise<void>((done) => afterPress(done));
