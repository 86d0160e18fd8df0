/**
 * A click sooner than that after something has come or moved was meant for what stood there before, in milliseconds. A
 * key goes where the focus is, wherever that moves.
 */
export const guardMs = 500;
