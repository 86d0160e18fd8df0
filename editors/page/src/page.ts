// What every section of the page gets, and the interface that a section implements.

import type { RequestJson } from '../../host/src/gen/mcphub/v1/request_pb.js';
import type { OpenJson, ReplyJson } from '../../host/src/gen/mcphub/v1/editor_pb.js';
import type { Surface } from './surface.js';
import type { Changed, State } from './hub/state.js';
import type { Stream } from './hub/stream.js';
import type { announce } from './elements/announce.js';
import type { Adding } from './adding/proposal.js';

/** What every reply has. */
export type Reply = Pick<ReplyJson, 'error' | 'errorPlace'>;

/** What a host may ask the page to open: a server, or a part of it. */
export type Thing = Omit<OpenJson, 'server' | 'requestId'> & { server: string };

export interface Opening {
  /** no two things have the same; see keyOf */
  key: string;
  title: string;
  /** what is read out in place of the title */
  label?: string;
  /** stand beside the title */
  acts?: readonly Node[];
  /** is kept by its owner: a form that is half filled in survives when it is closed, and opened again */
  content: HTMLElement;
  /** leads to the thing that this one is a part of; without it, Back leads to the lists */
  up?: { title: string; open: () => void };
  /** is called when something else is opened in its place, or nothing */
  closed?: () => void;
}

export interface Pane {
  readonly key: string;
  /** @param focus takes the focus; by default the title */
  open: (thing: Opening, focus?: () => void) => void;
  /** closes what is open, or only the thing with this key. The focus goes back to where it came from. */
  close: (key?: string) => void;
}

export interface Page {
  surface: Surface;
  state: State;
  call: Stream['call'];
  ask: Stream['ask'];
  /** runs a command of the host, if it has that, without a click on a link */
  run: Stream['run'];
  drafts: Pick<Stream, 'draft' | 'keepDraft'>;
  announce: typeof announce;
  /** records the hub's reply to a message that subscribes to a resource or unsubscribes from it */
  subscribed: (server: string, uri: string, on: boolean) => void;
  /** brings the card of a question into view */
  reveal: (promptId: string) => void;
  offerView: Views['offer'];
  /** shows one thing in full, in place of what was open before */
  open: Pane['open'];
  close: Pane['close'];
  /** the key of what is open, or ''. When it changes, changed.opened is painted. */
  readonly openKey: string;
  /** moves the focus to the question that a request waits for, or else to its card */
  goTo: (requestId: string) => void;
  /** shows the questions of a request in this place, as long as the place can be seen; without a place in Now */
  askHere: (requestId: string, place?: HTMLElement) => void;
  /** opens a server or a part of it, as soon as the page knows it */
  openThing: (thing: Thing) => void;
  /** opens the details of the latest ended request with this id */
  openEnded: (requestId: string) => void;
  /** only where the host lets the page change config files */
  adding?: Adding;
}

/** A tool call whose tool has a view (MCP Apps). */
export type ViewOf = {
  requestId: string;
  server: string;
  tool: string;
  title: string;
  uri: string;
  definitionJson: string;
};

export interface Views {
  /** returns a button that opens the view of a call */
  offer: (call: Pick<RequestJson, 'requestId' | 'server' | 'tool' | 'method'>) => HTMLElement;
}

export interface Section {
  paint: (changed: Changed) => void;
  /** reports whether the section shows a running time */
  ticks?: () => boolean;
  /** is called every second while ticks of some section reports true */
  tick?: () => void;
}

/**
 * Shows a count after the heading of a section. 0 shows nothing.
 * @param section id of the section
 */
export function setCount(section: string, count: number) {
  const place = document.querySelector(`#${section}-title .count`);
  if (place && place.textContent !== String(count || '')) place.textContent = String(count || '');
}

/** Returns the element of page.html with this id. Throws without one. */
export function byId(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (!element) throw new Error(`page.html has no element with the id ${id}`);
  return element;
}
