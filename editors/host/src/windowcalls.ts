// Calls of the hub's methods as messages of a window.
import { create, createRegistry } from '@bufbuild/protobuf';
import type { DescMessage, DescMethod, DescMethodUnary, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { AnySchema, anyUnpack } from '@bufbuild/protobuf/wkt';
import { failureOfDecoding } from './failure.js';
import { file_mcphub_v1_config } from './gen/mcphub/v1/config_pb.js';
import { CallSchema } from './gen/mcphub/v1/editor_pb.js';
import type { Call, Reply } from './gen/mcphub/v1/editor_pb.js';
import { file_mcphub_v1_gateway } from './gen/mcphub/v1/gateway_pb.js';
import { file_mcphub_v1_hub } from './gen/mcphub/v1/hub_pb.js';
import { file_mcphub_v1_modeltool } from './gen/mcphub/v1/modeltool_pb.js';
import { file_mcphub_v1_registry } from './gen/mcphub/v1/registry_pb.js';
import { file_mcphub_v1_server } from './gen/mcphub/v1/server_pb.js';
import { encoded, pathOf } from './wire.js';

/** The services of the hub, and the types of their messages, which the JSON of a call or of a reply names. */
export const registry = createRegistry(
  file_mcphub_v1_config,
  file_mcphub_v1_gateway,
  file_mcphub_v1_hub,
  file_mcphub_v1_modeltool,
  file_mcphub_v1_registry,
  file_mcphub_v1_server,
);

/** The methods that a window can call, by their paths. */
const methods: ReadonlyMap<string, DescMethodUnary> = new Map(
  Array.from(registry)
    .flatMap((type) => (type.kind === 'service' ? type.methods : []))
    .filter((method): method is DescMethodUnary => method.methodKind === 'unary')
    .map((method) => [pathOf(method), method]),
);

/** Returns the call of a method. Throws a HubError for an invalid request. */
export function callOf<I extends DescMessage>(
  method: DescMethod & { readonly input: I },
  request: MessageInitShape<I>,
): Call {
  const value = encoded(method.input, request);
  return create(CallSchema, {
    method: pathOf(method),
    request: create(AnySchema, { typeUrl: typeUrl(method.input), value }),
  });
}

/**
 * Returns the method of a call of a page. What a relay refuses depends on the method, so the call must mean the same to
 * the hub: throws an Error if there is no method with exactly this path, or if the request is not exactly of its type.
 */
export function methodOf({ method: path, request }: Call): DescMethodUnary {
  const method = methods.get(path);
  if (method === undefined) {
    throw new Error(`there is no method ${JSON.stringify(path)}`);
  }
  if (request?.typeUrl !== typeUrl(method.input)) {
    throw new Error(`the request of ${path} must be a ${typeUrl(method.input)}`);
  }
  return method;
}

/** Returns the request of a call whose method has been checked, or undefined if it is a call of another method. */
export function requestOf<I extends DescMessage>(
  method: DescMethod & { readonly input: I },
  call: Call,
): MessageShape<I> | undefined {
  return call.method === pathOf(method) && call.request !== undefined
    ? anyUnpack(call.request, method.input)
    : undefined;
}

/** Returns the response in a reply without an error. If the reply has none, the response is an empty message. */
export function responseOf<O extends DescMessage>(
  method: DescMethod & { readonly output: O },
  { response }: Reply,
): MessageShape<O> {
  if (response === undefined) {
    return create(method.output);
  }
  try {
    const message = anyUnpack(response, method.output);
    if (message === undefined) {
      throw new Error(`${method.name} was answered with "${response.typeUrl}"`);
    }
    return message;
  } catch (error) {
    throw failureOfDecoding(error);
  }
}

function typeUrl(schema: DescMessage): string {
  return `type.googleapis.com/${schema.typeName}`;
}
