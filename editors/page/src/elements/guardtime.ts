/**
 * How long after an element has appeared or moved a click on it is ignored, in milliseconds: the click was meant for
 * what was there before. Keys need no such time: a key goes to the element that has the focus, wherever that moves.
 */
export const guardMs = 500;
