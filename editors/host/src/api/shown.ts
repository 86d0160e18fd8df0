// Converts the contract's messages to the plain objects of the API.
import type { ConfigFile, ConfigWrite } from '../gen/mcphub/v1/config_pb.js';
import type { ModelTool } from '../gen/mcphub/v1/modeltool_pb.js';
import { ApprovalPolicy, LaunchConsent, ServerStart, ServerState } from '../gen/mcphub/v1/server_pb.js';
import { ServerTransport, SignInState } from '../gen/mcphub/v1/server_pb.js';
import type { ConfigOrigin, ConfigProblem, ConnectionCounters, McpPrompt } from '../gen/mcphub/v1/server_pb.js';
import type { Resource, ResourceTemplate, Server, Tool } from '../gen/mcphub/v1/server_pb.js';
import type { View } from '../gen/mcphub/v1/view_pb.js';
import { date } from './duration.js';
import type {
  McpConfigFile,
  McpConfigPlace,
  McpConfigProblem,
  McpModelTool,
  McpPolicy,
  McpPromptTemplate,
  McpResource,
  McpResourceTemplate,
  McpResultView,
  McpServer,
  McpSource,
  McpTool,
  McpWrite,
} from './mcphub.js';

const states: Readonly<Partial<Record<ServerState, McpServer['state']>>> = {
  [ServerState.STOPPED]: 'stopped',
  [ServerState.CONNECTING]: 'connecting',
  [ServerState.READY]: 'ready',
  [ServerState.STOPPING]: 'stopping',
  [ServerState.FAILED]: 'failed',
  [ServerState.DISABLED]: 'disabled',
  [ServerState.BROKEN]: 'broken',
  [ServerState.GIVEN_UP]: 'given_up',
};

const transports: Readonly<Record<ServerTransport, McpServer['transport']>> = {
  [ServerTransport.UNSPECIFIED]: '',
  [ServerTransport.STDIO]: 'stdio',
  [ServerTransport.HTTP]: 'streamable_http',
  [ServerTransport.SSE]: 'sse',
};

const consents: Readonly<Record<LaunchConsent, McpServer['consent']>> = {
  [LaunchConsent.UNSPECIFIED]: '',
  [LaunchConsent.NEEDED]: 'needed',
  [LaunchConsent.ASKING]: 'asking',
  [LaunchConsent.GIVEN]: 'given',
  [LaunchConsent.DECLINED]: 'declined',
};

const signIns: Readonly<Record<SignInState, McpServer['signIn']>> = {
  [SignInState.UNSPECIFIED]: '',
  [SignInState.NEEDED]: 'needed',
  [SignInState.ASKING]: 'asking',
  [SignInState.SIGNED_IN]: 'signed_in',
};

/** Unknown policies of a newer hub ask. */
export function policy(p: ApprovalPolicy): McpPolicy {
  return p === ApprovalPolicy.ALLOW ? 'allow' : p === ApprovalPolicy.DENY ? 'deny' : 'ask';
}

export function server(s: Server): McpServer {
  return {
    name: s.name,
    configName: s.configName,
    source: source(s.configScope),
    state: states[s.state] ?? 'stopped',
    lastError: s.lastError,
    configFile: s.configFile,
    configLine: s.configLine,
    dialect: s.configDialect,
    transport: transports[s.transport],
    command: s.command,
    url: s.url,
    processId: s.processId,
    title: s.title,
    version: s.version,
    instructions: s.instructions,
    capabilitiesJson: s.capabilitiesJson,
    protocolRevision: s.protocolRevision,
    consent: consents[s.launchConsent],
    signIn: signIns[s.signIn],
    start: s.start === ServerStart.EAGER ? 'eager' : 'lazy',
    readyTime: date(s.readyTime),
    failures: s.failures,
    nextStartTime: date(s.nextStartTime),
    lastExit: s.lastExit,
    counters: counters(s.counters),
    incarnation: String(s.incarnation),
    questionsMuted: s.questionsMuted,
    shadows: s.shadows.map(place),
    waitingForConsent: s.waitingForConsent.map(place),
    stderr: [...s.stderr],
    problems: s.problems.map(problem),
  };
}

