// When things are drawn: at most once a frame, however many messages came in between.

/**
 * @param {() => void} paint draws what has changed since it was called last
 * @returns {() => void} asks for a paint
 */
export function painter(paint) {
  let due = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const run = () => {
    if (!due) return;
    due = false;
    clearTimeout(timer);
    paint();
  };
  return () => {
    if (due) return;
    due = true;
    requestAnimationFrame(run);
    // Frames stop while a tab is hidden, but its title and its live regions are still read.
    timer = setTimeout(run, 250);
  };
}

/**
 * The one clock for everything that shows how long something takes. It runs only while it is wanted.
 * @param {() => void} tick
 * @returns {(wanted: boolean) => void}
 */
export function secondClock(tick) {
  /** @type {ReturnType<typeof setInterval> | undefined} */
  let timer;
  return (wanted) => {
    if (wanted && timer === undefined) timer = setInterval(tick, 1000);
    if (!wanted && timer !== undefined) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}
