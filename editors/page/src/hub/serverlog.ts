// The logs of a server: the lines of its stderr, and its log messages. Only the latest of each are kept.

import { startOf } from '../words/text.js';
import type { LogMessageJson as LogMessage } from '../../../host/src/gen/mcphub/v1/editor_pb.js';

export type ServerLog = { stderr: string[]; messages: { time: string; level: string; logger: string; text: string }[] };

export const mostLines = 200;
/** Maximum length of a line, in UTF-16 units. A line may be as long as a message, and hundreds of lines are kept. */
export const longestLine = 16 * 1024;

export function freshLogs(): ServerLog {
  return { stderr: [], messages: [] };
}

export function logArrived(
  log: ServerLog,
  { level = '', logger = '', dataJson = '' }: LogMessage,
  time: string | undefined = '',
) {
  const text = cut(plainText(dataJson));
  if (level === 'stderr') keep(log.stderr, text);
  else keep(log.messages, { time, level, logger, text });
}

/** Replaces the lines of stderr by those that the hub has reported. */
export function stderrIs(log: ServerLog, lines: readonly string[]) {
  log.stderr = lines.map(cut);
}

const cut = (text: string) => startOf(text, longestLine);

function keep<T>(lines: T[], line: T) {
  lines.push(line);
  if (lines.length > mostLines) lines.shift();
}

/** Returns a JSON string as plain text, and any other JSON unchanged. */
function plainText(json: string) {
  if (!json.startsWith('"')) return json;
  try {
    return String(JSON.parse(json));
  } catch {
    return json;
  }
}
