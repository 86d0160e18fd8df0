// Servers, tools, requests and prompts as a hub would send them. They are realistic, and their ids are fixed, so that
// tests can use them.

import { today } from './pagetest.js';

/**
 * @typedef {import('../../../host/src/gen/mcphub/v1/server_pb.js').ServerJson} ServerJson
 * @typedef {import('../../../host/src/gen/mcphub/v1/server_pb.js').ToolJson} ToolJson
 * @typedef {import('../../../host/src/gen/mcphub/v1/request_pb.js').RequestJson} RequestJson
 * @typedef {import('../../../host/src/gen/mcphub/v1/prompt_pb.js').PromptJson} PromptJson
 * @typedef {import('../../../host/src/gen/mcphub/v1/editor_pb.js').EndedRequestJson} EndedRequestJson
 * @typedef {import('../../../host/src/gen/mcphub/v1/editor_pb.js').McpRequestFinishedJson} McpRequestFinishedJson
 * @typedef {import('../../../host/src/gen/mcphub/v1/editor_pb.js').McpRequestCancelledJson} McpRequestCancelledJson
 * @typedef {import('../../../host/src/gen/mcphub/v1/editor_pb.js').SnapshotJson} SnapshotJson
 * @typedef {'approval' | 'sampling' | 'form' | 'url' | 'signin' | 'launch' | 'input'} PromptName
 */

/** Returns the time so many seconds from `today`, as the hub writes it. @param {number} seconds */
export const at = (seconds) => new Date(today.getTime() + seconds * 1000).toISOString();

/**
 * Returns a server that is ready. rest replaces properties.
 *
 * @param {string} name
 * @param {Partial<ServerJson>} [rest]
 * @returns {ServerJson}
 */
export const server = (name, rest = {}) => ({
  name,
  state: 'SERVER_STATE_READY',
  era: 'ERA_LEGACY',
  protocolRevision: '2025-11-25',
  title: `${name} server`,
  version: '2.4.1',
  transport: 'SERVER_TRANSPORT_STDIO',
  command: `${name}-mcp`,
  processId: 4711,
  configFile: '/repos/shop/.vscode/mcp.json',
  configLine: 12,
  configDialect: 'vscode',
  configScope: 'user',
  start: 'SERVER_START_LAZY',
  readyTime: at(-600),
  ...rest,
});

/**
 * @param {string} serverName
 * @param {string} name
 * @param {object} [inputSchema]
 * @param {Partial<ToolJson>} [rest]
 * @returns {ToolJson}
 */
export const tool = (serverName, name, inputSchema = { type: 'object' }, rest = {}) => ({
  server: serverName,
  name,
  title: '',
  description: `What ${name} does.`,
  definitionHash: `hash-of-${name}`,
  policy: 'APPROVAL_POLICY_ASK',
  definitionJson: JSON.stringify({ name, description: `What ${name} does.`, inputSchema }),
  ...rest,
});

/**
 * Returns an outgoing tool call that runs. rest replaces properties.
 *
 * @param {string} requestId
 * @param {Partial<RequestJson>} [rest]
 * @returns {RequestJson}
 */
export const request = (requestId, rest = {}) => ({
  requestId,
  server: 'files',
  direction: 'REQUEST_DIRECTION_OUTGOING',
  method: 'tools/call',
  tool: 'index_folder',
  state: 'REQUEST_STATE_RUNNING',
  startTime: at(-42),
  wireIdJson: '7',
  ...rest,
});

/**
 * @param {string} requestId
 * @param {Partial<McpRequestFinishedJson>} [rest]
 * @param {number} [ended] seconds from now
 * @returns {EndedRequestJson}
 */
export const finished = (requestId, rest = {}, ended = -60) => ({
  endTime: at(ended),
  finished: {
    requestId,
    server: 'files',
    direction: 'REQUEST_DIRECTION_OUTGOING',
    method: 'tools/call',
    tool: 'read_file',
    state: 'REQUEST_STATE_DONE',
    timings: { queued: '0.004s', active: '1.250s', human: '0s' },
    ...rest,
  },
});

/**
 * @param {string} requestId
 * @param {Partial<McpRequestCancelledJson>} [rest]
 * @param {number} [ended] seconds from now
 * @returns {EndedRequestJson}
 */
export const cancelled = (requestId, rest = {}, ended = -60) => ({
  endTime: at(ended),
  cancelled: {
    requestId,
    server: 'files',
    direction: 'REQUEST_DIRECTION_OUTGOING',
    method: 'tools/call',
    tool: 'index_folder',
    cancellation: { origin: 'ORIGIN_USER', reason: 'wrong folder', time: at(ended - 1) },
    wireIdJson: '9',
    serverNotified: true,
    serverMayContinue: true,
    timings: { queued: '0.002s', active: '3.400s', human: '0s' },
    era: 'ERA_LEGACY',
    ...rest,
  },
});

