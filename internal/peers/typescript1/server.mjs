// A server on the TypeScript SDK 1.x, as `node server.mjs stdio|http`: legacy era over stdio, Streamable HTTP (with
// sessions) and SSE.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { InMemoryTaskMessageQueue, InMemoryTaskStore } from '@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CreateMessageResultSchema, ElicitResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { bodyOf, listen, note, watch } from '../journal.mjs';

const text = value => ({ content: [{ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) }] });
// A person may think for as long as the test wants; the SDK's own limit is a minute.
const patience = 10 * 60 * 1000;
const form = message => ({
    method: 'elicitation/create',
    params: { mode: 'form', message, requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } },
});

// noting runs a tool and writes down how it went. A tool that was cancelled throws, as the SDK's own examples do.
function noting(tool, run) {
    return async (args, extra) => {
        note({ event: 'started', tool, id: extra.requestId, session: extra.sessionId });
        try {
            const result = await run(args, extra);
            note({ event: 'finished', tool, id: extra.requestId });
            return result;
        } catch (error) {
            if (extra.signal.aborted) note({ event: 'cancelled', tool, id: extra.requestId, reason: extra.signal.reason });
            else note({ event: 'failed', tool, id: extra.requestId, reason: error });
            throw error;
        }
    };
}

async function slow({ ms, steps }, extra) {
    const progressToken = extra._meta?.progressToken;
    for (let i = 1; i <= steps; i++) {
        await delay(ms / steps, undefined, { signal: extra.signal });
        if (progressToken !== undefined)
            await extra.sendNotification({ method: 'notifications/progress', params: { progressToken, progress: i, total: steps } });
    }
    return text('done');
}

// A question goes out on the stream of the call that it belongs to.
async function ask({ about }, extra) {
    note({ event: 'asked', tool: 'ask' });
    return text(await extra.sendRequest(form(`Your name? ${about}`.trim()), ElicitResultSchema, { signal: extra.signal, timeout: patience }));
}

async function sample({ prompt }, extra) {
    note({ event: 'asked', tool: 'sample' });
    const params = { messages: [{ role: 'user', content: { type: 'text', text: prompt } }], maxTokens: 100 };
    const request = { method: 'sampling/createMessage', params };
    return text(await extra.sendRequest(request, CreateMessageResultSchema, { signal: extra.signal, timeout: patience }));
}

async function askThenWithdraw({ after, reason }, extra) {
    const withdrawal = new AbortController();
    const timer = setTimeout(() => {
        note({ event: 'withdrawn', tool: 'ask_then_withdraw', reason });
        withdrawal.abort(reason);
    }, after);
    note({ event: 'asked', tool: 'ask_then_withdraw' });
    try {
        const signal = AbortSignal.any([withdrawal.signal, extra.signal]);
        return text(await extra.sendRequest(form('Quick: your name?'), ElicitResultSchema, { signal, timeout: patience }));
    } catch (error) {
        if (!withdrawal.signal.aborted) throw error;
        return text('withdrawn');
    } finally {
        clearTimeout(timer);
    }
}

// inTask does the work of a task, and looks between the steps whether it was cancelled. The work outlives the request
// that began it.
async function inTask(tool, task, store, work) {
    note({ event: 'started', tool, task: task.taskId });
    const gone = async () => (await store.getTask(task.taskId)).status === 'cancelled';
    try {
        const result = await work(gone);
        if (await gone()) return note({ event: 'cancelled', tool, task: task.taskId });
        await store.storeTaskResult(task.taskId, 'completed', result);
        note({ event: 'finished', tool, task: task.taskId });
    } catch (error) {
        if (await gone()) return note({ event: 'cancelled', tool, task: task.taskId, reason: error });
        note({ event: 'failed', tool, task: task.taskId, reason: error });
        // With the session gone, the SDK cannot tell anybody, and says so by an error.
        await store.storeTaskResult(task.taskId, 'failed', { ...text(String(error)), isError: true }).catch(() => {});
    }
}

