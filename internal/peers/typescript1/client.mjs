// A client on the TypeScript SDK 1.x, as `node client.mjs PREFIX http URL AUTHORIZATION` or `node client.mjs PREFIX
// stdio COMMAND ARGS...`.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema, CreateMessageRequestSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { answering, play } from '../scenario.mjs';

const [prefix, way, ...rest] = process.argv.slice(2);
const transport =
    way === 'http'
        ? new StreamableHTTPClientTransport(new URL(rest[0]), { requestInit: { headers: { Authorization: rest[1] } } })
        : new StdioClientTransport({ command: rest[0], args: rest.slice(1), env: process.env, stderr: 'inherit' });
const client = new Client({ name: 'typescript1', version: '1.0.0' }, { capabilities: { elicitation: { form: {} }, sampling: {} } });
const { questions, elicit, sample } = answering();
client.setRequestHandler(ElicitRequestSchema, (_, extra) => elicit(extra.signal));
client.setRequestHandler(CreateMessageRequestSchema, () => sample());
await client.connect(transport);
await play(
    {
        list: async () => (await client.listTools()).tools,
        call: (name, args, options) => client.callTool({ name, arguments: args }, CallToolResultSchema, { timeout: 600_000, ...options }),
        prompts: async () => (await client.listPrompts()).prompts,
        prompt: name => client.getPrompt({ name }),
        resources: async () => (await client.listResources()).resources,
        read: uri => client.readResource({ uri }),
        close: async () => {
            if (way === 'http') await transport.terminateSession();
            await client.close();
        },
    },
    prefix,
    questions,
);
