// The card of a prompt. It is opened, answered once, and gone when the prompt has closed: what is to be said of its
// end is a note. Each kind of card has its own file.

import { acceptGuard } from './acceptguard.js';
import { keepDrafts } from './carddraft.js';
import { formCard, inputCard } from './cardform.js';
import { launchCard } from './cardlaunch.js';
import { samplingCard } from './cardsampling.js';
import { answeredHere, closesIn, closingNote, opened, transition } from './cardstate.js';
import { toolCard } from './cardtool.js';
import { signInCard, urlCard } from './cardurl.js';
import { alertLine, h, setText } from '../elements/dom.js';
import { menuButton } from '../elements/menu.js';
import { once } from '../elements/press.js';
import { holdsFocus, noneFocused } from '../elements/keepfocus.js';
import { shortName, visible } from '../words/text.js';
import { t } from '../words/t.js';
import type {
  AcceptPromptJson as Accept,
  PromptAnswerJson as Answer,
  PromptClosedJson as PromptClosed,
  PromptJson as Prompt,
} from '../../../host/src/gen/mcphub/v1/prompt_pb.js';
import type { ReplyJson as Reply } from '../../../host/src/gen/mcphub/v1/editor_pb.js';
import type { HubErrorJson as HubError, RequestJson } from '../../../host/src/gen/mcphub/v1/request_pb.js';
import type { MenuItem } from '../elements/menu.js';
import type { CardState } from './cardstate.js';
import type { Kind, Kit } from './cardparts.js';
import type { Surface } from '../surface.js';
import type { Page } from '../page.js';

/** How a question has ended, for the note that takes the place of its card. */
export interface Closing {
  promptId: string;
  title: string;
  server: string;
  truth: string;
  withdrawn: boolean;
  /** what somebody had typed into the card, '' for nothing */
  typed: string;
  /** the card had the focus */
  held: boolean;
}

export interface CardActions {
  answer: (answer: Answer) => Promise<Reply>;
  surface: Surface;
  requestOf?: (id: string) => RequestJson | undefined;
  announce: (text: string, urgency?: 'polite' | 'assertive') => void;
  /** returns the time by the hub's clock, which counts for deadlines */
  now: () => number;
  /** of this window */
  windowId: () => string;
  drafts?: Page['drafts'];
  /** is called with what is to be said of the end of the question, unless it was answered here */
  note: (closing: Closing) => void;
}

export interface Card {
  element: HTMLElement;
  heading: HTMLElement;
  /** the question in one line */
  title: string;
  /** takes the card from the page */
  closed: (closed: PromptClosed) => void;
  /** sets the focus, but never on an accept button */
  focus: () => void;
}

let serial = 0;

/** Reports whether a server asks, and not the hub. */
const ofServer = ({ sampling, elicitationForm, elicitationUrl }: Prompt) =>
  Boolean(sampling ?? elicitationForm ?? elicitationUrl);

function known(prompt: Prompt, kit: Kit): Kind | undefined {
  const server = prompt.server ?? '';
  if (prompt.toolApproval) return toolCard(prompt.toolApproval, server, kit);
  if (prompt.sampling) return samplingCard(prompt.sampling, server, kit);
  if (prompt.elicitationForm) return formCard(prompt.elicitationForm, kit);
  if (prompt.elicitationUrl) return urlCard(prompt.elicitationUrl, kit);
  if (prompt.signIn) return signInCard(prompt.signIn, server, kit);
  if (prompt.serverLaunch) return launchCard(prompt.serverLaunch, server, kit);
  if (prompt.configInput) return inputCard(prompt.configInput, kit);
  return undefined;
}

function kindOf(prompt: Prompt, kit: Kit): Kind {
  let kind: Kind | undefined;
  try {
    kind = known(prompt, kit);
  } catch (error) {
    reportError(error); // a question that cannot be shown must not hide the others
  }
  return (
    kind ?? { title: t('A question that this page cannot show'), body: [], accept: undefined, decline: t('Decline') }
  );
}

export const promptCard = (prompt: Prompt, actions: CardActions): Card => new PromptCard(prompt, actions);

class PromptCard implements Card {
  readonly element: HTMLElement;
  readonly heading: HTMLElement;
  readonly title: string;
  readonly #promptId: string;
  readonly #server: string;
  readonly #actions: CardActions;
  readonly #kind: Kind;
  readonly #main: HTMLButtonElement | undefined;
  readonly #guard = acceptGuard();
  readonly #buttons: HTMLButtonElement[] = [];
  readonly #problem = alertLine('field-error');
  readonly #status = h('p', { class: 'quiet card-status', role: 'status' });
  readonly #deadline = h('span', { class: 'card-deadline' });
  #state: CardState = opened;
  #closing: PromptClosed | undefined;
  #clock: ReturnType<typeof setTimeout> | undefined;
  #escaped = false;
  /** The button that had the focus until it was disabled. */
  #left: HTMLElement | undefined;

