// Log messages of servers as lines of the editor's log.
import type { LogMessage } from '@mcphub/host';
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

/** Server text is shown as it is but for what cannot be seen, and bounded: one line must not fill the channel. */
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

// A JSON string is what it says; anything else stays JSON, spelled as it came.
function said(dataJson: string): string {
  try {
    const data: unknown = JSON.parse(dataJson);
    return typeof data === 'string' ? data : dataJson;
  } catch {
    return dataJson;
  }
}
