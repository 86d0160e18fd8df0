// Recognizes the demo server that McpHub itself provides.

import type { Demo } from '../../embed/surface.js';
import type { ServerJson } from '../../../host/src/gen/mcphub/v1/server_pb.js';

/** Reports whether a server is the demo. The name alone does not count: a config file may use it for another server. */
export function isDemo({ demo }: { demo?: Demo }, server: ServerJson) {
  if (demo === undefined || server.name !== demo.server) return false;
  return demo.file === undefined ? server.command === demo.command : server.configFile === demo.file;
}
