// Makes a client of a service: an object with one function for each unary method.
import type { DescMethod, DescService, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import type { CallOptions, Method } from './transport.js';

/** The unary methods of a service. Each rejects with a HubError. */
export type Client<S extends DescService> = {
  readonly [
    M in keyof S['method'] as S['method'][M] extends { methodKind: 'unary' } ? M : never
  ]: S['method'][M] extends DescMethod
    ? (
        init: MessageInitShape<S['method'][M]['input']>,
        options?: CallOptions,
      ) => Promise<MessageShape<S['method'][M]['output']>>
    : never;
};

/** Carries out one call: `unary` of a Channel, or a function that chooses the channel. */
export type Caller = (
  method: Method<DescMethod['input'], DescMethod['output']>,
  init: MessageInitShape<DescMethod['input']>,
  options: CallOptions | undefined,
) => Promise<unknown>;

export function createClient<S extends DescService>(service: S, call: Caller): Client<S> {
  const client: Record<
    string,
    (init: MessageInitShape<DescMethod['input']>, options?: CallOptions) => Promise<unknown>
  > = {};
  for (const method of service.methods) {
    if (method.methodKind === 'unary') {
      client[method.localName] = (init, options) => call(method, init, options);
    }
  }
  // The loop makes exactly the functions that the type lists. The type checker cannot follow that.
  return Object.freeze(client) as unknown as Client<S>;
}
