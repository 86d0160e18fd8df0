// The outer frame of views: it has one URL, one text, and the policy that the request asks for, which must begin with
// default-src 'none'.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { ViewFrames } from '../dist/viewframes.js';

/** The most connections that the port accepts. */
const most = 256;

const policy = "default-src 'none'; script-src 'unsafe-inline'";

test('the frame is served at its own address alone, with the policy of the view and the own one', async () => {
  const frames = await ViewFrames.open('<p>frame</p>');
  try {
    assert.match(frames.address, /^http:\/\/127\.0\.0\.1:\d+\/[\w-]{24}$/u);
    const get = (address: string, csp: string, method = 'GET'): Promise<Response> =>
      fetch(`${address}?csp=${encodeURIComponent(csp)}`, { method });
    const answer = await get(frames.address, policy);
    assert.equal(answer.status, 200);
    assert.equal(await answer.text(), '<p>frame</p>');
    assert.equal(answer.headers.get('Content-Security-Policy'), `${policy}, sandbox allow-scripts allow-same-origin`);
    assert.match(answer.headers.get('Permissions-Policy') ?? '', /camera=\(\)/u);
    const origin = new URL(frames.address).origin;
    for (const refused of [
      get(origin, policy),
      get(`${frames.address}/x`, policy),
      get(frames.address, policy, 'POST'),
      get(frames.address, ''),
      get(frames.address, 'default-src *'),
      get(frames.address, `${policy}\r\nSet-Cookie: a=b`),
      get(frames.address, policy + 'x'.repeat(9000)),
    ]) {
      const { status, headers } = await refused;
      assert.equal(status, 404);
      assert.equal(headers.get('Content-Security-Policy'), "default-src 'none'; frame-ancestors 'none'");
    }
  } finally {
    await frames.close();
  }
  await assert.rejects(fetch(frames.address));
});

test('connections beyond the bound are ended, and those within it are answered', async () => {
  const frames = await ViewFrames.open('<p>frame</p>');
  const held: Socket[] = [];
  try {
    const { hostname, port } = new URL(frames.address);
    const opened = async (): Promise<Socket> => {
      const socket = connect(Number(port), hostname);
      held.push(socket);
      await once(socket, 'connect');
      return socket;
    };
    const first = await opened();
    for (let n = 1; n < most; n++) {
      await opened();
    }
    await once((await opened()).resume(), 'close');
    first.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    const [said] = (await once(first, 'data')) as [Buffer];
    assert.match(said.toString(), /^HTTP\/1\.1 404 /u);
  } finally {
    for (const socket of held) {
      socket.destroy();
    }
    await frames.close();
  }
});
