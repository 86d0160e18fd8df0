// A small gRPC server over node:http2, which can send what a correct server would not send.
import http2 from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Channel } from '../dist/transport.js';
import { frame } from './frames.js';

export type Handler = (stream: http2.ServerHttp2Stream, headers: http2.IncomingHttpHeaders) => void;

export interface FakeServer {
  readonly channel: Channel;
  readonly sessions: http2.ServerHttp2Session[];
  /** Breaks the connections, as when the process is killed. */
  sever(): void;
  close(): Promise<void>;
}

/** Answers a call with these messages and the status OK. */
export function answer(stream: http2.ServerHttp2Stream, ...messages: Uint8Array[]): void {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  stream.on('error', () => {});
  for (const message of messages) {
    stream.write(frame(message));
  }
  stream.end();
}

/** Serves on a Unix socket of its own, or on a TCP port of the loopback address. */
export async function serve(handler: Handler, over: 'unix' | 'tcp' = 'unix'): Promise<FakeServer> {
  const directory = mkdtempSync(join(tmpdir(), 'mcphub-fake-'));
  const sessions: http2.ServerHttp2Session[] = [];
  const server = http2.createServer();
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  server.on('session', (session) => {
    sessions.push(session);
    session.on('error', () => {});
  });
  server.on('stream', handler);
  const path = join(directory, 's');
  await new Promise<void>((resolve) =>
    over === 'unix' ? server.listen(path, resolve) : server.listen(0, '127.0.0.1', resolve),
  );
  const address = over === 'unix' ? path : `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const channel = new Channel({ network: over, address, tls: undefined });
  return {
    channel,
    sessions,
    sever: () => sockets.forEach((socket) => socket.destroy()),
    close: async () => {
      channel.close();
      for (const session of sessions) {
        session.destroy();
      }
      await new Promise((resolve) => server.close(resolve));
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
