// The headers of a call, as gRPC carries them.
import { Metadata } from '@grpc/grpc-js';
import { HubError, asHubError } from './failure.js';

// Over one of these node:http2 refuses the stream, and grpc-js gives up the whole connection.
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

/** Throws a HubError for what no call can carry. */
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
