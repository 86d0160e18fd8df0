// What an ended request was given and has brought, read from the hub piece by piece.

import { visible } from '../words/text.js';
import { t } from '../words/t.js';

/** @typedef {import('../page.js').Page} Page */
/** @typedef {import('../../../host/src/gen/mcphub/v1/hub_pb.js').RequestPartJson} RequestPart */

/** Most characters that are shown on the page: more is for the editor. */
export const mostRead = 4 << 20;
/** Bytes of a piece: what takes the page, and the host between, a few milliseconds. */
const pieceBytes = 512 << 10;

/** What could not be read, in words for people. */
export class Unread extends Error {
  /** @param {string} message @param {number} [size] bytes of the whole, when it is only too long */
  constructor(message, size = 0) {
    super(message);
    this.size = size;
  }
}

/**
 * Reads a part in pieces. Throws an Unread.
 * @param {Page['ask']} ask
 * @param {string} requestId
 * @param {RequestPart} part
 * @param {number} [most] bytes; what is longer is not read
 * @returns {Promise<string[]>} the pieces
 */
export async function readPieces(ask, requestId, part, most = mostRead) {
  /** @type {string[]} */
  const pieces = [];
  for (let offset = 0; ;) {
    const { error, readRequest } = await ask({
      readRequest: { requestId, part, offset: String(offset), limit: pieceBytes },
    });
    if (error || !readRequest) throw new Unread(visible(error?.message) || t('The hub has not said it.'));
    const size = Number(readRequest.size ?? 0);
    if (size > most) throw new Unread('', size);
    pieces.push(readRequest.text ?? '');
    const next = Number(readRequest.nextOffset ?? 0);
    if (next <= offset) return pieces;
    offset = next;
  }
}

/**
 * The same as one text.
 * @param {Page['ask']} ask @param {string} requestId @param {RequestPart} part @param {number} [most]
 */
export const readPart = async (ask, requestId, part, most) => (await readPieces(ask, requestId, part, most)).join('');

/**
 * The result of an ended request: what the history has, or what the hub still keeps.
 * @param {Page} page
 * @param {import('../hub/ended.js').Ended} entry
 * @param {number} [most] bytes
 */
export async function readResult(page, entry, most) {
  const here = entry.finished?.resultJson ?? '';
  if (here !== '') return here;
  if (entry.earlier || entry.away) throw new Unread(t('It was of a hub that has ended, and is no longer kept.'));
  return readPart(page.ask, entry.requestId, 'REQUEST_PART_RESULT', most);
}

/** Whether it has a result. @param {import('../hub/ended.js').Ended} entry */
export const hasResult = (entry) => Number(entry.finished?.resultSizeBytes ?? 0) > 0;
