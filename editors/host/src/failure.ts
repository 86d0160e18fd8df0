// What can go wrong, as one error type. This file alone knows how a gRPC status, the reply of a window and a broken
// connection become a HubError.
import { fromBinary } from '@bufbuild/protobuf';
import { anyUnpack } from '@bufbuild/protobuf/wkt';
import { ErrorInfoSchema, StatusSchema } from './gen/google/rpc/status_pb.js';
import type { HubError as HubErrorMessage } from './gen/mcphub/v1/request_pb.js';

// Index = number of the gRPC code.
const codes = [
  'ok',
  'cancelled',
  'unknown',
  'invalid_argument',
  'deadline_exceeded',
  'not_found',
  'already_exists',
  'permission_denied',
  'resource_exhausted',
  'failed_precondition',
  'aborted',
  'out_of_range',
  'unimplemented',
  'internal',
  'unavailable',
  'data_loss',
  'unauthenticated',
] as const;

/** A gRPC code in lower snake case. */
export type HubErrorCode = Exclude<(typeof codes)[number], 'ok'>;

/** Marks the ErrorInfo details that are the hub's own. */
const domain = 'mcphub';

/**
 * Every failure of this package. `reason` is the hub's own where it gave one (`NO_APPROVER`, `PROMPT_CLOSED`, see the
 * contract), or one of this package: `BINARY_NOT_FOUND`, `BINARY_NOT_INSTALLED`, `BINARY_NOT_STARTED`,
 * `HANDSHAKE_TIMEOUT`, `HANDSHAKE_JUNK`, `PROTOCOL_VERSION`, `HUB_TOO_OLD`, `TLS`, `KEEP_DIRECTORY`,
 * `HUB_DIED`, `HUB_NOT_READY`, `STOPPED`, `CONNECTION_LOST`,
 * `PROTOCOL_ERROR`, `RESULT_TOO_LARGE`, and of a relay `MALFORMED_MESSAGE`, `ANSWER_NOT_SENT`, `CONFIG_WRITES_OFF`
 * and `BUNDLE_NOT_CHOSEN`;
 * '' when gRPC says nothing but the code.
 */
export class HubError extends Error {
  override readonly name = 'HubError';
  readonly code: HubErrorCode;
  readonly reason: string;
  readonly metadata: Readonly<Record<string, string>>;

  constructor(
    code: HubErrorCode,
    reason: string,
    message: string,
    more: { metadata?: Readonly<Record<string, string>>; cause?: unknown } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.code = code;
    this.reason = reason;
    this.metadata = more.metadata ?? {};
  }
}

/**
 * A status that is not OK. What comes without the hub's own details is said by grpc-js, which puts its reasons into the
 * text.
 */
export function failureOfStatus(
  number: number,
  text: string,
  details: Uint8Array | undefined,
  timeoutMs?: number,
): HubError {
  const name = codes[number] ?? 'unknown';
  const code: HubErrorCode = name === 'ok' ? 'unknown' : name;
  const info = errorInfo(details);
  if (info !== undefined) {
    return new HubError(code, info.reason, text, { metadata: info.metadata });
  }
  const http = /^Received HTTP status code (\d+)/.exec(text)?.[1];
  if (http !== undefined) {
    return new HubError(
      code,
      'PROTOCOL_ERROR',
      `The hub answered with HTTP status ${http} where gRPC was due: check that the binary is mcphub.`,
    );
  }
  if (code === 'unavailable') {
    return failureOfConnection(text);
  }
  if (code === 'deadline_exceeded' && timeoutMs !== undefined) {
    return new HubError(code, '', `The hub did not answer within ${timeoutMs} ms.`);
  }
  if (code === 'resource_exhausted' && text.startsWith('Received message larger than max')) {
    return new HubError(code, 'RESULT_TOO_LARGE', `The hub sent a message that is too long for this host (${text}).`);
  }
  const wire = text.startsWith('Received RST_STREAM') || libraryWords.has(text);
  return new HubError(
    wire ? 'internal' : code,
    wire ? 'PROTOCOL_ERROR' : '',
    text === '' ? `The hub answered ${code} and said nothing else.` : text,
  );
}

// Of answers that are none of gRPC's.
const libraryWords = new Set(['No message received', 'No status information received']);

/** What the reply of a window says, in capitals there. */
export function failureOfReply(error: HubErrorMessage): HubError {
  const lower = error.code.toLowerCase();
  const code = codes.find((c): c is HubErrorCode => c === lower && c !== 'ok') ?? 'unknown';
  return new HubError(code, error.reason, error.message);
}

/** The reverse, for a page: the message that a hub would have sent. */
export function replyOfFailure(error: HubError): { code: string; reason: string; message: string } {
  return { code: error.code.toUpperCase(), reason: error.reason, message: error.message };
}

/** An exception of the kind that is no HubError yet. */
export function asHubError(error: unknown): HubError {
  if (error instanceof HubError) {
    return error;
  }
  return new HubError('internal', '', error instanceof Error ? error.message : String(error), { cause: error });
}

/** The connection broke, or could not be made. Whether the hub is gone is not known from that: its process tells. */
export function failureOfConnection(why: string, cause?: unknown): HubError {
  if (tlsTrouble.test(why)) {
    return new HubError(
      'unavailable',
      'TLS',
      `The hub and this host do not trust each other (${why}): start the hub anew.`,
      { cause },
    );
  }
  return new HubError(
    'unavailable',
    'CONNECTION_LOST',
    `The connection to the hub broke (${why}): what was under way may or may not have been done.`,
    { cause },
  );
}

// A certificate that does not fit, as Node tells it, and a refusal by the other side.
const tlsTrouble = /certificate|SSL routines|SSL alert|EPROTO|ERR_(?:SSL|TLS|OSSL)|secure TLS connection/i;

/** A message that is no protobuf of its type. */
export function failureOfDecoding(cause: unknown): HubError {
  return cause instanceof HubError
    ? cause
    : new HubError(
        'internal',
        'PROTOCOL_ERROR',
        `The hub sent a message that this host cannot read (${asHubError(cause).message}).`,
        { cause },
      );
}

export function failureOfAbort(signal: AbortSignal): HubError {
  const why: unknown = signal.reason;
  return new HubError(
    'cancelled',
    '',
    `The host cancelled the call${why instanceof Error && why.name !== 'AbortError' ? ` (${why.message})` : ''}.`,
    { cause: why },
  );
}

export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

function errorInfo(details: Uint8Array | undefined): { reason: string; metadata: Record<string, string> } | undefined {
  if (details === undefined) {
    return undefined;
  }
  try {
    for (const detail of fromBinary(StatusSchema, details).details) {
      const info = anyUnpack(detail, ErrorInfoSchema);
      if (info?.domain === domain) {
        return { reason: info.reason, metadata: info.metadata };
      }
    }
  } catch {
    // Details that nobody can read take nothing away from code and message.
  }
  return undefined;
}
