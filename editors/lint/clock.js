// Rules of our own for the linter: no verdict of a test depends on how busy the machine is. What must come is waited
// for, with one long bound, and time passes by a fake clock.

/** @typedef {{ report: (problem: { node: object, message: string }) => void }} Context */

/** A rule that refuses what fits a selector, with the reason. @param {Record<string, string>} refused */
const refuse = (refused) => ({
  /** @param {Context} context */
  create: (context) =>
    Object.fromEntries(
      Object.entries(refused).map(([selector, message]) => [
        selector,
        (/** @type {object} */ node) => context.report({ node, message }),
      ]),
    ),
});

const come = 'Wait for what must come.';
const long = 'The one bound of a test is long.';

export default {
  meta: { name: 'clock' },
  rules: {
    /** What waits for a time instead of for what must come. */
    waits: refuse({
      'CallExpression[callee.property.name="waitForTimeout"]': come,
      'NewExpression[callee.name="Promise"] CallExpression[callee.name="setTimeout"]': come,
      'CallExpression[callee.name="setTimeout"] > Identifier[name="resolve"]': come,
      'Property[key.name="timeout"] > Literal': long,
      'CallExpression[callee.property.name="setDefaultTimeout"] > Literal': long,
      'CallExpression[callee.object.name="AbortSignal"][callee.property.name="timeout"] > Literal': long,
      'CallExpression[callee.object.name="Math"][callee.property.name="random"]': 'A seed stands in the test.',
    }),
    now: refuse({
      'CallExpression[callee.object.name=/^(Date|performance)$/][callee.property.name="now"]': 'Take a fake clock.',
    }),
  },
};
