// Pictures and sounds of a result. They come only from the data in the result, never from an address.

import { h, setText } from '../elements/dom.js';
import { bytes, visible } from '../words/text.js';
import { bytesOf, mostPixels, pictureInfo } from './pictureinfo.js';
import { t } from '../words/t.js';
import type { PictureInfo } from './pictureinfo.js';

const sounds = /^audio\/(?:mpeg|mp3|wav|wave|x-wav|vnd\.wave|ogg|opus|webm|mp4|x-m4a|aac|flac|x-flac)$/;
const scales = [0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8];

/** Returns a note in the place of content that cannot be shown. */
export const note = (text: string) => h('p', { class: 'quiet', text });

/** @param mimeType as the server names it */
export function mediaView(mimeType: string, base64: string) {
  const type = mimeType.split(';')[0]?.trim().toLowerCase() ?? '';
  const size = bytes(Math.floor((base64.length * 3) / 4) - (/=*$/.exec(base64.slice(-2))?.[0].length ?? 0));
  const what = `${visible(type.slice(0, 100)) || t('Data without a type')}, ${size}`;
  if (!type.startsWith('image/') && !type.startsWith('audio/')) return note(what);
  const data = bytesOf(base64);
  if (!data) return note(t('{0}. Its data is not base64.', what));
  if (type.startsWith('audio/'))
    return sounds.test(type) ? soundView(type, base64, what) : note(t('{0}. It cannot be played here.', what));
  const info = pictureInfo(data);
  if (!info) return note(t('{0}. Only PNG, JPEG, GIF and WebP pictures are shown.', what));
  const measure = `${info.width} × ${info.height}`;
  if (info.width * info.height > mostPixels)
    return note(t('{0}, {1}. It is too large to be shown here.', what, measure));
  const lie =
    info.type !== type && type !== 'image/jpg' ? t('The server calls it {0}.', visible(type.slice(0, 100))) : '';
  return pictureView(`data:${info.type};base64,${base64}`, info, `${info.type}, ${measure}, ${size}.`, lie);
}

function soundView(type: string, base64: string, what: string) {
  const player = h('audio', { 'controls': true, 'preload': 'metadata', 'aria-label': t('Sound, {0}', what) });
  const problem = note(what);
  player.addEventListener('error', () => setText(problem, t('{0}. The browser cannot play it.', what)));
  player.src = `data:${type};base64,${base64}`;
  return h('figure', { class: 'media', dataset: { testid: 'sound' } }, player, problem);
}

/** @param lie what the server said of it that is not so */
function pictureView(source: string, info: PictureInfo, what: string, lie: string) {
  const picture = h('img', { src: source, alt: t('Picture in the result, {0}', what), draggable: 'false' });
  const frame = h(
    'div',
    { 'class': 'picture', 'tabindex': 0, 'role': 'group', 'aria-label': t('Picture. Plus and minus zoom, 0 fits it.') },
    picture,
  );
  const said = h('span', { class: 'muted', role: 'status' });
  /** undefined: the picture fits the room, and is not enlarged. */
  let scale: number | undefined;

  function zoom(next: number | undefined) {
    scale = next;
    if (next === undefined) picture.style.removeProperty('width');
    else picture.style.setProperty('width', `${Math.max(1, Math.round(info.width * next))}px`);
    picture.classList.toggle('zoomed', next !== undefined);
    picture.classList.toggle('pixels', (next ?? 0) > 2);
    setText(said, next === undefined ? t('Fit') : `${Math.round(next * 100)} %`);
  }

  function step(by: 1 | -1) {
    const now = scale ?? picture.clientWidth / Math.max(1, info.width);
    const next = by > 0 ? scales.find((one) => one > now + 0.01) : scales.findLast((one) => one < now - 0.01);
    zoom(next ?? now);
  }

  const button = (label: string, text: string, act: () => void) =>
    h('button', { 'class': 'icon', 'aria-label': label, 'title': label, text, 'onclick': act });
  frame.addEventListener('keydown', (event) => {
    const act = {
      '+': () => step(1),
      '=': () => step(1),
      '-': () => step(-1),
      '0': () => zoom(undefined),
      '1': () => zoom(1),
    }[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  });
  frame.addEventListener('dblclick', () => zoom(scale === undefined ? 1 : undefined));
  zoom(undefined);
  return h(
    'figure',
    { class: 'media', title: what, dataset: { testid: 'picture' } },
    h(
      'div',
      { 'class': 'tools acts', 'role': 'group', 'aria-label': t('Zoom') },
      button(t('Zoom out'), '−', () => step(-1)),
      button(t('Zoom in'), '+', () => step(1)),
      button(t('1:1, actual size'), '1:1', () => zoom(1)),
      button(t('Fit'), '⤢', () => zoom(undefined)),
      said,
    ),
    frame,
    lie !== '' && h('figcaption', { class: 'quiet', text: `${what} ${lie}` }),
  );
}
