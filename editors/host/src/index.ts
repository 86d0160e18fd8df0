// The API of this package: one hub and its servers, in plain types. `@mcphub/host/contract` has what it is made of: the
// process of the hub, its gRPC services, and the streams of its windows, with the messages of the contract.
export { createHub } from './api/createhub.js';
export { HubError } from './failure.js';
export type { HubErrorCode } from './failure.js';
export type * from './api/mcphub.js';
export type * from './api/hubsettings.js';
export type * from './api/question.js';
export type { HubLog, HubLogLevel } from './logs.js';
export type { PatienceOptions } from './patience.js';
export type { ProxySetting } from './proxy.js';
export type { HubState } from './hubstate.js';
// What the page and the extension show alike, for a host that draws questions itself.
export { visible } from './visible.js';
export { launchFacts, launchOrigin, loadsCode } from './launchfacts.js';
export type { LaunchFact } from './launchfacts.js';
export type { Translator } from './serverwords.js';
export { chooseModel } from './modelchoice.js';
export type { ModelName } from './modelchoice.js';
