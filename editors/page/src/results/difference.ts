// Compares two texts line by line.

import { h } from '../elements/dom.js';
import { startOf, visible } from '../words/text.js';
import { plural, t } from '../words/t.js';

export type Line = { sign: ' ' | '-' | '+'; text: string };

const mostEdits = 400;
const around = 3;
const mostShown = 2000;

/**
 * Returns the lines of both texts in their order (E. Myers, "An O(ND) Difference Algorithm and Its Variations", 1986).
 * If the texts have too little in common, all lines between their common beginning and end count as changed.
 */
export function differingLines(before: readonly string[], after: readonly string[]): Line[] {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head++;
  let tail = 0;
  const shorter = Math.min(before.length, after.length) - head;
  while (tail < shorter && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++;
  return [
    ...signed(' ', before.slice(0, head)),
    ...changed(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...signed(' ', before.slice(before.length - tail)),
  ];
}

const signed = (sign: Line['sign'], lines: readonly string[]): Line[] => lines.map((text) => ({ sign, text }));

function changed(a: readonly string[], b: readonly string[]): Line[] {
  /** How far each diagonal gets, for each number of edits. */
  const steps: Map<number, number>[] = [];
  const far: Map<number, number> = new Map([[1, 0]]);
  for (let edits = 0; edits <= Math.min(mostEdits, a.length + b.length); edits++) {
    steps.push(new Map(far));
    for (let k = -edits; k <= edits; k += 2) {
      const [left, right] = [far.get(k - 1) ?? -1, far.get(k + 1) ?? -1];
      let x = k === -edits || (k !== edits && left < right) ? right : left + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      far.set(k, x);
      if (x >= a.length && x - k >= b.length) return walkedBack(steps, a, b);
    }
  }
  return [...signed('-', a), ...signed('+', b)];
}

function walkedBack(steps: readonly Map<number, number>[], a: readonly string[], b: readonly string[]) {
  const lines: Line[] = [];
  let [x, y] = [a.length, b.length];
  for (let edits = steps.length - 1; edits >= 0; edits--) {
    const far = steps[edits];
    if (!far) break;
    const k = x - y;
    const [left, right] = [far.get(k - 1) ?? -1, far.get(k + 1) ?? -1];
    const down = k === -edits || (k !== edits && left < right);
    const fromX = down ? right : left;
    const fromY = fromX - (down ? k + 1 : k - 1);
    while (x > fromX && y > fromY && x > 0 && y > 0 && a[x - 1] === b[y - 1]) {
      lines.push({ sign: ' ', text: a[x - 1] ?? '' });
      x--;
      y--;
    }
    if (edits > 0) lines.push(down ? { sign: '+', text: b[--y] ?? '' } : { sign: '-', text: a[--x] ?? '' });
  }
  return lines.reverse();
}

export function differenceView(before: string, after: string) {
  const lines = differingLines(before.split('\n'), after.split('\n'));
  const count = lines.filter(({ sign }) => sign !== ' ').length;
  if (count === 0) return h('p', { class: 'muted', role: 'status', text: t('Both results are the same.') });
  const shown: HTMLElement[] = [];
  let skipped = 0;
  const near = new Set(
    lines.flatMap(({ sign }, at) =>
      sign === ' ' ? [] : Array.from({ length: 2 * around + 1 }, (_, i) => at - around + i),
    ),
  );
  for (const [at, { sign, text }] of lines.entries()) {
    if (!near.has(at)) {
      skipped++;
      continue;
    }
    if (skipped)
      shown.push(h('div', { class: 'muted', text: plural(skipped, '… {0} equal line', '… {0} equal lines') }));
    skipped = 0;
    if (shown.length >= mostShown) {
      shown.push(h('div', { class: 'muted', text: t('The rest is left out.') }));
      break;
    }
    const tag = sign === '-' ? 'del' : sign === '+' ? 'ins' : 'div';
    const spoken = sign === '-' ? t('before: ') : sign === '+' ? t('now: ') : '';
    shown.push(
      h(
        tag,
        { class: 'diff-line' },
        h('span', { 'class': 'sign', 'aria-hidden': 'true', 'text': sign }),
        h('span', { class: 'unseen', text: spoken }),
        h('span', { class: 'exact', text: visible(startOf(text, 500)) || ' ' }),
      ),
    );
  }
  return h(
    'div',
    {
      'class': 'code difference',
      'tabindex': 0,
      'role': 'group',
      'aria-label': plural(count, 'Differences: {0} line', 'Differences: {0} lines'),
    },
    ...shown,
  );
}
