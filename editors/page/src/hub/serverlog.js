// The logs of a server: the lines of its stderr, and its log messages. Only the latest of each are kept.

import { startOf } from '../words/text.js';

/** @typedef {import('../../../host/src/gen/mcphub/v1/editor_pb.js').LogMessageJson} LogMessage */
/**
 * @typedef {{ stderr: string[], messages: { time: string, level: string, logger: string, text: string }[] }} ServerLog
 */

export const mostLines = 200;
/** Maximum length of a line, in UTF-16 units. A line may be as long as a message, and hundreds of lines are kept. */
export const longestLine = 16 * 1024;

/** @returns {ServerLog} */
export function freshLogs() {
  return { stderr: [], messages: [] };
}

/** @param {ServerLog} log @param {LogMessage} message @param {string | undefined} time */
export function logArrived(log, { level = '', logger = '', dataJson = '' }, time = '') {
  const text = cut(plainText(dataJson));
  if (level === 'stderr') keep(log.stderr, text);
  else keep(log.messages, { time, level, logger, text });
}

/**
 * Replaces the lines of stderr by those that the hub has reported.
 * @param {ServerLog} log
 * @param {readonly string[]} lines
 */
export function stderrIs(log, lines) {
  log.stderr = lines.map(cut);
}

/** @param {string} text */
const cut = (text) => startOf(text, longestLine);

/** @template T @param {T[]} lines @param {T} line */
function keep(lines, line) {
  lines.push(line);
  if (lines.length > mostLines) lines.shift();
}

/** Returns a JSON string as plain text, and any other JSON unchanged. @param {string} json */
function plainText(json) {
  if (!json.startsWith('"')) return json;
  try {
    return String(JSON.parse(json));
  } catch {
    return json;
  }
}
