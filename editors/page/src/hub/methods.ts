// The methods of the hub that the page calls. The types of their requests and responses are those of the contract.

import type {
  AttachRequestJson as AttachRequest,
  ReplyJson as Reply,
} from '../../../host/src/gen/mcphub/v1/editor_pb.js';
import type { MessageJsonType } from '@bufbuild/protobuf';

export type Contract = typeof import('../../../host/src/gen/mcphub/v1/hub_pb.js')
  & typeof import('../../../host/src/gen/mcphub/v1/server_pb.js')
  & typeof import('../../../host/src/gen/mcphub/v1/config_pb.js')
  & typeof import('../../../host/src/gen/mcphub/v1/registry_pb.js');

/** The service of each method. */
export const services = {
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
} as const;

export type Method = keyof typeof services;

export type RequestOf<M extends Method> = MessageJsonType<Contract[`${M}RequestSchema`]>;

export type ResponseOf<M extends Method> = MessageJsonType<Contract[`${M}ResponseSchema`]>;

/** A method, and the request for it. */
export type Order<M extends Method> = { [K in M]: [method: K, request: RequestOf<K>] }[M];

/** What came of a call. The response is absent for an error, and for the methods that make a request of the hub. */
export type Answer<M extends Method> = Pick<Reply, 'error' | 'errorPlace'> & { response?: ResponseOf<M> };

export type Call = <M extends Method>(method: M, request: RequestOf<M>, unwanted?: AbortSignal) => Promise<Answer<M>>;

/** Returns the message that calls a method. */
export const callOf = <M extends Method>(method: M, request: RequestOf<M>): AttachRequest => ({
  call: {
    method: `/mcphub.v1.${services[method]}/${method}`,
    request: { '@type': `type.googleapis.com/mcphub.v1.${method}Request`, ...request },
  },
});
