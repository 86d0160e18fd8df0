// The section of the open prompts, oldest first, each on a card. When a prompt closes, its card says how it has ended,
// and leaves the page by itself.

import { promptCard } from './cards.js';
import { h, show } from '../elements/dom.js';
import { byId, setCount } from '../page.js';
import { hubNow } from '../hub/state.js';
import { viewWatch } from './inview.js';
import { questionStrip } from './strip.js';
import { shortName } from '../words/text.js';
import { t } from '../words/t.js';
import type { Page, Section } from '../page.js';
import type { Card, CardActions } from './cards.js';

export function questionsSection({ surface, state, ask, announce, drafts }: Page): Section {
  const place = byId('cards');
  const nothing = h('p', { class: 'muted', text: t('No open questions.') });
  place.before(nothing);
  /** The cards of the open prompts, by prompt id. */
  const cards: Map<string, Card> = new Map();
  const showNothing = () => show(nothing, place.childElementCount === 0); // notes are in their place, too

  const reveal = (promptId: string) => {
    const card = cards.get(promptId);
    if (!card) return;
    card.element.scrollIntoView({ block: 'start' });
    card.focus();
  };
  const paintStrip = questionStrip(reveal);
  const outOfView = () => {
    const rows = [];
    for (const [promptId, { server = '' }] of state.prompts) {
      const card = cards.get(promptId);
      if (card && view.outOfView(promptId)) rows.push({ promptId, title: card.title, server: shortName(server) });
    }
    return rows;
  };
  let told = '';
  const view = viewWatch(() => {
    paintStrip(outOfView());
    const promptIds = view.inView();
    if (surface.kind !== 'vscode' || promptIds.join() === told) return;
    told = promptIds.join();
    void ask({ promptsInView: { promptIds } });
  });

  const actions: CardActions = {
    surface,
    announce,
    drafts,
    now: () => hubNow(state),
    windowId: () => state.windowId,
    answer: (answer) => ask({ answerPrompt: answer }),
    serverOf: (name) => state.servers.get(name),
    requestOf: (id) => state.requests.get(id),
    gone: showNothing,
  };

  return {
    paint: (changed) => {
      if (!changed.prompts) return;
      for (const [promptId, closed] of state.closed) {
        state.closed.delete(promptId);
        cards.get(promptId)?.closed(closed);
        cards.delete(promptId);
        view.forget(promptId);
      }
      for (const [promptId, prompt] of state.prompts) {
        if (cards.has(promptId)) continue;
        const card = promptCard(prompt, actions);
        cards.set(promptId, card);
        place.append(card.element);
        view.watch(promptId, card.element);
        // The card takes the focus only if the page has the focus, no element of the page has it, and nothing must be
        // scrolled. A new question must not interrupt a person who types or reads.
        const { top, bottom } = card.heading.getBoundingClientRect();
        const near = top >= 0 && bottom <= innerHeight;
        if (near && document.hasFocus() && document.activeElement === document.body) card.focus();
      }
      setCount('questions', state.prompts.size);
      document.title = state.prompts.size ? `(${state.prompts.size}) McpHub` : 'McpHub';
      showNothing();
      paintStrip(outOfView());
      if (state.reveal === undefined) return;
      // A wanted question that is not open yet may still come. Without any questions, the heading gets the focus.
      const wanted = state.reveal || state.prompts.keys().next().value;
      if (wanted === undefined) byId('questions-title').focus();
      else if (!state.prompts.has(wanted)) return;
      else reveal(wanted);
      state.reveal = undefined;
    },
  };
}
