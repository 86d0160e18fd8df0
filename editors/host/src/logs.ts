// Parses the hub's log. The hub writes lines of JSON in hclog's format, and other text, to its standard error.
import { StringDecoder } from 'node:string_decoder';

export type HubLogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error';

/** One line of the log. */
export interface HubLog {
  readonly level: HubLogLevel;
  readonly message: string;
  /** When the hub wrote the line, or when it was read if the line has no time. */
  readonly time: Date;
  /** The other fields of the line, by name. */
  readonly fields: Readonly<Record<string, unknown>>;
}

const levels: readonly HubLogLevel[] = ['trace', 'debug', 'info', 'warn', 'error'];
const maxLine = 256 * 1024; // in characters; a longer line is cut
const tailLines = 20;
const maxTailLine = 512;

/** Parses a line. A line that is not JSON in hclog's format becomes a message at level info. */
export function parseLogLine(line: string, now: Date = new Date()): HubLog {
  const fields = line.startsWith('{') ? jsonObject(line) : undefined;
  const level = levels.find((l) => l === fields?.['@level']);
  const message = fields?.['@message'];
  if (fields === undefined || level === undefined || typeof message !== 'string') {
    return { level: 'info', message: line, time: now, fields: {} };
  }
  const stamp = fields['@timestamp'];
  const time = typeof stamp === 'string' ? new Date(stamp) : now;
  const rest = Object.fromEntries(
    Object.entries(fields).filter(([name]) => !name.startsWith('@') || name === '@module'),
  );
  return { level, message, time: Number.isNaN(time.getTime()) ? now : time, fields: rest };
}

function jsonObject(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Splits bytes that come in any chunks into lines. */
export class LineReader {
  readonly #decoder = new StringDecoder('utf8');
  readonly #deliver: (line: string) => void;
  #rest = '';
  #cut = false; // the rest of the current line is dropped

  constructor(deliver: (line: string) => void) {
    this.#deliver = deliver;
  }

  push(chunk: Uint8Array): void {
    const parts = this.#decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)).split('\n');
    for (const [i, part] of parts.entries()) {
      if (!this.#cut) {
        this.#rest += part.slice(0, maxLine - this.#rest.length);
        this.#cut = this.#rest.length >= maxLine;
      }
      if (i < parts.length - 1) {
        this.end();
      }
    }
  }

  /** Delivers the last line, which has no line end, if there is one. */
  end(): void {
    const line = this.#rest.replace(/\r$/, '');
    this.#rest = '';
    this.#cut = false;
    if (line !== '') {
      this.#deliver(line);
    }
  }
}

/**
 * The last lines that may explain why a hub did not start: warnings, errors and lines that are not in hclog's format.
 */
export class LogTail {
  #lines: string[] = [];

  note(line: string, log: HubLog): void {
    if (log.message !== line && log.level !== 'warn' && log.level !== 'error') {
      return;
    }
    const fields = Object.entries(log.fields).map(
      ([name, value]) => ` ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
    );
    const text = (log.message + fields.join('')).replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '\ufffd');
    this.#lines.push(text.length > maxTailLine ? `${text.slice(0, maxTailLine)}...` : text);
    this.#lines = this.#lines.slice(-tailLines);
  }

  /** Returns the lines as text for the end of an error message. */
  toString(): string {
    return this.#lines.length === 0 ? '' : ` Its last lines were:\n  ${this.#lines.join('\n  ')}`;
  }
}
