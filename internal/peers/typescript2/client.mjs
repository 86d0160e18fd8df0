// A client on the TypeScript SDK 2.x, as `node client.mjs PREFIX ERA http URL AUTHORIZATION` or `node client.mjs PREFIX
// ERA stdio COMMAND ARGS...`. ERA is legacy or auto.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { answering, play } from '../scenario.mjs';

const [prefix, mode, way, ...rest] = process.argv.slice(2);
const transport =
    way === 'http'
        ? new StreamableHTTPClientTransport(new URL(rest[0]), { requestInit: { headers: { Authorization: rest[1] } } })
        : new StdioClientTransport({ command: rest[0], args: rest.slice(1), env: process.env, stderr: 'inherit' });
const client = new Client(
    { name: 'typescript2', version: '1.0.0' },
    { capabilities: { elicitation: { form: {} }, sampling: {} }, versionNegotiation: { mode } },
);
const { questions, elicit, sample } = answering();
client.setRequestHandler('elicitation/create', (_, ctx) => elicit(ctx.mcpReq.signal));
client.setRequestHandler('sampling/createMessage', () => sample());
await client.connect(transport);
await play(
    {
        list: async () => (await client.listTools()).tools,
        call: (name, args, options) => client.callTool({ name, arguments: args }, { timeout: 600_000, ...options }),
        prompts: async () => (await client.listPrompts()).prompts,
        prompt: name => client.getPrompt({ name }),
        resources: async () => (await client.listResources()).resources,
        read: uri => client.readResource({ uri }),
        close: () => client.close(),
    },
    prefix,
    questions,
);
