// Recognizes the demo server that McpHub itself provides.

/**
 * @typedef {object} Demo
 * @property {string} server name of the server
 * @property {string} [file] its config file, if the host itself passes the server to the hub
 * @property {string} [command] its command, if the server is an entry of a config file
 * @property {string} [entryJson] the entry that adds the server to a config file
 */

/**
 * Reports whether a server is the demo. The name alone does not count: a config file may use it for another server.
 * @param {{ demo?: Demo }} surface
 * @param {import('../../../host/src/gen/mcphub/v1/server_pb.js').ServerJson} server
 */
export function isDemo({ demo }, server) {
  if (demo === undefined || server.name !== demo.server) return false;
  return demo.file === undefined ? server.command === demo.command : server.configFile === demo.file;
}
