// The cards of the open prompts, oldest first. When a prompt closes, its card goes, and what is to be said of its end
// is a note. A card stands in Now, or beside the button of the call that it belongs to.

import { holdsFocus, noneFocused } from '../elements/keepfocus.js';
import { passFocus, promptCard } from './cards.js';
import { byId } from '../page.js';
import { hubNow } from '../hub/state.js';
import { viewWatch } from './inview.js';
import { questionStrip } from './strip.js';
import { shortName } from '../words/text.js';
import type {
  PromptClosedJson as PromptClosed,
  PromptJson as Prompt,
} from '../../../host/src/gen/mcphub/v1/prompt_pb.js';
import type { Page, Section } from '../page.js';
import type { Card, CardActions } from './cards.js';

export interface Questions extends Section {
  /** shows the questions of a request in this place, as long as the place can be seen; without a place in Now */
  askHere: (requestId: string, place?: HTMLElement) => void;
}

export function questionsSection(page: Page, note: CardActions['note']): Questions {
  const { state } = page;
  const actions = cardActions(page, note);
  /** The cards of the open prompts, by prompt id. */
  const cards: Map<string, Card> = new Map();
  /** Where the questions of a request stand, by request id. */
  const places: Map<string, HTMLElement> = new Map();
  const paintStrip = questionStrip(reveal);
  const tellInView = inViewTeller(page);
  const paintOutOfView = () => paintStrip(rowsOf(page, cards, view.outOfView));
  const view = viewWatch(() => {
    paintOutOfView();
    tellInView(view.inView());
  });

  function reveal(promptId: string) {
    const card = cards.get(promptId);
    if (!card) return;
    card.element.scrollIntoView({ block: 'start' });
    card.focus();
  }

  function open(promptId: string, prompt: Prompt) {
    if (cards.has(promptId)) return;
    const card = promptCard(prompt, actions);
    cards.set(promptId, card);
    placeOf(places, prompt).append(card.element);
    view.watch(promptId, card.element);
    if (mayTakeFocus(card)) card.focus();
  }

  function close(promptId: string, closed: PromptClosed) {
    state.closed.delete(promptId);
    const card = cards.get(promptId);
    cards.delete(promptId);
    view.forget(promptId);
    card?.closed(closed);
  }

  // A reload does not wait until a person has left the field.
  addEventListener('pagehide', () => cards.forEach(({ element }) => element.dispatchEvent(new Event('focusout'))));

  return {
    askHere: (requestId, place) => {
      if (place) places.set(requestId, place);
      else places.delete(requestId);
    },
    paint: (changed) => {
      if (changed.opened || changed.requestList)
        for (const [promptId, { element }] of cards) move(element, placeOf(places, state.prompts.get(promptId)));
      if (!changed.prompts) return;
      for (const [promptId, closed] of state.closed) close(promptId, closed);
      for (const [promptId, prompt] of state.prompts) open(promptId, prompt);
      document.title = state.prompts.size ? `(${state.prompts.size}) McpHub` : 'McpHub';
      paintOutOfView();
      revealWanted(state, reveal);
    },
  };
}

const cardActions = ({ surface, state, ask, announce, drafts }: Page, note: CardActions['note']): CardActions => ({
  surface,
  announce,
  drafts,
  note,
  now: () => hubNow(state),
  windowId: () => state.windowId,
  answer: (answer) => ask({ answerPrompt: answer }),
  requestOf: (id) => state.requests.get(id),
});

/**
 * Returns the rows of the strip: the questions that are out of view. A tab of one thing has no Now: the host shows the
 * questions that would stand there, and a click on their row would lead to nothing.
 */
function rowsOf({ state, surface }: Page, cards: ReadonlyMap<string, Card>, outOfView: (promptId: string) => boolean) {
  const rows = [];
  for (const [promptId, { server = '' }] of state.prompts) {
    const card = cards.get(promptId);
    if (!card || (surface.shows === 'opened' && card.element.parentElement === byId('cards'))) continue;
    if (outOfView(promptId)) rows.push({ promptId, title: card.title, server: shortName(server) });
  }
  return rows;
}

/** Returns a function that tells an editor which questions are in view, if they are others than before. */
function inViewTeller({ surface, ask }: Page) {
  let told = '';
  return (promptIds: string[]) => {
    if (surface.kind !== 'vscode' || promptIds.join() === told) return;
    told = promptIds.join();
    void ask({ promptsInView: { promptIds } });
  };
}

/** Returns where the card of a prompt belongs: a place that cannot be seen is none. */
function placeOf(places: Map<string, HTMLElement>, { parentRequestId = '', requestId = '' }: Prompt = {}) {
  const place = places.get(parentRequestId) ?? places.get(requestId);
  return place?.parentElement && isShown(place.parentElement) ? place : byId('cards');
}

/** Moves a card whose place was covered or uncovered. */
function move(card: HTMLElement, place: HTMLElement) {
  if (card.parentElement === place) return;
  const held = holdsFocus(card) ? document.activeElement : null;
  place.append(card);
  if (held instanceof HTMLElement) held.focus();
}

/**
 * Reports whether a new card may take the focus: only if the page has the focus, no element of the page has it, and
 * nothing must be scrolled. A new question must not interrupt a person who types or reads.
 */
function mayTakeFocus({ heading }: Card) {
  const { top, bottom } = heading.getBoundingClientRect();
  return top >= 0 && bottom <= innerHeight && document.hasFocus() && noneFocused();
}

function revealWanted(state: Page['state'], reveal: (promptId: string) => void) {
  if (state.reveal === undefined) return;
  // A wanted question that is not open yet may still come. Without any question, what runs gets the focus.
  const wanted = state.reveal || state.prompts.keys().next().value;
  if (wanted === undefined) passFocus(true);
  else if (!state.prompts.has(wanted)) return;
  else reveal(wanted);
  state.reveal = undefined;
}

/** Reports whether an element is drawn. An empty place is not: what it stands in tells. */
const isShown = (element: Element) => element.getClientRects().length > 0;
