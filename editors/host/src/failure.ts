// The one error type of this package. Only this file knows how a gRPC status, the reply of a window and a broken
// connection become a HubError.
import { fromBinary } from '@bufbuild/protobuf';
import { anyUnpack } from '@bufbuild/protobuf/wkt';
import { ErrorInfoSchema, StatusSchema } from './gen/google/rpc/status_pb.js';
import type { HubError as HubErrorMessage } from './gen/mcphub/v1/request_pb.js';
import type { McpHubError, McpServerError } from './api/mcphub.js';

// The index is the number of the gRPC code.
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

/** A gRPC code in lower snake case, or `mcp_error` for an error that a server answered. */
export type HubErrorCode = Exclude<(typeof codes)[number], 'ok'> | 'mcp_error';

/** The domain of the ErrorInfo details that the hub itself adds. */
const domain = 'mcphub';

/**
 * The error type of every failure of this package. `reason` is the hub's reason if it sent one (`NO_APPROVER`,
 * `PROMPT_CLOSED`, see the contract), or a reason of this package: `BINARY_NOT_FOUND`, `BINARY_NOT_INSTALLED`,
 * `BINARY_NOT_STARTED`, `DIRECTORY_NOT_FOUND`, `HANDSHAKE_TIMEOUT`, `HANDSHAKE_JUNK`, `PROTOCOL_VERSION`,
 * `HUB_TOO_OLD`, `TLS`, `KEEP_DIRECTORY`, `HUB_DIED`, `HUB_NOT_READY`, `STOPPED`, `CONNECTION_LOST`, `PROTOCOL_ERROR`,
 * `RESULT_TOO_LARGE`; of a window `WINDOW_TOO_SLOW`; of the API `INVALID_REQUEST`; of a relay `MALFORMED_MESSAGE`,
 * `ANSWER_NOT_SENT`, `CONFIG_WRITES_OFF`, `CONSENT_NOT_SHOWN`, `BUNDLE_NOT_CHOSEN` and `CANCELLED`. It is '' if the
 * gRPC status has only a code.
 */
export class HubError extends Error implements McpHubError {
  override readonly name = 'HubError';
  readonly code: HubErrorCode;
  readonly reason: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly mcpError: McpServerError | undefined;

  constructor(
    code: HubErrorCode,
    reason: string,
    message: string,
    more: { metadata?: Readonly<Record<string, string>>; cause?: unknown; mcpError?: McpServerError } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.code = code;
    this.reason = reason;
    this.metadata = more.metadata ?? {};
    this.mcpError = more.mcpError;
  }
}

/**
 * Returns the error for a status that is not OK. A status without details of the hub comes from grpc-js, which puts its
 * reasons into the text.
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

// The texts of grpc-js for answers that are not valid gRPC.
const libraryWords = new Set(['No message received', 'No status information received']);

/** Returns the error for the reply of a window, in which the code is in capitals. */
export function failureOfReply(error: HubErrorMessage): HubError {
  const lower = error.code.toLowerCase();
  const code = codes.find((c): c is Exclude<typeof c, 'ok'> => c === lower && c !== 'ok') ?? 'unknown';
  return new HubError(code, error.reason, error.message);
}

/** Does the reverse, for a page: returns the error as the hub would have sent it in a reply. */
export function replyOfFailure(error: HubError): { code: string; reason: string; message: string } {
  return { code: error.code.toUpperCase(), reason: error.reason, message: error.message };
}

/** Returns the error itself if it is a HubError, else a HubError (internal) with its text. */
export function asHubError(error: unknown): HubError {
  if (error instanceof HubError) {
    return error;
  }
  return new HubError('internal', '', error instanceof Error ? error.message : String(error), { cause: error });
}

/**
 * Returns the error for a connection that broke or could not be made. It does not show whether the hub has ended: only
 * the exit of its process does.
 */
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

// Matches Node's texts for a certificate that does not fit, and for a refusal by the other side.
const tlsTrouble = /certificate|SSL routines|SSL alert|EPROTO|ERR_(?:SSL|TLS|OSSL)|secure TLS connection/i;

/** Returns the error for a message that is not a valid protobuf message of its type. */
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

/** Returns the reason of an abort as the text that a server gets; '' if no reason was given. */
export function reasonOfAbort({ reason }: AbortSignal): string {
  const why: unknown = reason;
  return typeof why === 'string' ? why : why instanceof Error && why.name !== 'AbortError' ? why.message : '';
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
    // Without readable details the error still has its code and message.
  }
  return undefined;
}
