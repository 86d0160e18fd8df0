// Decodes messages with a very long text (a tool's result has up to 32 MiB). In one step, that would block the host's
// event loop for a tenth of a second or more.
import { ScalarType, fromBinary } from '@bufbuild/protobuf';
import type { DescField, DescMessage, MessageShape } from '@bufbuild/protobuf';
import { reflect } from '@bufbuild/protobuf/reflect';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** The number of bytes that is decoded between two turns of the event loop. Shorter messages are decoded at once. */
export const sliceSize = 1 << 20;

interface LongText {
  readonly field: DescField;
  readonly bytes: Uint8Array;
}

/** Decodes like fromBinary, but decodes long texts that are fields of the message itself in slices. */
export async function fromLongBinary<D extends DescMessage>(schema: D, bytes: Uint8Array): Promise<MessageShape<D>> {
  const { short, long } = split(schema, bytes);
  const message = fromBinary(schema, short);
  for (const { field, bytes: text } of long) {
    // Without a check: the decoder has already refused invalid UTF-8, and another check of 32 MiB would block the event
    // loop for a tenth of a second.
    reflect(schema, message, false).set(field, await decoded(text));
  }
  return message;
}

// Splits a message into its long texts and the bytes without them.
function split(schema: DescMessage, bytes: Uint8Array): { short: Uint8Array; long: LongText[] } {
  const reader = new BinaryReader(bytes);
  const long: LongText[] = [];
  const rest: Uint8Array[] = [];
  let from = 0;
  while (reader.pos < reader.len) {
    const start = reader.pos;
    const [number, type] = reader.tag();
    const field = schema.fields.find((f) => f.number === number);
    if (type === WireType.LengthDelimited && field?.fieldKind === 'scalar' && field.scalar === ScalarType.STRING) {
      const size = reader.uint32();
      if (size > sliceSize && reader.pos + size <= reader.len) {
        long.push({ field, bytes: bytes.subarray(reader.pos, reader.pos + size) });
        rest.push(bytes.subarray(from, start));
        from = reader.pos + size;
      }
      reader.pos += size;
    } else {
      reader.skip(type, number);
    }
  }
  rest.push(bytes.subarray(from));
  return { short: rest.length === 1 ? bytes : Buffer.concat(rest), long };
}

async function decoded(bytes: Uint8Array): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let text = '';
  for (let at = 0; at < bytes.byteLength; at += sliceSize) {
    text += decoder.decode(bytes.subarray(at, at + sliceSize), { stream: true });
    await nextTurn();
  }
  return text + decoder.decode();
}
