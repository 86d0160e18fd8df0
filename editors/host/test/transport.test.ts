import assert from 'node:assert/strict';
import http2 from 'node:http2';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { create, toBinary } from '@bufbuild/protobuf';
import { HubError } from '../dist/failure.js';
import { frame } from './frames.js';
import { AttachResponseSchema, EditorService } from '../dist/gen/mcphub/v1/editor_pb.js';
import { CallToolResponseSchema, McpHubService } from '../dist/gen/mcphub/v1/hub_pb.js';
import { answer, serve } from './grpcserver.js';
import type { FakeServer, Handler } from './grpcserver.js';

const { callTool } = McpHubService.method;
const { attach } = EditorService.method;
const ok = toBinary(CallToolResponseSchema, create(CallToolResponseSchema, { requestId: 'r1' }));

async function fake(t: TestContext, handler: Handler, over: 'unix' | 'tcp' = 'unix'): Promise<FakeServer> {
  const server = await serve(handler, over);
  t.after(() => server.close());
  return server;
}

const failure = (promise: Promise<unknown>): Promise<HubError> =>
  promise.then(
    () => assert.fail('it should have failed'),
    (error: unknown) => (error instanceof HubError ? error : assert.fail(String(error))),
  );

test('a call carries method, deadline and metadata, and brings the answer; over TCP, too', async (t) => {
  for (const over of ['unix', 'tcp'] as const) {
    let seen: http2.IncomingHttpHeaders = {};
    const { channel } = await fake(
      t,
      (stream, headers) => {
        seen = headers;
        answer(stream, ok);
      },
      over,
    );
    assert.equal(
      (await channel.unary(callTool, {}, { timeoutMs: 3_600_000, headers: { traceparent: '00-1' } })).requestId,
      'r1',
    );
    assert.deepEqual(
      [seen[':path'], seen[':method'], seen['te'], seen['content-type'], seen['traceparent'], seen[':authority']],
      ['/mcphub.v1.McpHubService/CallTool', 'POST', 'trailers', 'application/grpc', '00-1', 'localhost'],
    );
    const [, left] = /^(\d+)m$/.exec(String(seen['grpc-timeout'])) ?? [];
    assert.ok(Number(left) > 0 && Number(left) <= 3_600_000, `the deadline in ms, less what has passed: ${left}`);
  }
});

test('what is no proper answer fails with what is wrong', async (t) => {
  const table: [string, Handler, string, string][] = [
    [
      'trailers only',
      (s) =>
        s.respond(
          { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '5', 'grpc-message': 'not%20here' },
          { endStream: true },
        ),
      'not_found',
      '',
    ],
    [
      'http status',
      (s) => {
        s.respond({ ':status': 503 });
        s.end('busy');
      },
      'unavailable',
      'PROTOCOL_ERROR',
    ],
    [
      'content type',
      (s) => {
        s.respond({ ':status': 200, 'content-type': 'text/html' });
        s.end('<p>');
      },
      'internal',
      'PROTOCOL_ERROR',
    ],
    [
      'compression by header',
      (s) => {
        s.respond({ ':status': 200, 'content-type': 'application/grpc', 'grpc-encoding': 'gzip' });
        s.end();
      },
      'internal',
      'PROTOCOL_ERROR',
    ],
    [
      'compressed flag',
      (s) => {
        s.respond({ ':status': 200, 'content-type': 'application/grpc' });
        s.write(Buffer.from([1, 0, 0, 0, 1, 0]));
      },
      'internal',
      'PROTOCOL_ERROR',
    ],
    [
      'beyond all bounds',
      (s) => {
        s.respond({ ':status': 200, 'content-type': 'application/grpc' });
        s.write(Buffer.from([0, 0xff, 0xff, 0xff, 0xff]));
      },
      'resource_exhausted',
      'RESULT_TOO_LARGE',
    ],
    ['no message', (s) => answer(s), 'internal', 'PROTOCOL_ERROR'],
    ['two messages', (s) => answer(s, ok, ok), 'internal', 'PROTOCOL_ERROR'],
    ['no protobuf', (s) => answer(s, Buffer.from([0xff, 0xff])), 'internal', 'PROTOCOL_ERROR'],
    [
      'no trailers',
      (s) => {
        s.respond({ ':status': 200, 'content-type': 'application/grpc' });
        s.end(frame(ok));
      },
      'internal',
      'PROTOCOL_ERROR',
    ],
    [
      'half a message',
      (s) => {
        s.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
        s.on('wantTrailers', () => s.sendTrailers({ 'grpc-status': '0' }));
        s.end(frame(ok).subarray(0, 6));
      },
      'internal',
      'PROTOCOL_ERROR',
    ],
    ['reset: refused', (s) => s.close(http2.constants.NGHTTP2_REFUSED_STREAM), 'unavailable', 'CONNECTION_LOST'],
    ['reset: cancel', (s) => s.close(http2.constants.NGHTTP2_CANCEL), 'cancelled', ''],
    ['reset: calm', (s) => s.close(http2.constants.NGHTTP2_ENHANCE_YOUR_CALM), 'resource_exhausted', ''],
    ['reset: error', (s) => s.close(http2.constants.NGHTTP2_INTERNAL_ERROR), 'internal', 'PROTOCOL_ERROR'],
    ['connection lost', (s) => s.session?.destroy(), 'unavailable', 'CONNECTION_LOST'],
  ];
  for (const [name, handler, code, reason] of table) {
    const { channel } = await fake(t, (stream) => {
      stream.on('error', () => {});
      handler(stream, {});
    });
    const error = await failure(channel.unary(callTool, {}));
    assert.deepEqual([error.code, error.reason], [code, reason], `${name}: ${error.message}`);
  }
});

