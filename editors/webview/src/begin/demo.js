// Which server is the demo that McpHub itself brings.

/**
 * @typedef {object} Demo
 * @property {string} server its name
 * @property {string} [file] what it stands in, where the host gives it to the hub itself
 * @property {string} [command] what it runs, where it stands in a file
 * @property {string} [entryJson] what adds it to a file
 */

/**
 * By more than its name, which a file may take.
 * @param {{ demo?: Demo }} surface
 * @param {import('../../../host/src/gen/mcphub/v1/server_pb.js').ServerJson} server
 */
export function isDemo({ demo }, server) {
  if (demo === undefined || server.name !== demo.server) return false;
  return demo.file === undefined ? server.command === demo.command : server.configFile === demo.file;
}
