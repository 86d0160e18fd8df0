// The cards of the open prompts, oldest first. When a prompt closes, its card goes, and what is to be said of its end
// is a note. A card stands in Now, or beside the button of the call that it belongs to.

import { passFocus, promptCard } from './cards.js';
import { byId } from '../page.js';
import { hubNow } from '../hub/state.js';
import { viewWatch } from './inview.js';
import { questionStrip } from './strip.js';
import { shortName } from '../words/text.js';
import type { Page, Section } from '../page.js';
import type { Card, CardActions } from './cards.js';

export interface Questions extends Section {
  /** shows the questions of a request in this place, as long as the place can be seen; without a place in Now */
  askHere: (requestId: string, place?: HTMLElement) => void;
}

export function questionsSection(page: Page, note: CardActions['note']): Questions {
  const { surface, state, ask, announce, drafts } = page;
  const cardsPlace = byId('cards');
  /** The cards of the open prompts, by prompt id. */
  const cards: Map<string, Card> = new Map();
  /** Where the questions of a request stand, by request id. */
  const places: Map<string, HTMLElement> = new Map();

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
    note,
    now: () => hubNow(state),
    windowId: () => state.windowId,
    answer: (answer) => ask({ answerPrompt: answer }),
    requestOf: (id) => state.requests.get(id),
  };

  /** Returns where the card of a prompt belongs: a place that cannot be seen is none. */
  function placeOf(promptId: string) {
    const { parentRequestId = '', requestId = '' } = state.prompts.get(promptId) ?? {};
    const place = places.get(parentRequestId) ?? places.get(requestId);
    return place?.parentElement && isShown(place.parentElement) ? place : cardsPlace;
  }

  /** Moves cards whose place was covered or uncovered. */
  function arrange() {
    for (const [promptId, { element }] of cards) {
      const place = placeOf(promptId);
      if (element.parentElement === place) continue;
      const held = element.contains(document.activeElement) ? document.activeElement : null;
      place.append(element);
      if (held instanceof HTMLElement) held.focus();
    }
  }

  function open(promptId: string) {
    const prompt = state.prompts.get(promptId);
    if (!prompt || cards.has(promptId)) return;
    const card = promptCard(prompt, actions);
    cards.set(promptId, card);
    const place = placeOf(promptId);
    place.append(card.element);
    view.watch(promptId, card.element);
    // The card takes the focus only if the page has the focus, no element of the page has it, and nothing must be
    // scrolled. A new question must not interrupt a person who types or reads.
    const { top, bottom } = card.heading.getBoundingClientRect();
    const near = top >= 0 && bottom <= innerHeight;
    if (near && document.hasFocus() && document.activeElement === document.body) card.focus();
  }

  // A reload does not wait until a person has left the field.
  addEventListener('pagehide', () => cards.forEach(({ element }) => element.dispatchEvent(new Event('focusout'))));

  return {
    askHere: (requestId, place) => {
      if (place) places.set(requestId, place);
      else places.delete(requestId);
    },
    paint: (changed) => {
      if (changed.opened || changed.requestList) arrange();
      if (!changed.prompts) return;
      for (const [promptId, closed] of state.closed) {
        state.closed.delete(promptId);
        const card = cards.get(promptId);
        cards.delete(promptId);
        view.forget(promptId);
        card?.closed(closed);
      }
      for (const promptId of state.prompts.keys()) open(promptId);
      document.title = state.prompts.size ? `(${state.prompts.size}) McpHub` : 'McpHub';
      paintStrip(outOfView());
      if (state.reveal === undefined) return;
      // A wanted question that is not open yet may still come. Without any question, what runs gets the focus.
      const wanted = state.reveal || state.prompts.keys().next().value;
      if (wanted === undefined) passFocus(true);
      else if (!state.prompts.has(wanted)) return;
      else reveal(wanted);
      state.reveal = undefined;
    },
  };
}

/** Reports whether an element is drawn. An empty place is not: what it stands in tells. */
const isShown = (element: Element) => element.getClientRects().length > 0;
