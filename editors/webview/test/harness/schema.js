// The generated schema of the window stream. It checks messages in both directions. Node 20 cannot load TypeScript, so
// the generated files are bundled in memory. The types come from the same files.

import { build } from 'esbuild';
import { fileURLToPath } from 'node:url';
import { nativeParse } from '../../src/words/jsontext.js';

/**
 * @typedef {import('../../../host/src/gen/mcphub/v1/editor_pb.js').AttachRequestJson} AttachRequestJson
 * @typedef {import('../../../host/src/gen/mcphub/v1/editor_pb.js').AttachResponseJson} AttachResponseJson
 */

const entry = `
  export { AttachRequestSchema, AttachResponseSchema } from './mcphub/v1/editor_pb.ts';
  export { fromJson, toJson } from '@bufbuild/protobuf';
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
/** @type {Promise<typeof import('../../../host/src/gen/mcphub/v1/editor_pb.js') & typeof import('@bufbuild/protobuf')>} */
const loaded = import(
  `data:text/javascript;base64,${Buffer.from(bundled.outputFiles[0]?.contents ?? '').toString('base64')}`
);
const schema = await loaded;

/**
 * Returns a message as a host would relay it: checked against the schema, and in proto3 JSON, in which a field with its
 * default value is absent.
 *
 * @param {AttachResponseJson} message
 * @returns {AttachResponseJson}
 */
export function asRelayed(message) {
  return schema.toJson(schema.AttachResponseSchema, schema.fromJson(schema.AttachResponseSchema, message));
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
    const parsed = schema.fromJson(
      schema.AttachRequestSchema,
      /** @type {import('@bufbuild/protobuf').JsonValue} */ (message),
    );
    return parsed.message.case === undefined ? 'an AttachRequest that says nothing' : undefined;
  } catch (error) {
    return String(error);
  }
}
