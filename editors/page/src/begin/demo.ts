// Recognizes the demo server that McpHub itself provides.

import type { ServerJson } from '../../../host/src/gen/mcphub/v1/server_pb.js';

export interface Demo {
  /** name of the server */
  server: string;
  /** its config file, if the host itself passes the server to the hub */
  file?: string;
  /** its command, if the server is an entry of a config file */
  command?: string;
  /** the entry that adds the server to a config file */
  entryJson?: string;
}

/** Reports whether a server is the demo. The name alone does not count: a config file may use it for another server. */
export function isDemo({ demo }: { demo?: Demo }, server: ServerJson) {
  if (demo === undefined || server.name !== demo.server) return false;
  return demo.file === undefined ? server.command === demo.command : server.configFile === demo.file;
}
