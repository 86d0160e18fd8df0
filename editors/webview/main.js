// The page: messages change the state, the state is painted, clicks become messages.

import { announce } from './announce.js';
import { bannerPainter } from './connection.js';
import { painter, secondClock } from './paint.js';
import { createState, takeChanged, transition } from './state.js';
import { openStream } from './stream.js';
import { loadTheme, readSurface } from './surface.js';

const surface = readSurface();
if (surface.kind === 'web') await loadTheme();

const state = createState();
const stream = openStream(surface, {
  message: (message) => {
    transition(state, message);
    requestPaint();
  },
});

/** @type {import('./page.js').Page} */
const page = { surface, state, announce, ask: stream.ask };
const paintBanner = bannerPainter(page);
/** @type {import('./page.js').Section[]} */
const sections = [];
const clock = secondClock(() => sections.forEach((section) => section.tick?.()));
const requestPaint = painter(() => {
  const changed = takeChanged(state);
  if (changed.connection) paintBanner();
  for (const section of sections) section.paint(changed);
  clock(sections.some((section) => section.ticks?.()));
});
requestPaint();
