// What can go wrong, as one error type. This file alone knows how a gRPC status, the reply of a window and a broken
// connection become a HubError.
import { fromBinary } from '@bufbuild/protobuf';
import { anyUnpack } from '@bufbuild/protobuf/wkt';
import { ErrorInfoSchema, StatusSchema } from './gen/google/rpc/status_pb.js';
import type { HubError as HubErrorMessage } from './gen/mcphub/v1/request_pb.js';

// Index = number of the gRPC code.
const codes = [
  'ok', 'cancelled', 'unknown', 'invalid_argument', 'deadline_exceeded', 'not_found', 'already_exists', 'permission_denied', 'resource_exhausted',
  'failed_precondition', 'aborted', 'out_of_range', 'unimplemented', 'internal', 'unavailable', 'data_loss', 'unauthenticated',
] as const;

/** A gRPC code in lower snake case. */
export type HubErrorCode = Exclude<(typeof codes)[number], 'ok'>;

/** Marks the ErrorInfo details that are the hub's own. */
const domain = 'mcphub';

/**
 * Every failure of this package. `reason` is the hub's own where it gave one (`NO_APPROVER`, `PROMPT_CLOSED`, see the contract), or one of this package:
 * `BINARY_NOT_FOUND`, `BINARY_NOT_STARTED`, `HANDSHAKE_TIMEOUT`, `HANDSHAKE_JUNK`, `PROTOCOL_VERSION`, `TLS`, `KEEP_DIRECTORY`, `HUB_DIED`, `HUB_NOT_READY`, `STOPPED`,
 * `CONNECTION_LOST`, `PROTOCOL_ERROR`, `RESULT_TOO_LARGE`, and of a relay `MALFORMED_MESSAGE` and `ANSWER_NOT_SENT`; '' when gRPC says nothing but the code.
 */
export class HubError extends Error {
  override readonly name = 'HubError';
  readonly code: HubErrorCode;
  readonly reason: string;
  readonly metadata: Readonly<Record<string, string>>;

  constructor(code: HubErrorCode, reason: string, message: string, more: { metadata?: Readonly<Record<string, string>>; cause?: unknown } = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.code = code;
    this.reason = reason;
    this.metadata = more.metadata ?? {};
  }
}

/** What trailers (or the headers of a response that has none) say: undefined for OK. */
export function failureOfStatus(status: string, message: string | undefined, details: string | undefined): HubError | undefined {
  const number = /^\d{1,3}$/.test(status) ? Number(status) : 2;
  if (number === 0) {
    return undefined;
  }
  const name = codes[number] ?? 'unknown';
  const code: HubErrorCode = name === 'ok' ? 'unknown' : name;
  const info = errorInfo(details);
  const text = percentDecoded(message ?? '');
  return new HubError(code, info?.reason ?? '', text === '' ? `The hub answered ${code} and said nothing else.` : text, { metadata: info?.metadata ?? {} });
}

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

/** A response that HTTP itself refused; the table is that of the gRPC specification. */
export function failureOfHttp(status: number): HubError {
  const table: Record<number, HubErrorCode> = {
    400: 'internal', 401: 'unauthenticated', 403: 'permission_denied', 404: 'unimplemented', 429: 'unavailable', 502: 'unavailable', 503: 'unavailable', 504: 'unavailable',
  };
  return new HubError(table[status] ?? 'unknown', 'PROTOCOL_ERROR', `The hub answered with HTTP status ${status} where gRPC was due: check that the binary is mcphub.`);
}

/** A stream that ended without a status; the table is that of the gRPC specification. */
export function failureOfReset(rstCode: number): HubError {
  switch (rstCode) {
    case 0x7: // REFUSED_STREAM: not even begun
      return new HubError('unavailable', 'CONNECTION_LOST', 'The hub took no more calls on this connection: try again.');
    case 0x8: // CANCEL
      return new HubError('cancelled', '', 'The hub ended the call.');
    case 0xb: // ENHANCE_YOUR_CALM
      return new HubError('resource_exhausted', '', 'The hub refused the call: too much at once.');
    case 0xc: // INADEQUATE_SECURITY
      return new HubError('permission_denied', 'TLS', 'The hub refused the call: the connection is not secure enough.');
    default:
      return new HubError('internal', 'PROTOCOL_ERROR', `The call ended without a status (HTTP/2 error ${rstCode}).`);
  }
}

/** The connection broke, or could not be made. Whether the hub is gone is not known from that: its process tells. */
export function failureOfConnection(cause: unknown): HubError {
  const code = codeOf(cause);
  const text = cause instanceof Error ? cause.message : 'it was closed';
  if (isTlsTrouble(code, text)) {
    return new HubError('unavailable', 'TLS', `The hub and this host do not trust each other (${text}): start the hub anew.`, { cause });
  }
  return new HubError('unavailable', 'CONNECTION_LOST', `The connection to the hub broke (${text}): what was under way may or may not have been done.`, { cause });
}

/** A stream that could not even be asked for: for headers that HTTP/2 does not carry the caller is to blame, else the connection. */
export function failureOfRequest(cause: unknown): HubError {
  if (cause instanceof TypeError) {
    return new HubError('invalid_argument', '', `The headers of the call cannot be sent (${cause.message}).`, { cause });
  }
  return failureOfConnection(cause);
}

/** A message that is no protobuf of its type. */
export function failureOfDecoding(cause: unknown): HubError {
  return cause instanceof HubError
    ? cause
    : new HubError('internal', 'PROTOCOL_ERROR', `The hub sent a message that this host cannot read (${asHubError(cause).message}).`, { cause });
}

export function failureOfDeadline(timeoutMs: number): HubError {
  return new HubError('deadline_exceeded', '', `The hub did not answer within ${timeoutMs} ms.`);
}

export function failureOfAbort(signal: AbortSignal): HubError {
  const why: unknown = signal.reason;
  return new HubError('cancelled', '', `The host cancelled the call${why instanceof Error && why.name !== 'AbortError' ? ` (${why.message})` : ''}.`, { cause: why });
}

export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

// A certificate that does not fit has one of OpenSSL's names for a code, a refusal by the other side an alert.
function isTlsTrouble(code: string, text: string): boolean {
  return /^ERR_(SSL|TLS|OSSL)/.test(code) || /CERT|_LEAF_|SELF_SIGNED/.test(code) || /EPROTO/.test(code) || /secure TLS connection/.test(text);
}

function errorInfo(details: string | undefined): { reason: string; metadata: Record<string, string> } | undefined {
  if (details === undefined) {
    return undefined;
  }
  try {
    for (const detail of fromBinary(StatusSchema, Buffer.from(details, 'base64')).details) {
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

// grpc-message is percent-encoded UTF-8; what is no such thing is shown as it came.
function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
