// The generated schema of the window stream, and of the services whose methods it calls. It checks messages in both
// directions. Node 20 cannot load TypeScript, so the generated files are bundled in memory. The types come from the
// same files.

import { build } from 'esbuild';
import { fileURLToPath } from 'node:url';
import { nativeParse } from '../../src/words/jsontext.js';

/**
 * @typedef {import('../../../host/src/gen/mcphub/v1/editor_pb.js').AttachRequestJson} AttachRequestJson
 * @typedef {import('../../../host/src/gen/mcphub/v1/editor_pb.js').AttachResponseJson} AttachResponseJson
 */

const entry = `
  export { AttachRequestSchema, AttachResponseSchema } from './mcphub/v1/editor_pb.ts';
  export { file_mcphub_v1_config } from './mcphub/v1/config_pb.ts';
  export { file_mcphub_v1_hub } from './mcphub/v1/hub_pb.ts';
  export { file_mcphub_v1_registry } from './mcphub/v1/registry_pb.ts';
  export { file_mcphub_v1_server } from './mcphub/v1/server_pb.ts';
  export { createRegistry, fromJson, toJson } from '@bufbuild/protobuf';
`;

const bundled = await build({
  stdin: {
    contents: entry,
    resolveDir: fileURLToPath(new URL('../../../host/src/gen', import.meta.url)),
    loader: 'ts',
  },
  bundle: true,
  format: 'esm',
  platform: 'node',
  write: false,
});
const loaded =
  /**
   * @type {Promise<typeof import('../../../host/src/gen/mcphub/v1/editor_pb.js')
   * & import('../../src/hub/methods.js').Contract & typeof import('@bufbuild/protobuf')>}
   */
  (import(`data:text/javascript;base64,${Buffer.from(bundled.outputFiles[0]?.contents ?? '').toString('base64')}`));
const schema = await loaded;

/** The services whose methods a page may call, and the types of their messages. */
export const registry = schema.createRegistry(
  schema.file_mcphub_v1_config,
  schema.file_mcphub_v1_hub,
  schema.file_mcphub_v1_registry,
  schema.file_mcphub_v1_server,
);

/**
 * Returns a message as a host would relay it: checked against the schema, and in proto3 JSON, in which a field with its
 * default value is absent.
 *
 * @param {AttachResponseJson} message
 * @returns {AttachResponseJson}
 */
export function asRelayed(message) {
  const parsed = schema.fromJson(schema.AttachResponseSchema, message, { registry });
  return /** @type {AttachResponseJson} */ (schema.toJson(schema.AttachResponseSchema, parsed, { registry }));
}

/**
 * Returns the members of an object that the page has sent as JSON text.
 *
 * @param {string | undefined} json
 */
export const membersOf = (json) => /** @type {Record<string, unknown>} */ (nativeParse(json ?? ''));

/**
 * Returns the fault of a message of the page, or undefined if the hub would understand the whole message. Unknown
 * fields and unknown names of enums are faults, and so is an empty message.
 *
 * @param {unknown} message
 * @returns {string | undefined}
 */
export function faultOf(message) {
  try {
    const json = /** @type {import('@bufbuild/protobuf').JsonValue} */ (message);
    const parsed = schema.fromJson(schema.AttachRequestSchema, json, { registry });
    return parsed.message.case === undefined ? 'an AttachRequest that says nothing' : undefined;
  } catch (error) {
    return String(error);
  }
}
