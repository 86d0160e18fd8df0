import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { create, toBinary } from '@bufbuild/protobuf';
import { frame } from './frames.js';
import { AttachResponseSchema, EditorService } from '../dist/gen/mcphub/v1/editor_pb.js';
import { CallToolResponseSchema, McpHubService } from '../dist/gen/mcphub/v1/hub_pb.js';
import { answer, serve } from './grpcserver.js';
import type { FakeServer, Handler } from './grpcserver.js';
import { failure, long } from './stage.js';

const { callTool } = McpHubService.method;
const { attach } = EditorService.method;
const ok = toBinary(CallToolResponseSchema, create(CallToolResponseSchema, { requestId: 'r1' }));
const grpc = { ':status': 200, 'content-type': 'application/grpc' };

async function fake(t: TestContext, handler: Handler): Promise<FakeServer> {
  const server = await serve(handler);
  t.after(() => server.close());
  return server;
}

test('a long text that is no UTF-8 is refused, whenever the status comes', async (t) => {
  const bad = toBinary(
    CallToolResponseSchema,
    create(CallToolResponseSchema, { outcome: { case: 'resultJson', value: 'a'.repeat(3 << 20) } }),
  );
  bad[100] = 0xff;
  for (const status of ['0', '13', 'late']) {
    let end = (): void => {};
    let written = (): void => {};
    const there = new Promise<void>((resolve) => {
      written = resolve;
    });
    const { channel } = await fake(t, (stream, headers) => {
      stream.on('error', () => {});
      if (headers['other'] !== undefined) {
        answer(stream, ok);
        return;
      }
      stream.respond(grpc, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': status === 'late' ? '0' : status }));
      if (status === 'late') {
        stream.write(frame(bad), () => written());
        end = () => stream.end();
      } else {
        stream.end(frame(bad));
      }
    });
    const failed = failure(channel.unary(callTool, {}));
    if (status === 'late') {
      await there;
      // The answer of another call follows the message on the same connection: the host has begun to decode.
      await channel.unary(callTool, {}, { headers: { other: '1' } });
      end();
    }
    const error = await failed;
    assert.deepEqual(
      [error.code, error.reason],
      status === '13' ? ['internal', ''] : ['internal', 'PROTOCOL_ERROR'],
      status,
    );
  }
});

test("what cannot be sent is the caller's mistake, and opens no stream", async (t) => {
  let streams = 0;
  const { channel } = await fake(t, (stream) => {
    streams++;
    answer(stream, ok);
  });
  assert.equal(
    (await failure(channel.unary(McpHubService.method.getTrace, { maxTraces: 1.5 }))).code,
    'invalid_argument',
  );
  for (const headers of [{ 'bad name': 'x' }, { name: 'line\nbreak' }, { connection: 'close' }]) {
    assert.equal(
      (await failure(channel.unary(callTool, {}, { headers }))).code,
      'invalid_argument',
      JSON.stringify(headers),
    );
  }
  assert.equal((await failure(channel.unary(callTool, {}, { timeoutMs: Number.NaN }))).code, 'invalid_argument');
  assert.equal(streams, 0);
  assert.equal((await channel.unary(callTool, {})).requestId, 'r1', 'the connection has not suffered');
});

test('a message of a window that cannot be sent throws a HubError and leaves the stream as it was', async (t) => {
  const got: number[] = [];
  const { channel } = await fake(t, (stream) => {
    stream.on('error', () => {});
    stream.respond(grpc);
    stream.on('data', (chunk: Buffer) => {
      got.push(chunk.byteLength);
      stream.write(frame(toBinary(AttachResponseSchema, create(AttachResponseSchema, {}))));
    });
  });
  let came = (): void => {};
  const answered = new Promise<void>((resolve) => {
    came = resolve;
  });
  const duplex = channel.open(attach, {}, { message: () => came(), end: () => {} });
  assert.throws(() => duplex.send({ message: { case: 'hello', value: { maxProgressRate: 1.5 } } }), {
    name: 'HubError',
    code: 'invalid_argument',
  });
  assert.equal(duplex.send({ messageId: 'm' }), true);
  await answered;
  assert.equal(got.length, 1);
});

test('a long explanation arrives, and one beyond what a connection takes is no reason to hang', async (t) => {
  const { channel } = await fake(t, (stream, headers) => {
    stream.on('error', () => {});
    if (headers['size'] === undefined) {
      answer(stream, ok);
    } else {
      stream.respond(
        { ...grpc, 'grpc-status': '9', 'grpc-message': 'x'.repeat(Number(headers['size'])) },
        { endStream: true },
      );
    }
  });
  const whole = await failure(channel.unary(callTool, {}, { headers: { size: '12000' } }));
  assert.deepEqual([whole.code, whole.message.length], ['failed_precondition', 12_000]);
  const beyond = await failure(channel.unary(callTool, {}, { headers: { size: '300000' }, timeoutMs: long }));
  assert.notEqual(beyond.code, 'deadline_exceeded', beyond.message);
});

test('calls that run when the connection breaks end, and those that start in that moment do, too', async (t) => {
  const server = await fake(t, (stream) => {
    stream.on('error', () => {});
    if (server.sessions.length > 1) {
      answer(stream, ok);
    } else if (++arrived === 20) {
      server.sever();
      all();
    }
  });
  let arrived = 0;
  let all = (): void => {};
  const broken = new Promise<void>((resolve) => {
    all = resolve;
  });
  const running = Array.from({ length: 20 }, () =>
    server.channel.unary(callTool, {}).then(
      () => 'ok',
      (error: unknown) => (error as { reason: string }).reason,
    ),
  );
  await broken;
  const late = Array.from({ length: 20 }, () =>
    server.channel.unary(callTool, {}).then(
      () => 'ok',
      (error: unknown) => (error as { reason: string }).reason,
    ),
  );
  assert.deepEqual(new Set(await Promise.all(running)), new Set(['CONNECTION_LOST']));
  assert.ok((await Promise.all(late)).every((end) => end === 'ok' || end === 'CONNECTION_LOST'));
  assert.equal((await server.channel.unary(callTool, {})).requestId, 'r1');
});

test('a GOAWAY with an error ends what runs, and the next call dials anew', async (t) => {
  const server = await fake(t, (stream) => {
    stream.on('error', () => {});
    if (server.sessions.length > 1) {
      answer(stream, ok);
    } else {
      stream.session?.goaway(0xb, 0); // ENHANCE_YOUR_CALM, and this stream was not processed
    }
  });
  assert.equal((await failure(server.channel.unary(callTool, {}))).code, 'resource_exhausted');
  assert.equal((await server.channel.unary(callTool, {})).requestId, 'r1');
});
