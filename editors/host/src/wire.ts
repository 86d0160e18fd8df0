// What goes over the wire: the names of methods and the bytes of messages.
import { create, toBinary } from '@bufbuild/protobuf';
import type { DescMessage, DescMethod, MessageInitShape } from '@bufbuild/protobuf';
import { HubError, asHubError } from './failure.js';

/** Returns the gRPC path of a method. */
export function pathOf(method: DescMethod): string {
  return `/${method.parent.typeName}/${method.name}`;
}

/** Returns the bytes of a message. Throws a HubError if it is invalid. */
export function encoded<D extends DescMessage>(schema: D, init: MessageInitShape<D>): Buffer<ArrayBuffer> {
  try {
    const bytes = toBinary(schema, create(schema, init));
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  } catch (error) {
    throw new HubError(
      'invalid_argument',
      '',
      `This is no ${schema.name} (${asHubError(error).message}): nothing was sent.`,
      { cause: error },
    );
  }
}
