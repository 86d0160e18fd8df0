// What a server writes: its stderr, and the log messages that it sends. The latest of each are kept.

import { startOf } from '../words/text.js';

/** @typedef {import('../../../host/src/gen/mcphub/v1/editor_pb.js').LogMessageJson} LogMessage */
/**
 * @typedef {{ stderr: string[], messages: { time: string, level: string, logger: string, text: string }[] }} ServerLog
 */

export const mostLines = 200;
/** In UTF-16 units. A line may be as long as a message, and hundreds of those are kept. */
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

/** What a server wrote before. @param {ServerLog} log @param {readonly string[]} lines */
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

// A string is shown as it reads, anything else as the JSON that came.
/** @param {string} json */
function plainText(json) {
  if (!json.startsWith('"')) return json;
  try {
    return String(JSON.parse(json));
  } catch {
    return json;
  }
}
