// Converts log messages of servers to lines of the editor's log.
import type { LogMessage } from '@mcphub/host/contract';
import { brief, visible } from '../plaintext.js';

export type Level = 'trace' | 'debug' | 'info' | 'warn' | 'error';

const levels: Readonly<Record<string, Level>> = {
  debug: 'debug',
  info: 'info',
  notice: 'info',
  warning: 'warn',
  error: 'error',
  critical: 'error',
  alert: 'error',
  emergency: 'error',
  stderr: 'info',
};

/**
 * Returns level and text of a log line. Invisible characters are spelled out, and the text is cut, so that one message
 * cannot fill the channel.
 */
export function logText(message: Pick<LogMessage, 'server' | 'level' | 'logger' | 'dataJson'>): {
  level: Level;
  text: string;
} {
  const from = message.logger === '' ? message.server : `${message.server}/${message.logger}`;
  return {
    level: levels[message.level] ?? 'info',
    text: `[${visible(from)}] ${brief(visible(said(message.dataJson)), 8192)}`,
  };
}

// Returns the value of a JSON string. Other JSON is returned as it came.
function said(dataJson: string): string {
  try {
    const data: unknown = JSON.parse(dataJson);
    return typeof data === 'string' ? data : dataJson;
  } catch {
    return dataJson;
  }
}
