// A fake hub for what the real one does not do: faults at the start, and running on after its host. It runs as a
// program, and FAKE_HUB says how it behaves.
import http2 from 'node:http2';
import type net from 'node:net';
import { join } from 'node:path';
import { X509Certificate } from 'node:crypto';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import type { DescMessage, MessageInitShape } from '@bufbuild/protobuf';
import { selfSigned } from '../dist/certificate.js';
import { Deframer, frame } from './frames.js';
import { AttachRequestSchema, AttachResponseSchema } from '../dist/gen/mcphub/v1/editor_pb.js';
import {
  CallToolRequestSchema,
  CallToolResponseSchema,
  DrainResponseSchema,
  GetInfoResponseSchema,
} from '../dist/gen/mcphub/v1/hub_pb.js';
import { isAlive } from '../dist/liveness.js';

const mode = process.env['FAKE_HUB'] ?? 'serve';
const host = process.ppid;
const graceMs = Number.parseInt(process.env['MCPHUB_RETURN_GRACE'] ?? '1000', 10);
const long = { ascii: 'a'.repeat(32 << 20), beyond: 'aé'.repeat((32 << 20) / 3) };

switch (mode) {
  case 'silent':
    console.error('{"@level":"info","@message":"fake hub is silent"}');
    setInterval(() => {}, 1000);
    break;
  case 'junk':
    console.log('hello, I am a web server');
    setInterval(() => {}, 1000);
    break;
  case 'exit':
    console.error('{"@level":"error","@message":"the hub did not start: no disk"}');
    process.exitCode = 3;
    break;
  case 'version':
    serve('1|2|');
    break;
  case 'slow':
    setTimeout(() => serve('1|1|'), 300);
    break;
  default:
    serve('1|1|');
}

function serve(versions: string): void {
  const clientCert = process.env['PLUGIN_CLIENT_CERT'];
  const own = selfSigned();
  const server =
    clientCert === undefined
      ? http2.createServer()
      : http2.createSecureServer({ ...own, ca: clientCert, requestCert: true, rejectUnauthorized: true });
  const connections = new Set<net.Socket>();
  server.on(clientCert === undefined ? 'connection' : 'secureConnection', (socket: net.Socket) => {
    connections.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => {
      connections.delete(socket);
      setTimeout(() => {
        if (connections.size === 0 && !isAlive(host)) {
          process.exit(0);
        }
      }, graceMs);
    });
  });
  server.on('session', (session) => session.on('error', () => {}));
  server.on('stream', (stream: http2.ServerHttp2Stream, headers: http2.IncomingHttpHeaders) => {
    stream.on('error', () => {});
    handle(stream, headers[':path'] ?? '');
  });
  if (mode === 'dropdead') {
    server.on('connection', () => process.exit(4));
  }
  const path = join(process.env['PLUGIN_UNIX_SOCKET_DIR'] ?? '.', 'plugin1');
  server.listen(path, () => {
    const cert =
      clientCert === undefined
        ? ''
        : new X509Certificate(mode === 'othercert' ? selfSigned().cert : own.cert).raw
            .toString('base64')
            .replace(/=+$/, '');
    console.log(`${versions}unix|${path}|grpc|${cert}`);
    console.error('{"@level":"info","@message":"fake hub serves"}');
  });
}

function handle(stream: http2.ServerHttp2Stream, path: string): void {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  const messages = new Deframer((bytes) => {
    switch (path) {
      case '/mcphub.v1.McpHubService/GetInfo':
        finish(stream, GetInfoResponseSchema, {
          processId: mode === 'imposter' ? 1 : process.pid,
          hubId: `fake-${process.pid}`,
          version: mode === 'old' ? '0.0.9' : '',
        });
        break;
      case '/mcphub.v1.McpHubService/CallTool':
        answerCall(stream, fromBinary(CallToolRequestSchema, bytes).tool);
        break;
      case '/mcphub.v1.McpHubService/Drain':
        if (mode !== 'deaf') {
          finish(stream, DrainResponseSchema, {});
        }
        break;
      case '/plugin.GRPCController/Shutdown':
        if (mode !== 'deaf') {
          process.exit(0);
        }
        break;
      case '/mcphub.v1.EditorService/Attach': {
        const { message, messageId } = fromBinary(AttachRequestSchema, bytes);
        if (message.case === 'hello') {
          say(stream, {
            event: {
              case: 'welcome',
              value: {
                hubId: `fake-${process.pid}`,
                version: mode === 'old' ? '0.0.9' : '',
                windowId: message.value.windowId,
              },
            },
          });
          say(stream, { event: { case: 'snapshot', value: {} } });
        } else if (messageId !== '') {
          say(stream, { event: { case: 'reply', value: { messageId } } });
        }
        break;
      }
      default: // StreamStdio stays open
    }
  });
  stream.on('data', (chunk: Buffer) => messages.push(chunk));
  stream.on('end', () => {
    if (path === '/mcphub.v1.EditorService/Attach') {
      stream.end();
    }
  });
}

// A tool is named after the text that it answers. Any other tool never answers.
function answerCall(stream: http2.ServerHttp2Stream, tool: string): void {
  if (tool === 'ascii' || tool === 'beyond') {
    finish(stream, CallToolResponseSchema, { outcome: { case: 'resultJson', value: long[tool] } });
  }
}

function say(stream: http2.ServerHttp2Stream, init: MessageInitShape<typeof AttachResponseSchema>): void {
  stream.write(frame(toBinary(AttachResponseSchema, create(AttachResponseSchema, init))));
}

function finish<D extends DescMessage>(stream: http2.ServerHttp2Stream, schema: D, init: MessageInitShape<D>): void {
  stream.end(frame(toBinary(schema, create(schema, init))));
}
