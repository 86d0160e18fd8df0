// The two output channels: the log of the hub, and the log messages of the servers.
import * as vscode from 'vscode';
import type { HubLog, LogMessage } from '@mcphub/host/contract';
import { logText, type Level } from './logtext.js';

export class Output implements vscode.Disposable {
  readonly hub = vscode.window.createOutputChannel('McpHub', { log: true });
  readonly servers = vscode.window.createOutputChannel('McpHub Servers', { log: true });

  /** Writes a line of the hub. The hub itself keeps secrets, arguments and environments out of its log. */
  hubSaid(log: HubLog): void {
    write(
      this.hub,
      log.level,
      Object.keys(log.fields).length === 0 ? log.message : `${log.message} ${JSON.stringify(log.fields)}`,
    );
  }

  /** Writes a log message of a server, or a line of its stderr. */
  serverSaid(message: LogMessage): void {
    const { level, text } = logText(message);
    write(this.servers, level, text);
  }

  dispose(): void {
    this.hub.dispose();
    this.servers.dispose();
  }
}

function write(channel: vscode.LogOutputChannel, level: Level | (string & {}), text: string): void {
  switch (level) {
    case 'trace':
      channel.trace(text);
      break;
    case 'debug':
      channel.debug(text);
      break;
    case 'warn':
      channel.warn(text);
      break;
    case 'error':
      channel.error(text);
      break;
    default:
      channel.info(text);
  }
}
