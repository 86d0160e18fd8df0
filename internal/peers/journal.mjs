// The journal of a server: one JSON line per event, so that a test can look at what the server saw, and not only at
// what came back.
//
// It goes to the file that PEER_JOURNAL names, or to stderr. A server over HTTP uses stderr, which its fixture reads;
// one over stdio a file, since its stderr belongs to the hub. A line is written at once: what was seen before a kill is
// not lost.
import { appendFileSync, writeSync } from 'node:fs';

const file = process.env.PEER_JOURNAL;

// tagKey is the member of a request's _meta that goes into the journal, so that a test knows its call again.
const tagKey = 'mcphub.test/tag';

// note writes one event: {event, tool?, method?, id?, session?, http?, reason?, detail?}. What is undefined is left
// out.
export function note(event) {
    const line = JSON.stringify({ ...event, reason: text(event.reason), detail: text(event.detail) }) + '\n';
    if (file) appendFileSync(file, line);
    else writeSync(2, line);
}

// text makes a reason of what was thrown: SDKs abort with strings and with errors.
function text(reason) {
    if (reason === undefined || reason === null) return undefined;
    return reason instanceof Error ? `${reason.name}: ${reason.message}` : String(reason);
}

// watch notes an HTTP exchange: that it came, and that the server ended its answer, or the client went away before
// that.
export function watch(req, res, body) {
    for (const m of Array.isArray(body) ? body : [body]) {
        const about = {
            http: req.method,
            session: req.headers['mcp-session-id'] ?? new URL(req.url, 'http://localhost').searchParams.get('sessionId') ?? undefined,
            method: m?.method ?? (m && 'id' in m ? 'response' : undefined),
            id: m?.id ?? m?.params?.requestId,
        };
        note({ event: 'request', ...about, tool: m?.params?.name, reason: m?.params?.reason, revision: req.headers['mcp-protocol-version'], lastEventId: req.headers['last-event-id'], tag: m?.params?._meta?.[tagKey] });
        res.on('close', () => {
            note({ event: res.writableFinished ? 'answered' : 'disconnected', ...about });
        });
    }
}

// listen serves on a free port of this machine and says where, in one line on stdout. It ends with its stdin, so that
// no server outlives the process that started it. It closes no idle connection: a request that meets the close is lost,
// and on a busy machine many would.
export function listen(server, paths) {
    server.keepAliveTimeout = 0;
    server.listen(0, '127.0.0.1', () => {
        const base = `http://127.0.0.1:${server.address().port}`;
        const urls = Object.fromEntries(Object.entries(paths).map(([name, path]) => [name, base + path]));
        writeSync(1, JSON.stringify(urls) + '\n');
    });
    process.stdin.resume().on('end', () => process.exit(0));
}

// bodyOf reads a request's JSON; undefined for none, and for what is no JSON.
export async function bodyOf(req) {
    const chunks = [];
    for await (const chunk of req) chunks.push(chunk);
    try {
        return JSON.parse(Buffer.concat(chunks).toString());
    } catch {
        return undefined;
    }
}
