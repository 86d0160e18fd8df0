// A server on the TypeScript SDK 2.x, as `node server.mjs stdio|http`: both eras, over stdio and Streamable HTTP. Over
// HTTP a legacy client gets sessions, and a modern one none.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { NodeStreamableHTTPServerTransport, toNodeHandler, toWebRequest } from '@modelcontextprotocol/node';
import { createMcpHandler, inputRequired, isLegacyRequest, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';
import { bodyOf, listen, note, watch } from '../journal.mjs';

const text = value => ({ content: [{ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) }] });
// A person may think for as long as the test wants; the SDK's own limit is a minute.
const patience = 10 * 60 * 1000;
const form = message => ({
    mode: 'form',
    message,
    requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
});

// noting runs a tool and writes down how it went. A tool that was cancelled throws.
function noting(tool, run) {
    return async (args, ctx) => {
        const id = ctx.mcpReq.id;
        note({ event: 'started', tool, id, session: ctx.sessionId });
        try {
            const result = await run(args, ctx);
            note({ event: 'finished', tool, id, detail: result.resultType });
            return result;
        } catch (error) {
            if (ctx.mcpReq.signal.aborted) note({ event: 'cancelled', tool, id, reason: ctx.mcpReq.signal.reason });
            else note({ event: 'failed', tool, id, reason: error });
            throw error;
        }
    };
}

async function slow({ ms, steps }, ctx) {
    const progressToken = ctx.mcpReq._meta?.progressToken;
    for (let i = 1; i <= steps; i++) {
        await delay(ms / steps, undefined, { signal: ctx.mcpReq.signal });
        if (progressToken !== undefined)
            await ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress: i, total: steps } });
    }
    return text('done');
}

// asking puts a question: in the modern era by a result that asks for input, in the legacy one by a request of the
// server.
function asking(tool, question, legacy) {
    return async (args, ctx) => {
        if (ctx.mcpReq.envelope === undefined) {
            note({ event: 'asked', tool });
            return text(await legacy(args, ctx));
        }
        const answer = ctx.mcpReq.inputResponses?.answer;
        if (answer === undefined) {
            note({ event: 'asked', tool });
            return inputRequired({ inputRequests: { answer: question(args) }, requestState: `state of ${tool}` });
        }
        if (ctx.mcpReq.requestState() !== `state of ${tool}`) throw new Error('requestState was not echoed');
        return text(answer);
    };
}

const messages = ({ prompt }) => ({ messages: [{ role: 'user', content: { type: 'text', text: prompt } }], maxTokens: 100 });
const options = ctx => ({ signal: ctx.mcpReq.signal, timeout: patience });
const ask = asking(
    'ask',
    ({ about }) => inputRequired.elicit(form(`Your name? ${about}`.trim())),
    ({ about }, ctx) => ctx.mcpReq.elicitInput(form(`Your name? ${about}`.trim()), options(ctx)),
);
const sample = asking(
    'sample',
    args => inputRequired.createMessage(messages(args)),
    (args, ctx) => ctx.mcpReq.requestSampling(messages(args), options(ctx)),
);

// Only a legacy server can take a question back (2026-07-28 has no requests of the server).
async function askThenWithdraw({ after, reason }, ctx) {
    const withdrawal = new AbortController();
    const timer = setTimeout(() => {
        note({ event: 'withdrawn', tool: 'ask_then_withdraw', reason });
        withdrawal.abort(reason);
    }, after);
    note({ event: 'asked', tool: 'ask_then_withdraw' });
    try {
        const signal = AbortSignal.any([withdrawal.signal, ctx.mcpReq.signal]);
        return text(await ctx.mcpReq.elicitInput(form('Quick: your name?'), { signal, timeout: patience }));
    } catch (error) {
        if (!withdrawal.signal.aborted) throw error;
        return text('withdrawn');
    } finally {
        clearTimeout(timer);
    }
}

function makeServer({ era }) {
    const server = new McpServer({ name: 'peer-typescript2', version: '1.0.0' }, { capabilities: { logging: {} } });
    const slowly = z.object({ ms: z.number().default(10_000), steps: z.number().int().default(10) });
    server.registerTool('slow', { description: 'Works, with progress', inputSchema: slowly }, noting('slow', slow));
    server.registerTool('ask', { description: 'Asks by a form', inputSchema: z.object({ about: z.string().default('') }) }, noting('ask', ask));
    server.registerTool('sample', { description: 'Asks the model', inputSchema: z.object({ prompt: z.string().default('Hello') }) }, noting('sample', sample));
    if (era === 'legacy') {
        const withdraw = z.object({ after: z.number().default(200), reason: z.string().default('no longer needed') });
        server.registerTool('ask_then_withdraw', { description: 'Takes its question back', inputSchema: withdraw }, noting('ask_then_withdraw', askThenWithdraw));
    }
    return server;
}

function serveHTTP() {
    const modern = toNodeHandler(createMcpHandler(makeServer, { legacy: 'reject' }));
    const sessions = new Map();
    async function begin() {
        const transport = new NodeStreamableHTTPServerTransport({
            sessionIdGenerator: randomUUID,
            onsessioninitialized: id => {
                sessions.set(id, transport);
                note({ event: 'session', session: id });
            },
        });
        transport.onclose = () => {
            sessions.delete(transport.sessionId);
            note({ event: 'closed', session: transport.sessionId });
        };
        await makeServer({ era: 'legacy' }).connect(transport);
        return transport;
    }
    const server = createServer(async (req, res) => {
        const body = req.method === 'POST' ? await bodyOf(req) : undefined;
        watch(req, res, body);
        if (!(await isLegacyRequest(await toWebRequest(req, body), body))) return modern(req, res, body);
        const id = req.headers['mcp-session-id'];
        const known = sessions.get(id);
        if (known || (!id && req.method === 'POST')) return (known ?? (await begin())).handleRequest(req, res, body);
        res.writeHead(404, { 'content-type': 'application/json' });
        res.end('{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}');
    });
    listen(server, { url: '/mcp' });
}

if (process.argv[2] === 'http') serveHTTP();
else serveStdio(makeServer);
