// The start of the page. Messages of the hub change the state, changes of the state are painted, clicks send messages.

import { announce } from './elements/announce.js';
import { viewsSection } from './apps/views.js';
import { bannerPainter } from './connection.js';
import { translateFrame } from './frame.js';
import { iconButton } from './elements/icon.js';
import { keepFocus } from './elements/keepfocus.js';
import { pageKeys } from './elements/keys.js';
import { historySection } from './history/history.js';
import { leadFocusIn } from './now/entry.js';
import { goToRequest } from './now/callcard.js';
import { nowSection } from './now/now.js';
import { openedPane } from './opened/opened.js';
import { byId } from './page.js';
import { painter, secondClock, sectionsPainter } from './paint.js';
import { serversSection } from './servers/servers.js';
import { createState, subscriptionSet, takeChanged, transition } from './hub/state.js';
import { openStream } from './hub/stream.js';
import { loadTheme, readSurface } from './surface.js';
import { t } from './words/t.js';
import type { OpenJson } from '../../host/src/gen/mcphub/v1/editor_pb.js';
import type { Page, Section } from './page.js';

const surface = readSurface();
if (surface.kind !== 'vscode') await loadTheme();

const { shows = 'all' } = surface;
if (shows !== 'all') document.documentElement.dataset['shows'] = shows;

const state = createState();
const stream = openStream(surface, {
  message: (message) => {
    if (transition(state, message)) requestPaint();
  },
});

const pane = openedPane(shows === 'opened', () => {
  state.changed.opened = true;
  requestPaint();
});
const page: Page = {
  surface,
  state,
  announce,
  call: stream.call,
  ask: stream.ask,
  run,
  drafts: stream,
  subscribed,
  reveal,
  offerView: (call) => views.offer(call),
  open: pane.open,
  close: pane.close,
  get openKey() {
    return pane.key;
  },
  openThing: (thing) => (shows === 'now' ? elsewhere(thing) : servers.open(thing)),
  openEnded: (requestId) => (shows === 'now' ? elsewhere({ requestId }) : history.open(requestId)),
  goTo: (requestId) => goToRequest(page, requestId),
  askHere: (requestId, place) => now.askHere(requestId, place),
};
/** Opens a thing in a place of the host: here is only what is live. */
function elsewhere(thing: OpenJson) {
  run('mcphub.open', [thing]);
}
function run(command: string, args: readonly unknown[]) {
  if (surface.commands?.includes(command)) stream.run(command, args);
}
const views = viewsSection(page);
function subscribed(server: string, uri: string, on: boolean) {
  subscriptionSet(state, server, uri, on);
  requestPaint();
}
function reveal(promptId: string) {
  if (shows === 'opened') run('mcphub.showQuestion', [promptId]); // where what is live is shown
  transition(state, { revealPrompt: { promptId } });
  requestPaint();
}

translateFrame(shows === 'opened');
keepFocus();
if (surface.kind === 'vscode') leadFocusIn();
const keys = pageKeys({ editor: surface.kind === 'vscode', toQuestion: () => reveal('') });
byId('help').append(iconButton('help', t('Keys'), { dataset: { testid: 'show-keys' }, onclick: keys.show }));

const history = historySection(page);
const now = nowSection(page, views);
const paintBanner = bannerPainter(page);
const servers = serversSection(page);
const sections: Section[] = [
  { paint: (changed) => changed.connection && paintBanner() },
  now,
  servers,
  history, // painted last: it forgets what has just ended
];
/** Opens what the host has asked for. */
function openWanted() {
  if (!state.toOpen) return;
  const { server = '', requestId, ...what } = state.toOpen;
  state.toOpen = undefined;
  if (requestId === undefined) page.openThing({ server, ...what });
  else page.openEnded(requestId);
}
const paintSections = sectionsPainter(sections, reportError);
const clock = secondClock(() => sections.forEach((section) => section.tick?.()));
const requestPaint = painter(() => {
  paintSections(takeChanged(state));
  openWanted();
  clock(sections.some((section) => section.ticks?.()));
});
requestPaint();
