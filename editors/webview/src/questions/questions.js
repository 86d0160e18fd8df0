// The open prompts, oldest first, each on a card. A card that has closed says how, and leaves by itself.

import { promptCard } from './cards.js';
import { h, show } from '../elements/dom.js';
import { byId, setCount } from '../page.js';
import { hubNow } from '../hub/state.js';

/** @param {import('../page.js').Page} page @returns {import('../page.js').Section} */
export function questionsSection({ surface, state, ask, announce }) {
  const place = byId('cards');
  const nothing = h('p', { class: 'muted', text: 'Nobody asks anything.' });
  place.before(nothing);
  /** Cards by prompt, notes among them. @type {Map<string, import('./cards.js').Card>} */
  const cards = new Map();
  const showNothing = () => show(nothing, cards.size === 0);

  /** @type {import('./cards.js').CardActions} */
  const actions = {
    surface,
    announce,
    now: () => hubNow(state),
    windowId: () => state.windowId,
    answer: (answer) => ask({ answerPrompt: answer }),
    serverOf: (name) => state.servers.get(name),
    requestOf: (id) => state.requests.get(id),
    gone: (promptId) => {
      cards.delete(promptId);
      showNothing();
    },
  };

  return {
    paint: (changed) => {
      if (!changed.prompts) return;
      for (const [promptId, closed] of state.closed) {
        state.closed.delete(promptId);
        cards.get(promptId)?.closed(closed);
      }
      for (const [promptId, prompt] of state.prompts) {
        if (cards.has(promptId)) continue;
        const card = promptCard(prompt, actions);
        cards.set(promptId, card);
        place.append(card.element);
        // Only where the focus is nowhere, and the page has it at all: a question must not take it from what is being
        // typed.
        if (document.hasFocus() && document.activeElement === document.body) card.focus();
      }
      setCount('questions', state.prompts.size);
      document.title = state.prompts.size ? `(${state.prompts.size}) McpHub` : 'McpHub';
      showNothing();
    },
  };
}
