// A client on the TypeScript SDK 2.x that calls tools by order and cancels the calls, as `node ordered.mjs ERA URL
// AUTHORIZATION`. ERA is legacy or auto. Each line on stdin is an order: {tag, tool, arguments, cancelAfter, reason,
// answerAfter}, with times in milliseconds; those below 0 are never. What becomes of it is written to stdout, one JSON
// line each: {event: "ended", tag, text} or {event: "ended", tag, cancelled, lost, error}, {event: "opened", dialog,
// question} and {event: "closed", dialog}. lost: no answer will come, since a connection broke. The client ends with
// stdin.
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, ProtocolError, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

process.removeAllListeners('warning'); // the SDK's one signal has a listener for each request until they are collected

const [mode, url, authorization] = process.argv.slice(2);
const say = event => process.stdout.write(JSON.stringify(event) + '\n');
const client = new Client(
    { name: `ordered ${process.pid}`, version: '1.0.0' },
    { capabilities: { elicitation: { form: {} }, sampling: {} }, versionNegotiation: { mode } },
);

// Connections may break. What may be sent twice is sent again, after a pause that doubles, and a call waits until few
// of these are left: on a busy machine nothing would get through beside them. A call that failed may have been read all
// the same, so that it is cancelled; in the modern era the gateway does so itself.
let again = 0;
async function sturdy(to, init) {
    for (let pause = 5; ; pause = Math.min(2 * pause, 1000)) {
        try {
            return await fetch(to, init);
        } catch (error) {
            if (init.signal?.aborted) throw error;
            const { id, method, params } = JSON.parse(init.body ?? '{}');
            if (method !== 'tools/call') {
                again++;
                await delay(pause);
                again--;
                continue;
            }
            if (mode === 'legacy') {
                const { reason } = orders.get(params._meta[tagKey]);
                const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id, reason } };
                void sturdy(to, { ...init, signal: undefined, body: JSON.stringify(cancel) });
            }
            throw error;
        }
    }
}

const orders = new Map();
const tagKey = 'mcphub.test/tag';
let dialogs = 0;

// A dialog is open until it is answered or taken back. One that the order leaves open is only ever taken back.
async function dialog(params, signal, answer) {
    const question = JSON.stringify(params);
    const tag = question.match(/t\d+x\d+z/)?.[0];
    const id = ++dialogs;
    say({ event: 'opened', dialog: id, question });
    try {
        const { answerAfter } = orders.get(tag) ?? { answerAfter: -1 };
        await delay(answerAfter < 0 ? 2 ** 31 - 1 : answerAfter, undefined, { signal });
        return answer(`answer of ${tag}`);
    } finally {
        say({ event: 'closed', dialog: id });
    }
}
client.setRequestHandler('elicitation/create', (request, ctx) =>
    dialog(request.params, ctx.mcpReq.signal, name => ({ action: 'accept', content: { name } })),
);
client.setRequestHandler('sampling/createMessage', (request, ctx) =>
    dialog(request.params, ctx.mcpReq.signal, text => ({ model: 'a model', role: 'assistant', content: { type: 'text', text } })),
);

async function run(order) {
    const { tag, tool, cancelAfter, reason } = order;
    orders.set(tag, order);
    while (again > 8) await delay(5);
    const stop = new AbortController();
    if (cancelAfter >= 0) setTimeout(() => stop.abort(reason), cancelAfter);
    try {
        const params = { name: tool, arguments: order.arguments, _meta: { [tagKey]: tag } };
        const result = await client.callTool(params, { signal: stop.signal, timeout: 600_000 });
        say({ event: 'ended', tag, text: result.content?.map(c => c.text ?? c.type).join('\n') });
    } catch (error) {
        const lost = !stop.signal.aborted && !(error instanceof ProtocolError);
        say({ event: 'ended', tag, cancelled: stop.signal.aborted, lost, error: String(error?.message ?? error) });
    }
}

await client.connect(
    new StreamableHTTPClientTransport(new URL(url), {
        fetch: sturdy,
        requestInit: { headers: { Authorization: authorization } },
        reconnectionOptions: { initialReconnectionDelay: 5, maxReconnectionDelay: 50, reconnectionDelayGrowFactor: 1.5, maxRetries: 2 },
    }),
);
await client.listTools();
say({ event: 'ready' });
for await (const line of createInterface({ input: process.stdin })) void run(JSON.parse(line));
await client.close();
process.exit(0);
