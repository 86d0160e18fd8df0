// What the API is made of, for hosts that need more of the contract: the process of the hub, its services, its streams
// and their messages.
export { Hub } from './hub.js';
export { hubOf } from './api/createhub.js';
// The parts of createHub, for a host that owns its hub in another way.
export { connection } from './api/connection.js';
export type { Caller, World } from './api/connection.js';
export { Mirror } from './api/mirror.js';
export { lost, missed, nothing, runningRequests, transition } from './standing.js';
export type { Change, PromptEnd, Standing } from './standing.js';
export { Subscriptions } from './api/subscriptions.js';
export { untilShown } from './api/untilshown.js';
export { WatcherWindow } from './api/watcherwindow.js';
export type { Answer, Root, WatcherListener, WindowHello } from './api/watcherwindow.js';
export type { WritePermission } from './api/writes.js';
export type { HubState } from './hubstate.js';
export type { AddServerProposed, HubOptions, Relay, RelayOptions } from './options.js';
// The name HubError is exported as the class. The protobuf message of the same name, which a window's replies carry, is
// exported as HubErrorMessage.
export { HubError } from './failure.js';
export type { HubErrorCode } from './failure.js';
export type { HubError as HubErrorMessage } from './gen/mcphub/v1/request_pb.js';
export type { HubLog, HubLogLevel } from './logs.js';
export type { HubStream } from './stream.js';
export type { Answers, HubWindow } from './window.js';
export { ViewFrames } from './viewframes.js';
export { pageJson } from './pagevoice.js';
export type { PageEnd } from './pagevoice.js';
export { proxyEnvironment } from './proxy.js';
export type { ProxySetting } from './proxy.js';
export type { CallOptions } from './transport.js';
// How a message is given to a method or a stream, and what comes back.
export { create } from '@bufbuild/protobuf';
export type { MessageInitShape, MessageShape } from '@bufbuild/protobuf';
export type { Client } from './client.js';
// What the page and the extension show alike, for a host that draws questions itself.
export { visible } from './visible.js';
export { serverStateWord } from './serverwords.js';
export type { Translator } from './serverwords.js';
export { launchFacts, launchOrigin, loadsCode } from './launchfacts.js';
export type { LaunchFact } from './launchfacts.js';
export { chooseModel } from './modelchoice.js';
export type { ModelName } from './modelchoice.js';

export * from './gen/mcphub/v1/config_pb.js';
export * from './gen/mcphub/v1/editor_pb.js';
export * from './gen/mcphub/v1/gateway_pb.js';
export * from './gen/mcphub/v1/hub_pb.js';
export * from './gen/mcphub/v1/modeltool_pb.js';
export * from './gen/mcphub/v1/prompt_pb.js';
export * from './gen/mcphub/v1/registry_pb.js';
export * from './gen/mcphub/v1/request_pb.js';
export * from './gen/mcphub/v1/server_pb.js';
export * from './gen/mcphub/v1/view_pb.js';
export * from './gen/mcphub/v1/writer_pb.js';
