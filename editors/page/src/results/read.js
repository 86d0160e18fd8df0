// Reads the arguments and the results of requests from the hub, in pieces.

import { visible } from '../words/text.js';
import { t } from '../words/t.js';

/** @typedef {import('../page.js').Page} Page */
/** @typedef {import('../../../host/src/gen/mcphub/v1/hub_pb.js').RequestPartJson} RequestPart */

/** Maximum size of a part that is shown on the page, in bytes. The editor shows larger ones. */
export const mostRead = 4 << 20;
/** Size of a piece, in bytes. It costs the page and the host a few milliseconds. */
const pieceBytes = 512 << 10;

/** The error of a part that could not be read. Its message is in words for people. */
export class Unread extends Error {
  /** @param {string} message @param {number} [size] of the whole part in bytes, if it is too long */
  constructor(message, size = 0) {
    super(message);
    this.size = size;
  }
}

/**
 * Reads a part in pieces. Throws an Unread.
 * @param {Page['call']} call
 * @param {string} requestId
 * @param {RequestPart} part
 * @param {number} [most] bytes; a longer part is not read
 * @returns {Promise<string[]>} the pieces
 */
export async function readPieces(call, requestId, part, most = mostRead) {
  /** @type {string[]} */
  const pieces = [];
  for (let offset = 0; ;) {
    const { error, response } = await call('ReadRequest', {
      requestId,
      part,
      offset: String(offset),
      limit: pieceBytes,
    });
    if (error || !response) throw new Unread(visible(error?.message) || t('The hub has not said it.'));
    const size = Number(response.size ?? 0);
    if (size > most) throw new Unread('', size);
    pieces.push(response.text ?? '');
    const next = Number(response.nextOffset ?? 0);
    if (next <= offset) return pieces;
    offset = next;
  }
}

/**
 * Reads a part as one text. Throws an Unread.
 * @param {Page['call']} call @param {string} requestId @param {RequestPart} part @param {number} [most]
 */
export const readPart = async (call, requestId, part, most) => (await readPieces(call, requestId, part, most)).join('');

/**
 * Returns the result of an ended request: from the history, or from the hub if that still keeps it. Throws an Unread.
 * @param {Pick<Page, 'call'>} page
 * @param {import('../hub/ended.js').Ended} entry
 * @param {number} [most] bytes
 */
export async function readResult(page, entry, most) {
  const here = entry.finished?.resultJson ?? '';
  if (here !== '') return here;
  if (entry.earlier) throw new Unread(t('It was of a hub that has ended, and is no longer kept.'));
  return readPart(page.call, entry.requestId, 'REQUEST_PART_RESULT', most);
}

/** Reports whether a request has a result. @param {import('../hub/ended.js').Ended} entry */
export const hasResult = (entry) => Number(entry.finished?.resultSizeBytes ?? 0) > 0;