/** Any scope other than the user's and the host's belongs to the workspace. */
function source(scope: string): McpSource {
  return scope === 'user' || scope === 'host' ? scope : 'workspace';
}

function counters(c: ConnectionCounters | undefined): McpServer['counters'] {
  return (
    c && {
      lateResponses: Number(c.lateResponses),
      unknownResponses: Number(c.unknownResponses),
      badLines: Number(c.badLines),
      unknownCancels: Number(c.unknownCancels),
      malformedCancels: Number(c.malformedCancels),
      suppressedResponses: Number(c.suppressedResponses),
      droppedNotifications: Number(c.droppedNotifications),
    }
  );
}

function place({ file, line, scope, dialect }: ConfigOrigin): McpConfigPlace {
  return { file, line, source: source(scope), dialect };
}

export function problem({ file, line, column, key, message, fatal }: ConfigProblem): McpConfigProblem {
  return { file, line, column, key, message, fatal };
}

export function tool(t: Tool): McpTool {
  return {
    server: t.server,
    name: t.name,
    title: t.title,
    description: t.description,
    definitionJson: t.definitionJson,
    policy: policy(t.policy),
    cached: t.cached,
    hiddenFromModels: t.hiddenFromModels,
    hiddenFromApps: t.hiddenFromApps,
    uiResourceUri: t.uiResourceUri,
  };
}

export function resource(r: Resource): McpResource {
  const { server, uri, name, title, description, mimeType, definitionJson } = r;
  return { server, uri, name, title, description, mimeType, definitionJson };
}

export function template(t: ResourceTemplate): McpResourceTemplate {
  const { server, uriTemplate, name, title, description, mimeType, definitionJson } = t;
  return { server, uriTemplate, name, title, description, mimeType, definitionJson };
}

export function promptTemplate(p: McpPrompt): McpPromptTemplate {
  const { server, name, title, description, definitionJson } = p;
  return {
    server,
    name,
    title,
    description,
    definitionJson,
    arguments: p.arguments.map((a) => ({
      name: a.name,
      title: a.title,
      description: a.description,
      required: a.required,
    })),
  };
}

/** The server is that of the entry after the write. */
export function write(w: ConfigWrite, s: Server | undefined): McpWrite {
  return {
    configFile: w.configFile,
    configLine: w.configLine,
    needsConsent: w.needsConsent,
    problems: w.problems.map(problem),
    leftOut: [...w.leftOut],
    undoId: w.undoId,
    server: s && server(s),
  };
}

export function configFile(f: ConfigFile): McpConfigFile {
  const { path, dialect, exists, notWritable, servers } = f;
  return { path, source: source(f.scope), dialect, exists, notWritable, servers: [...servers] };
}

export function modelTool(t: ModelTool): McpModelTool {
  const { name, server: of, tool: named, title, description, inputSchemaJson, tokens, hints } = t;
  return {
    name,
    server: of,
    tool: named,
    title,
    description,
    inputSchema: JSON.parse(inputSchemaJson) as unknown,
    inputSchemaJson,
    changes: t.changes.map(({ at, what }) => ({ at, what })),
    tokens,
    hints: {
      ...(hints?.readOnly !== undefined && { readOnly: hints.readOnly }),
      ...(hints?.destructive !== undefined && { destructive: hints.destructive }),
      ...(hints?.idempotent !== undefined && { idempotent: hints.idempotent }),
      ...(hints?.openWorld !== undefined && { openWorld: hints.openWorld }),
    },
    policy: policy(t.policy),
  };
}

export function view(v: View): McpResultView {
  return {
    text: v.text,
    imagesJson: [...v.imagesJson],
    cut: v.cut,
    leftBytes: Number(v.leftBytes),
    leftLines: Number(v.leftLines),
    resultId: v.resultId,
  };
}
