// Reads the arguments and the results of requests from the hub, in pieces.

import { visible } from '../words/text.js';
import { t } from '../words/t.js';
import type { Page } from '../page.js';
import type { RequestPartJson as RequestPart } from '../../../host/src/gen/mcphub/v1/hub_pb.js';
import type { Ended } from '../hub/ended.js';

/** Maximum size of a part that is shown on the page, in bytes. The editor shows larger ones. */
export const mostRead = 4 << 20;
/** Size of a piece, in bytes. It costs the page and the host a few milliseconds. */
const pieceBytes = 512 << 10;

/** The error of a part that could not be read. Its message is in words for people. */
export class Unread extends Error {
  /** Bytes of the whole part, if it is too long. */
  readonly size: number;

  constructor(message: string, size: number = 0) {
    super(message);
    this.size = size;
  }
}

/**
 * Reads a part in pieces. Throws an Unread.
 * @param most bytes; a longer part is not read
 * @returns the pieces
 */
export async function readPieces(
  call: Page['call'],
  requestId: string,
  part: RequestPart,
  most: number = mostRead,
): Promise<string[]> {
  const pieces: string[] = [];
  for (let offset = 0; ;) {
    const { error, response } = await call('ReadRequest', {
      requestId,
      part,
      offset: String(offset),
      limit: pieceBytes,
    });
    if (error || !response) throw new Unread(visible(error?.message) || t('The hub did not report it.'));
    const size = Number(response.size ?? 0);
    if (size > most) throw new Unread('', size);
    pieces.push(response.text ?? '');
    const next = Number(response.nextOffset ?? 0);
    if (next <= offset) return pieces;
    offset = next;
  }
}

/** Reads a part as one text. Throws an Unread. */
export const readPart = async (call: Page['call'], requestId: string, part: RequestPart, most?: number) =>
  (await readPieces(call, requestId, part, most)).join('');

/**
 * Returns the result of an ended request: from the history, or from the hub if that still keeps it. Throws an Unread.
 * @param most bytes
 */
export async function readResult(page: Pick<Page, 'call'>, entry: Ended, most?: number) {
  const here = entry.finished?.resultJson ?? '';
  if (here !== '') return here;
  if (entry.earlier) throw new Unread(t('The hub that kept it has ended.'));
  return readPart(page.call, entry.requestId, 'REQUEST_PART_RESULT', most);
}

/** Reports whether a request has a result. */
export const hasResult = (entry: Ended) => Number(entry.finished?.resultSizeBytes ?? 0) > 0;

/** Reports whether the hub may still have the arguments and the result of a request. */
export const isKept = ({ earlier, about }: Ended) =>
  !earlier
  && about.direction !== 'REQUEST_DIRECTION_INCOMING'
  && ['tools/call', 'resources/read', 'prompts/get'].includes(about.method ?? '');
