// The methods of the hub that the page calls. The types of their requests and responses are those of the contract.

/**
 * @typedef {typeof import('../../../host/src/gen/mcphub/v1/hub_pb.js')
 * & typeof import('../../../host/src/gen/mcphub/v1/server_pb.js')
 * & typeof import('../../../host/src/gen/mcphub/v1/config_pb.js')
 * & typeof import('../../../host/src/gen/mcphub/v1/registry_pb.js')} Contract
 */
/** @typedef {import('../../../host/src/gen/mcphub/v1/editor_pb.js').AttachRequestJson} AttachRequest */
/** @typedef {import('../../../host/src/gen/mcphub/v1/editor_pb.js').ReplyJson} Reply */

/** The service of each method. */
export const services = /** @type {const} */ ({
  CallTool: 'McpHubService',
  CancelRequests: 'McpHubService',
  GetTrace: 'McpHubService',
  ReadRequest: 'McpHubService',

  StartServer: 'McpServerService',
  StopServer: 'McpServerService',
  RestartServer: 'McpServerService',
  SetServerEnabled: 'McpServerService',
  MuteServer: 'McpServerService',
  SignIn: 'McpServerService',
  SignOut: 'McpServerService',
  ListTools: 'McpServerService',
  ListResources: 'McpServerService',
  ListResourceTemplates: 'McpServerService',
  ListMcpPrompts: 'McpServerService',
  ReadResource: 'McpServerService',
  GetMcpPrompt: 'McpServerService',
  Complete: 'McpServerService',
  ExpandUriTemplate: 'McpServerService',
  SubscribeResource: 'McpServerService',
  UnsubscribeResource: 'McpServerService',

  AddServer: 'ConfigService',
  UpdateServer: 'ConfigService',
  RemoveServer: 'ConfigService',
  UndoConfigWrite: 'ConfigService',
  ListConfigFiles: 'ConfigService',
  ReadConfigText: 'ConfigService',
  GetServerEntry: 'ConfigService',

  SearchRegistry: 'RegistryService',
  GetRegistryServer: 'RegistryService',
  ReadBundle: 'RegistryService',
  FillProposal: 'RegistryService',
});

/** @typedef {keyof typeof services} Method */
/**
 * @template {Method} M
 * @typedef {import('@bufbuild/protobuf').MessageJsonType<Contract[`${M}RequestSchema`]>} RequestOf
 */
/**
 * @template {Method} M
 * @typedef {import('@bufbuild/protobuf').MessageJsonType<Contract[`${M}ResponseSchema`]>} ResponseOf
 */
/**
 * A method, and the request for it.
 * @template {Method} M
 * @typedef {{ [K in M]: [method: K, request: RequestOf<K>] }[M]} Order
 */
/**
 * What came of a call. The response is absent for an error, and for the methods that make a request of the hub.
 * @template {Method} M
 * @typedef {Pick<Reply, 'error' | 'errorPlace'> & { response?: ResponseOf<M> }} Answer
 */
/**
 * @typedef {<M extends Method>(method: M, request: RequestOf<M>, unwanted?: AbortSignal) => Promise<Answer<M>>} Call
 */

/**
 * Returns the message that calls a method.
 * @template {Method} M
 * @param {M} method
 * @param {RequestOf<M>} request
 * @returns {AttachRequest}
 */
export const callOf = (method, request) => ({
  call: {
    method: `/mcphub.v1.${services[method]}/${method}`,
    request: { '@type': `type.googleapis.com/mcphub.v1.${method}Request`, ...request },
  },
});
