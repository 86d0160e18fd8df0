// From the contract to what other extensions are given.
import { ApprovalPolicy, ServerState, ServerTransport } from '@mcphub/host';
import type { McpPrompt, Resource, ResourceTemplate, Server, Tool } from '@mcphub/host';
import type { McpPromptTemplate, McpResource, McpResourceTemplate, McpServer, McpTool } from '../../api.js';

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

const policies: Readonly<Partial<Record<ApprovalPolicy, McpTool['policy']>>> = {
  [ApprovalPolicy.ALLOW]: 'allow',
  [ApprovalPolicy.DENY]: 'deny',
};

export function server(s: Server): McpServer {
  return {
    name: s.name,
    state: states[s.state] ?? 'stopped',
    lastError: s.lastError,
    configFile: s.configFile,
    configLine: s.configLine,
    scope: s.configScope,
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
    stderr: [...s.stderr],
    problems: s.problems.map(({ file, line, message }) => ({ file, line, message })),
  };
}

export function tool(t: Tool): McpTool {
  return {
    server: t.server,
    name: t.name,
    title: t.title,
    description: t.description,
    definitionJson: t.definitionJson,
    policy: policies[t.policy] ?? 'ask',
    cached: t.cached,
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
    arguments: p.arguments.map((a) => ({ name: a.name, description: a.description, required: a.required })),
  };
}