test('nobody there is unavailable', async (t) => {
  const server = await fake(t, () => {});
  await server.close();
  assert.equal((await failure(server.channel.unary(callTool, {}))).code, 'unavailable');
});

test('an abort and a deadline reset the stream and are told at once', async (t) => {
  const resets: number[] = [];
  let reset = (): void => {};
  let arrived = (): void => {};
  const { channel } = await fake(t, (stream) => {
    arrived();
    stream.on('error', () => {});
    stream.on('close', () => {
      resets.push(stream.rstCode);
      reset();
    });
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' });
  });
  const closed = (): Promise<void> =>
    new Promise((resolve) => {
      reset = resolve;
    });
  let over = closed();
  const aborting = new AbortController();
  const there = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  const call = failure(channel.unary(callTool, {}, { signal: aborting.signal }));
  await there;
  aborting.abort();
  assert.equal((await call).code, 'cancelled');
  await over;
  over = closed();
  const again = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const late = failure(channel.unary(callTool, {}, { timeoutMs: 50 }));
  await again;
  t.mock.timers.tick(50);
  t.mock.timers.reset();
  assert.equal((await late).code, 'deadline_exceeded');
  await over;
  assert.deepEqual(resets, [http2.constants.NGHTTP2_CANCEL, http2.constants.NGHTTP2_CANCEL]);
  assert.equal((await failure(channel.unary(callTool, {}, { signal: AbortSignal.abort() }))).code, 'cancelled');
  assert.equal(resets.length, 2);
});

test('after GOAWAY what runs ends in its own time, and the next call dials anew', async (t) => {
  const waiting: http2.ServerHttp2Stream[] = [];
  let arrived = (): void => {};
  const server = await fake(t, (stream) => {
    if (server.sessions.length === 1) {
      waiting.push(stream);
      arrived();
    } else {
      answer(stream, ok);
    }
  });
  const there = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  const first = server.channel.unary(callTool, {});
  await there;
  const [session] = server.sessions;
  assert.ok(session !== undefined);
  session.goaway(http2.constants.NGHTTP2_NO_ERROR);
  // The ack of a PING is sent after the GOAWAY, so the client has read the GOAWAY when the ack has come.
  await new Promise<void>((resolve, reject) => session.ping((error) => (error === null ? resolve() : reject(error))));
  assert.equal((await server.channel.unary(callTool, {})).requestId, 'r1');
  assert.equal(server.sessions.length, 2);
  const [stream] = waiting;
  assert.ok(stream !== undefined);
  answer(stream, ok);
  assert.equal((await first).requestId, 'r1');
});

test('a stream that nobody reads stops its sender and holds up no call', async (t) => {
  const event = frame(
    toBinary(
      AttachResponseSchema,
      create(AttachResponseSchema, { event: { case: 'toolsChanged', value: { server: 'x'.repeat(10_000) } } }),
    ),
  );
  let sent = 0;
  const { channel } = await fake(t, (stream, headers) => {
    if (headers[':path'] !== '/mcphub.v1.EditorService/Attach') {
      answer(stream, ok);
      return;
    }
    stream.on('error', () => {});
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' });
    const pump = (): void => {
      while (!stream.destroyed && stream.write(event)) {
        sent += event.byteLength;
      }
      sent += event.byteLength;
      stream.once('drain', pump);
    };
    pump();
  });
  let got = 0;
  let began = (): void => {};
  const first = new Promise<void>((resolve) => {
    began = resolve;
  });
  const duplex = channel.open(
    attach,
    {},
    {
      message: () => {
        if (got++ === 0) {
          duplex.pause();
          began();
        }
      },
      end: () => {},
    },
  );
  await first;
  for (let i = 0; i < 50; i++) {
    // Each call is a round trip, so a sender that is not stopped would have time to send.
    assert.equal((await channel.unary(callTool, {})).requestId, 'r1');
  }
  const before = sent;
  assert.ok(before < 16 << 20, `${before} bytes were sent to a stream that nobody reads`);
  for (let i = 0; i < 50; i++) {
    await channel.unary(callTool, {});
  }
  assert.equal(sent, before);
  duplex.resume();
  while (sent === before) {
    await channel.unary(callTool, {});
  }
  duplex.cancel(new HubError('cancelled', '', ''));
});