  constructor(prompt: Prompt, actions: CardActions) {
    const { promptId = '', server = '' } = prompt;
    const id = `card-${++serial}`;
    this.#promptId = promptId;
    this.#server = shortName(server);
    this.#actions = actions;
    this.#kind = kindOf(prompt, {
      id,
      surface: actions.surface,
      label: (text) => this.#main && setText(this.#main, text),
      acceptButton: (text, content) =>
        this.#acceptButton(text, (event) => this.#accept({ text, content }, event), 'accept-by-hand'),
    });
    const { accept } = this.#kind;
    this.#main = accept && this.#acceptButton(accept.text, (event) => this.#accept(accept, event));
    this.title = this.#kind.title;
    this.heading = h('h3', { id: `${id}-title`, class: 'grow', dir: 'auto', tabindex: -1, text: this.title });
    this.element = this.#draw(prompt, id);
    this.element.addEventListener('keydown', (event) => this.#key(event));
    keepDrafts(this.element, promptId, this.#kind, actions.drafts);
    this.#tick(prompt.deadline);
    this.#enable();
    actions.announce(t('{0} asks: {1}', this.#server, this.title));
  }

  focus() {
    if (this.#kind.focus) this.#kind.focus();
    else this.heading.focus();
  }

  closed(closed: PromptClosed) {
    if (this.#closing) return;
    this.#closing = closed;
    clearTimeout(this.#clock);
    this.#actions.drafts?.keepDraft(this.#promptId, '');
    this.#guard.forget();
    const here = answeredHere(closed, this.#state);
    this.#state = transition(this.#state, 'closed');
    this.element.dataset['phase'] = 'closed';
    const held = holdsFocus(this.element);
    this.element.remove();
    if (here) passFocus(held);
    else this.#note(closed, held);
  }

  #note(closed: PromptClosed, held: boolean) {
    const truth = closingNote(closed, this.#server, this.#actions.windowId());
    this.#actions.announce(`${this.title} — ${truth}`);
    this.#actions.note({
      promptId: this.#promptId,
      title: this.title,
      server: this.#server,
      truth,
      withdrawn: closed.cause === 'PROMPT_CAUSE_WITHDRAWN',
      typed: (this.#kind.edited?.() && this.#kind.typed?.()) || '',
      held,
    });
  }

  #draw(prompt: Prompt, id: string) {
    const { accept, decline, choices, body, from, dangerous } = this.#kind;
    const menu = menuButton('more', t('More for {0}', this.title), () => this.#more(prompt), 'card-more');
    const scopes = accept?.variants;
    const split =
      scopes
      && menuButton('down', t('How long it holds'), () =>
        scopes.map(({ text, testid, content }) => ({
          text,
          testid,
          act: () => this.#accept({ ...accept, content }, { detail: 1 }),
        })),
      );
    if (split) {
      split.button.classList.add('primary');
      split.button.dataset['testid'] = 'scopes';
    }
    return h(
      'article',
      {
        'class': `card asks ${dangerous ? 'dangerous' : ''}`,
        'aria-labelledby': `${id}-title`,
        'dataset': { testid: `prompt-${this.#promptId}` },
      },
      h('div', { class: 'card-head' }, this.heading, menu.element),
      h('p', { class: 'card-from quiet' }, h('span', { text: from ?? this.#from(prompt) }), this.#deadline),
      h('div', { class: 'card-body' }, ...body),
      this.#problem,
      this.#status,
      h(
        'div',
        { class: 'card-buttons' },
        this.#main && split ? h('span', { class: 'split' }, this.#main, split.element) : this.#main,
        this.#button(
          decline,
          '',
          once(() => this.#decline()),
          'decline',
        ),
        ...(choices ?? []),
      ),
    );
  }

  /** Returns who asks, for which call, and for whom that call was made. */
  #from({ parentRequestId = '', requestId = '', ...prompt }: Prompt) {
    const call = this.#actions.requestOf?.(parentRequestId || requestId);
    const caller = shortName(call?.caller);
    // The other questions come from the hub, before it makes a call or starts a server.
    if (!ofServer(prompt)) return caller && t('{0} asks', caller);
    const name = shortName(call?.title || call?.tool || call?.subject || parentRequestId);
    const asks = parentRequestId ? t('{0} asks, for {1}', this.#server, name) : t('{0} asks', this.#server);
    return caller ? t('{0}, called by {1}', asks, caller) : asks;
  }

  /** Returns the rest of what can be done with the question. */
  #more(prompt: Prompt): MenuItem[] {
    if (this.#state.phase === 'sending') return [];
    const items: MenuItem[] = [...(this.#kind.more ?? [])];
    // Only a server's own questions can be silenced.
    if (ofServer(prompt))
      items.push({
        text: t('Decline and silence {0}', this.#server),
        testid: 'silence',
        act: () => this.#send({ decline: {}, muteServer: true }),
      });
    items.push({ text: t('Dismiss'), testid: 'dismiss', act: () => this.#send({ dismiss: {} }) });
    return items;
  }

  #button(text: string, className: string, onclick: (event: MouseEvent) => void, testid: string) {
    const made = h('button', { class: className, text, dataset: { testid }, onclick });
    this.#buttons.push(made);
    return made;
  }

  #acceptButton(text: string, onclick: (event: MouseEvent) => void, testid = 'accept') {
    const made = this.#button(text, 'primary', onclick, testid);
    this.#guard.watch(made);
    return made;
  }

  #accept(how: NonNullable<Kind['accept']>, { detail: clicks }: { detail: number }) {
    if (this.#state.phase !== 'open' || this.#guard.ignores(clicks > 0)) return;
    const content = how.content();
    if (!content) return;
    if (how.opens) this.#acceptAndOpen(how.opens, content);
    else this.#send({ accept: content }, how.runs);
  }

  /** A browser opens a tab only during a click. The tab gets its address when the hub has accepted the answer. */
  #acceptAndOpen(address: string, content: Accept) {
    const tab = window.open('about:blank', '_blank');
    if (!tab) {
      setText(this.#problem, t('The browser opened no tab. Allow this page to open tabs, and try again.'));
      return;
    }
    tab.opener = null;
    this.#send({ accept: content }, false, (ok) => (ok ? tab.location.replace(address) : tab.close()));
  }

  #decline() {
    const reason = this.#kind.reason?.();
    this.#send({ decline: reason ? { reason } : {} });
  }

  #send(answer: Answer, runs: boolean = false, settled: (ok: boolean) => void = () => {}) {
    const action = answer.accept ? 'accept' : answer.decline ? 'decline' : 'dismiss';
    const next = transition(this.#state, { answer: action, runs });
    if (next === this.#state) {
      settled(false);
      return;
    }
    this.#state = next;
    setText(this.#problem, '');
    setText(this.#status, runs ? t('Running the model…') : t('Sending…'));
    this.#enable();
    void this.#actions.answer({ promptId: this.#promptId, ...answer }).then(({ error }) => {
      settled(!error);
      if (error && this.#state.answers === next.answers) this.#refused(error, next.answers);
    });
  }

  #refused(error: HubError, answers: number) {
    setText(this.#status, '');
    if (error.reason === 'PROMPT_CLOSED') {
      // The question had ended in another way before the answer came. Its end was told, unless it looked like the one
      // that was wanted here.
      if (this.#closing && answeredHere(this.#closing, this.#state)) this.#note(this.#closing, false);
      else if (!this.#closing)
        setText(this.#problem, t('This question was closed already; the answer changed nothing.'));
      return;
    }
    this.#state = transition(this.#state, { refused: answers });
    this.#enable();
    setText(this.#problem, visible(error.message) || t('The answer could not be sent.'));
  }

  #enable() {
    const { phase } = this.#state;
    const busy = phase === 'sending' || phase === 'running';
    const focused = document.activeElement;
    for (const button of this.#buttons) button.disabled = busy && (phase === 'sending' || this.#guard.watches(button));
    // A button that is disabled loses the focus, so the heading takes it.
    if (focused instanceof HTMLButtonElement && focused.disabled && this.#buttons.includes(focused)) {
      this.#left = focused;
      this.heading.focus();
    } else if (!busy && this.#left && focused === this.heading) this.#left.focus();
    this.element.setAttribute('aria-busy', String(busy));
    this.element.dataset['phase'] = phase;
  }

  #key(event: KeyboardEvent) {
    const { target } = event;
    if (event.key === 'Enter' && target instanceof HTMLElement && target.matches('.deny-reason') && !event.isComposing)
      this.#decline();
    if (event.key !== 'Escape' || event.isComposing || event.defaultPrevented) {
      if (this.#escaped) setText(this.#status, '');
      this.#escaped = false;
      return;
    }
    event.stopPropagation();
    // A key that is held down counts once: the repeats would go to the next question, which has the focus by then.
    if (event.repeat) return;
    if (this.#kind.edited?.() && !this.#escaped) {
      this.#escaped = true;
      setText(this.#status, t('Press Escape again to dismiss.'));
    } else this.#send({ dismiss: {} });
  }

  #tick(deadline: string | undefined) {
    const closes = closesIn(deadline, this.#actions.now());
    setText(this.#deadline, closes && ` · ${closes}`);
    const left = Date.parse(deadline ?? '') - this.#actions.now();
    if (!(left > 0)) return;
    const pause = Math.min(left > 301_000 ? left - 300_000 : 1000, 2 ** 31 - 1);
    this.#clock = setTimeout(() => this.#tick(deadline), pause);
  }
}

/** Moves the focus to the next question, or else to what runs or to the title of the page. */
export function passFocus(held: boolean) {
  if (!held || !noneFocused()) return;
  const next = ['article.card h3', '.call', 'h1'].map((one) => document.querySelector(one)).find(Boolean);
  if (next instanceof HTMLElement) next.focus();
}