function taskTool(server, name, taskSupport, inputSchema, work) {
    const config = { description: `${name}, as a task`, inputSchema, execution: { taskSupport } };
    server.experimental.tasks.registerToolTask(name, config, {
        async createTask(args, extra) {
            const task = await extra.taskStore.createTask({ ttl: extra.taskRequestedTtl ?? 60_000, pollInterval: 50 });
            void inTask(name, task, extra.taskStore, gone => work(args, extra, task, gone));
            return { task };
        },
        getTask: (_, extra) => extra.taskStore.getTask(extra.taskId),
        getTaskResult: (_, extra) => extra.taskStore.getTaskResult(extra.taskId),
    });
}

const tasks = new InMemoryTaskStore();
const questions = new InMemoryTaskMessageQueue();

function makeServer() {
    const server = new McpServer(
        { name: 'peer-typescript1', version: '1.0.0' },
        {
            capabilities: { logging: {}, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } },
            taskStore: tasks,
            taskMessageQueue: questions,
        },
    );
    const slowly = { ms: z.number().default(10_000), steps: z.number().int().default(10) };
    server.registerTool('slow', { description: 'Works, with progress', inputSchema: slowly }, noting('slow', slow));
    server.registerTool('ask', { description: 'Asks by a form', inputSchema: { about: z.string().default('') } }, noting('ask', ask));
    server.registerTool('sample', { description: 'Asks the model', inputSchema: { prompt: z.string().default('Hello') } }, noting('sample', sample));
    const withdraw = { after: z.number().default(200), reason: z.string().default('no longer needed') };
    server.registerTool('ask_then_withdraw', { description: 'Takes its question back', inputSchema: withdraw }, noting('ask_then_withdraw', askThenWithdraw));
    taskTool(server, 'task', 'optional', slowly, async ({ ms, steps }, extra, task, gone) => {
        for (let i = 0; i < steps && !(await gone()); i++) await delay(ms / steps);
        return text('task done');
    });
    // Its question goes out on the stream of tasks/result alone, so a call that is no task could never be answered.
    taskTool(server, 'task_ask', 'required', {}, async (_, extra, task) => {
        note({ event: 'asked', tool: 'task_ask', task: task.taskId });
        await extra.taskStore.updateTaskStatus(task.taskId, 'input_required');
        return text(await extra.sendRequest(form('Your name, for the task?'), ElicitResultSchema, { timeout: patience, relatedTask: { taskId: task.taskId } }));
    });
    return server;
}

async function serveHTTP() {
    const sessions = new Map(); // by session id, of both transports
    async function begin() {
        const transport = new StreamableHTTPServerTransport({
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
        await makeServer().connect(transport);
        return transport;
    }
    async function beginSSE(res) {
        const transport = new SSEServerTransport('/messages', res);
        sessions.set(transport.sessionId, transport);
        transport.onclose = () => {
            sessions.delete(transport.sessionId);
            note({ event: 'closed', session: transport.sessionId });
        };
        await makeServer().connect(transport);
        note({ event: 'session', session: transport.sessionId });
    }
    const server = createServer(async (req, res) => {
        const url = new URL(req.url, 'http://localhost');
        const body = req.method === 'POST' ? await bodyOf(req) : undefined;
        watch(req, res, body);
        if (url.pathname === '/sse' && req.method === 'GET') return beginSSE(res);
        const id = url.pathname === '/messages' ? url.searchParams.get('sessionId') : req.headers['mcp-session-id'];
        const known = sessions.get(id);
        if (url.pathname === '/messages' && known) return known.handlePostMessage(req, res, body);
        if (url.pathname === '/mcp' && (known || (!id && req.method === 'POST'))) return (known ?? (await begin())).handleRequest(req, res, body);
        res.writeHead(404, { 'content-type': 'application/json' });
        res.end('{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}');
    });
    listen(server, { url: '/mcp', sseUrl: '/sse' });
}

if (process.argv[2] === 'http') await serveHTTP();
else await makeServer().connect(new StdioServerTransport());
