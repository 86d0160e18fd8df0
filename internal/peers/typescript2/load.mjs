// A client on the TypeScript SDK 2.x that calls a tool all the time, as `node load.mjs TOOL ARGUMENTS stdio COMMAND
// ARGS...` or `node load.mjs TOOL ARGUMENTS http URL AUTHORIZATION`. A line "run N" on stdin keeps N calls under way
// until the line "stop", behind which it says on stdout how many there were.
import { createInterface } from 'node:readline';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const [name, args, way, target, ...rest] = process.argv.slice(2);
const client = new Client({ name: 'load', version: '1.0.0' }, { versionNegotiation: { mode: 'legacy' } });
await client.connect(
    way === 'http'
        ? new StreamableHTTPClientTransport(new URL(target), { requestInit: { headers: { Authorization: rest[0] } } })
        : new StdioClientTransport({ command: target, args: rest, env: process.env, stderr: 'inherit' }),
);
const call = { name, arguments: JSON.parse(args) };
let calls = 0;
let stopped = true;
let running = [];

const loop = async () => {
    while (!stopped) {
        const result = await client.callTool(call);
        if (result.isError) {
            throw new Error(JSON.stringify(result));
        }
        calls++;
    }
};
for await (const line of createInterface({ input: process.stdin })) {
    const [order, n] = line.split(' ');
    if (order === 'run') {
        calls = 0;
        stopped = false;
        running = Array.from({ length: Number(n) }, loop);
    } else {
        stopped = true;
        await Promise.all(running);
        console.log(calls);
    }
}
await client.close();
