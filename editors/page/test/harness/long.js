/**
 * How long a test waits for what must come, in milliseconds. It is far longer than anything takes on a busy machine, so
 * that only what never comes fails the test, and does not hang it.
 */
export const long = 300_000;