const approvalArguments =
  '{"path":"/repos/shop/orders.csv","mode":"overwrite","limit":9007199254740993,"rows":[{"id":1,"price":1.0},{"id":2,"price":12.50}]}';

export const formSchema = {
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Full name', minLength: 2 },
    email: { type: 'string', format: 'email', title: 'E-mail', description: 'Where the receipt goes.' },
    seats: { type: 'integer', title: 'Seats', minimum: 1, maximum: 9, default: 2 },
    plan: { type: 'string', title: 'Plan', enum: ['basic', 'team'], enumNames: ['Basic', 'Team'] },
    newsletter: { type: 'boolean', title: 'Newsletter', default: false },
  },
  required: ['name', 'email'],
};

export const samplingRequest =
  '{"messages":[{"role":"user","content":{"type":"text","text":"Summarise the failing tests."}}],"systemPrompt":"You are terse.","maxTokens":400,"modelPreferences":{"hints":[{"name":"fast"}],"speedPriority":1.0}}';

/** One newly opened prompt of every kind. @type {Record<PromptName, PromptJson>} */
export const prompts = {
  approval: {
    promptId: 'p-approval',
    server: 'files',
    requestId: 'r-write',
    openTime: at(-3),
    toolApproval: {
      tool: 'write_file',
      title: 'Write a file',
      description: 'Writes text to a file.',
      argumentsJson: approvalArguments,
      definitionJson: '{"name":"write_file","description":"Writes text to a file."}',
      definitionHash: 'abc',
      destructiveHint: true,
    },
  },
  sampling: {
    promptId: 'p-sampling',
    server: 'review',
    requestId: 'r-sampling',
    parentRequestId: 'r-review',
    openTime: at(-3),
    sampling: { requestJson: samplingRequest },
  },
  form: {
    promptId: 'p-form',
    server: 'booking',
    requestId: 'r-form',
    parentRequestId: 'r-book',
    openTime: at(-3),
    elicitationForm: { message: 'Who is the booking for?', schemaJson: JSON.stringify(formSchema), requestJson: '{}' },
  },
  url: {
    promptId: 'p-url',
    server: 'booking',
    requestId: 'r-url',
    openTime: at(-3),
    elicitationUrl: {
      message: 'Please pay for the booking.',
      url: 'https://pay.example.com/checkout?order=81',
      urlHost: 'pay.example.com',
      requestJson: '{}',
    },
  },
  signin: {
    promptId: 'p-signin',
    server: 'tickets',
    requestId: 'r-signin',
    openTime: at(-3),
    signIn: {
      url: 'https://login.example.com/authorize?client_id=mcphub',
      urlHost: 'login.example.com',
      issuer: 'https://login.example.com',
      resource: 'https://mcp.example.com/',
      scopes: ['tickets:read', 'tickets:write'],
    },
  },
  launch: {
    promptId: 'p-launch',
    server: 'linter',
    requestId: 'r-launch',
    openTime: at(-3),
    serverLaunch: {
      command: 'npx',
      args: ['-y', 'lint-mcp@3', '--root', '/repos/my shop'],
      directory: '/repos/shop',
      environmentNames: ['LINT_LEVEL'],
      environmentReferences: ['GITHUB_TOKEN'],
      allowedTools: ['lint_*'],
      configFile: '/repos/shop/.vscode/mcp.json',
      configLine: 4,
      launchHash: 'def',
      inputReferences: ['lint-key'],
    },
  },
  input: {
    promptId: 'p-input',
    server: 'tickets',
    requestId: 'r-input',
    openTime: at(-3),
    configInput: {
      inputId: 'ticket-key',
      description: 'Key of the ticket system',
      secret: true,
      configFile: '/repos/shop/.vscode/mcp.json',
      configLine: 2,
    },
  },
};

/** @type {PromptName[]} */
export const promptNames = ['approval', 'sampling', 'form', 'url', 'signin', 'launch', 'input'];

/** The tools of the server "files". Their forms have fields of several types. @type {ToolJson[]} */
export const filesTools = [
  tool(
    'files',
    'index_folder',
    {
      type: 'object',
      properties: {
        path: { type: 'string', title: 'Folder', description: 'Which folder.' },
        depth: { type: 'integer', minimum: 0, default: 3 },
        hidden: { type: 'boolean', default: false },
      },
      required: ['path'],
    },
    { policy: 'APPROVAL_POLICY_ALLOW', title: 'Index a folder' },
  ),
  tool(
    'files',
    'write_file',
    { type: 'object', properties: { path: { type: 'string' }, text: { type: 'string' } }, required: ['path', 'text'] },
    { title: 'Write a file' },
  ),
  tool('files', 'list_roots', { type: 'object' }, { policy: 'APPROVAL_POLICY_DENY' }),
];

