// Converts the headers of a call to gRPC metadata.
import { Metadata } from '@grpc/grpc-js';
import { HubError, asHubError } from './failure.js';

// With one of these headers node:http2 refuses the stream, and grpc-js closes the whole connection.
const ofConnection: ReadonlySet<string> = new Set([
  'connection',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
]);

/** Returns the headers as metadata. Throws a HubError for headers that a call cannot carry. */
export function metadataOf(headers: Readonly<Record<string, string>> | undefined): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers ?? {})) {
    try {
      if (ofConnection.has(name.toLowerCase())) {
        throw new Error(`${name} is not for a call to say`);
      }
      metadata.set(name, value);
    } catch (error) {
      throw new HubError(
        'invalid_argument',
        '',
        `The headers of the call cannot be sent (${asHubError(error).message}).`,
        { cause: error },
      );
    }
  }
  return metadata;
}
