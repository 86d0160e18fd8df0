// What a server has written: to stderr, and as log messages.

import { quiet } from '../questions/cardparts.js';
import { h, replace, setText } from '../elements/dom.js';
import { clockTime, shortName, visible } from '../words/text.js';
import { t } from '../words/t.js';
import type { ServerLog } from '../hub/serverlog.js';

export function serverLog(server: string): { element: HTMLElement; paint: (log: ServerLog | undefined) => void } {
  const element = h('div', { class: 'stack' });
  const nothing = quiet(t('It has written nothing.'));
  const parts = [t('What {0} writes to stderr', shortName(server)), t('Log messages of {0}', shortName(server))].map(
    (label) => {
      const text = h('pre', { 'class': 'code log', 'tabindex': 0, 'role': 'region', 'aria-label': label });
      return { text, element: h('div', { class: 'stack' }, h('h3', { text: label }), text) };
    },
  );

  return {
    element,
    paint: (log) => {
      const messages = (log?.messages ?? []).map((m) =>
        [clockTime(m.time), m.level, m.logger, m.text].filter(Boolean).join(' '),
      );
      const filled = [log?.stderr ?? [], messages].flatMap((lines, i) => {
        const part = parts[i];
        if (!part || lines.length === 0) return [];
        const { text } = part;
        const atEnd = text.scrollHeight - text.scrollTop - text.clientHeight < 20;
        setText(text, lines.map(visible).join('\n'));
        return [{ ...part, atEnd }];
      });
      const wanted = filled.length > 0 ? filled.map((part) => part.element) : [nothing];
      if (wanted.some((one, i) => element.children[i] !== one) || element.childElementCount !== wanted.length)
        replace(element, ...wanted);
      for (const { text, atEnd } of filled) if (atEnd) text.scrollTop = text.scrollHeight;
    },
  };
}