/** Returns a snapshot with servers and requests in many states, a question, and a history. @returns {SnapshotJson} */
export function busySnapshot() {
  return {
    servers: [
      server('files'),
      server('review', {
        era: 'ERA_MODERN',
        protocolRevision: '2026-07-28',
        transport: 'SERVER_TRANSPORT_HTTP',
        url: 'https://review.example.com/mcp',
        signIn: 'SIGN_IN_STATE_SIGNED_IN',
        processId: 0,
      }),
      server('booking', {
        state: 'SERVER_STATE_FAILED',
        failures: 2,
        nextStartTime: at(3),
        lastError: 'The process ended before it was ready.',
        lastExit: 'exit status 1 while it was starting',
        stderr: ['booking: cannot open /repos/shop/booking.db', 'booking: giving up'],
        processId: 0,
      }),
      server('tickets', {
        state: 'SERVER_STATE_STOPPED',
        transport: 'SERVER_TRANSPORT_HTTP',
        url: 'https://mcp.example.com/',
        signIn: 'SIGN_IN_STATE_NEEDED',
        processId: 0,
      }),
      server('linter', {
        state: 'SERVER_STATE_STOPPED',
        configScope: 'workspace',
        launchConsent: 'LAUNCH_CONSENT_NEEDED',
        processId: 0,
      }),
      server('old', { state: 'SERVER_STATE_DISABLED', processId: 0 }),
      server('typo', {
        state: 'SERVER_STATE_BROKEN',
        processId: 0,
        problems: [
          {
            file: '/repos/shop/.vscode/mcp.json',
            line: 40,
            column: 7,
            server: 'typo',
            key: 'comand',
            message: 'unknown key "comand"; did you mean "command"?',
            fatal: true,
          },
        ],
      }),
    ],
    requests: [
      request('r-index', { progress: { progress: 340, total: 1000, message: 'src/orders' } }),
      request('r-review', {
        server: 'review',
        tool: 'review_change',
        startTime: at(-12),
        state: 'REQUEST_STATE_TASK_WORKING',
        task: { taskId: 't-1', status: 'working', message: 'reading 12 files' },
      }),
      request('r-sampling', {
        server: 'review',
        direction: 'REQUEST_DIRECTION_INCOMING',
        method: 'sampling/createMessage',
        tool: '',
        parentRequestId: 'r-review',
        state: 'REQUEST_STATE_AWAITING_INPUT',
        startTime: at(-3),
      }),
      request('r-write', {
        tool: 'write_file',
        state: 'REQUEST_STATE_AWAITING_APPROVAL',
        startTime: at(-3),
        wireIdJson: '',
        openPromptIds: ['p-approval'],
      }),
      request('r-start', {
        server: 'booking',
        method: 'initialize',
        tool: '',
        state: 'REQUEST_STATE_CONNECTING',
        startTime: at(-1),
      }),
      request('r-slow', {
        tool: 'slow',
        state: 'REQUEST_STATE_CANCELLING',
        startTime: at(-90),
        cancellation: { origin: 'ORIGIN_USER', reason: 'took too long', time: at(-5) },
      }),
    ],
    prompts: [prompts.approval],
    problems: [
      {
        file: '/repos/shop/.cursor/mcp.json',
        line: 3,
        column: 1,
        message: 'a comma is missing after "servers"',
        fatal: true,
      },
    ],
    history: [
      finished('h-1', { resultJson: '{"content":[{"type":"text","text":"42 lines"}]}', resultSizeBytes: '47' }, -300),
      finished(
        'h-2',
        {
          isError: true,
          tool: 'write_file',
          resultJson: '{"content":[{"type":"text","text":"The disk is full."}],"isError":true}',
          resultSizeBytes: '66',
        },
        -240,
      ),
      finished(
        'h-3',
        {
          state: 'REQUEST_STATE_FAILED',
          server: 'booking',
          tool: 'book',
          hubError: {
            code: 'UNAVAILABLE',
            reason: 'SERVER_FAILED',
            message: 'The server "booking" has ended. Look at its stderr.',
          },
        },
        -200,
      ),
      finished(
        'h-4',
        { state: 'REQUEST_STATE_FAILED', mcpError: { code: '-32602', message: 'path is missing' } },
        -180,
      ),
      cancelled('h-5', {}, -120),
      cancelled(
        'h-6',
        {
          cancellation: { origin: 'ORIGIN_TIMEOUT', reason: 'no sign of life for 5 m', time: at(-61) },
          tool: 'slow',
          error: { code: 'DEADLINE_EXCEEDED', reason: 'IDLE_TIMEOUT', message: 'Raise timeouts.idle.' },
        },
        -60,
      ),
      cancelled(
        'h-7',
        {
          direction: 'REQUEST_DIRECTION_INCOMING',
          method: 'elicitation/create',
          tool: '',
          cancellation: { origin: 'ORIGIN_SERVER', reason: 'no longer needed', time: at(-31) },
          serverNotified: false,
          serverMayContinue: false,
        },
        -30,
      ),
    ],
  };
}
