import assert from 'node:assert/strict';
import { X509Certificate, createPrivateKey } from 'node:crypto';
import { test } from 'node:test';
import { selfSigned } from '../dist/certificate.js';
import { HubError } from '../dist/failure.js';
import { hubEnvironment, oldestHub, parseHandshake, serves } from '../dist/handshake.js';

const der = new X509Certificate(selfSigned().cert).raw.toString('base64').replace(/=+$/, ''); // as go-plugin writes it

test('a handshake line is read, with and without a certificate', () => {
  assert.deepEqual(parseHandshake('1|1|unix|/tmp/x/plugin1|grpc|\r\n', false), {
    network: 'unix',
    address: '/tmp/x/plugin1',
    serverCert: undefined,
  });
  const secure = parseHandshake(`1|1|tcp|127.0.0.1:10123|grpc|${der}|false`, true);
  assert.equal(secure.address, '127.0.0.1:10123');
  assert.equal(new X509Certificate(secure.serverCert ?? '').subject, 'CN=localhost');
});

test('a line that this host cannot work with is refused with the reason', () => {
  for (const [line, tls, reason] of [
    ['hello', false, 'HANDSHAKE_JUNK'],
    ['', false, 'HANDSHAKE_JUNK'],
    ['1|1|unix', false, 'HANDSHAKE_JUNK'],
    ['one|1|unix|/x|grpc|', false, 'HANDSHAKE_JUNK'],
    ['1|1|unix|/x|netrpc|', false, 'HANDSHAKE_JUNK'],
    ['1|1|unix|/x', false, 'HANDSHAKE_JUNK'],
    ['1|1|pipe|/x|grpc|', false, 'HANDSHAKE_JUNK'],
    ['1|1|unix||grpc|', false, 'HANDSHAKE_JUNK'],
    ['1|1|tcp|localhost|grpc|', false, 'HANDSHAKE_JUNK'],
    ['2|1|unix|/x|grpc|', false, 'PROTOCOL_VERSION'],
    ['1|9|unix|/x|grpc|', false, 'PROTOCOL_VERSION'],
    ['1|1|unix|/x|grpc|', true, 'TLS'],
    [`1|1|unix|/x|grpc|${der}`, false, 'TLS'],
  ] as const) {
    assert.throws(
      () => parseHandshake(line, tls),
      (error) => error instanceof HubError && error.reason === reason,
      line,
    );
  }
});

test('the environment carries the handshake and nothing of another go-plugin', () => {
  const env = hubEnvironment(
    { PATH: '/bin', PLUGIN_MULTIPLEX_GRPC: 'true', PLUGIN_CLIENT_CERT: 'old', PLUGIN_MIN_PORT: '1' },
    { MCPHUB_LOG: 'debug' },
    {
      socketDirectory: '/tmp/mcphub-1',
      clientCert: undefined,
      returnGraceMs: 1500,
      program: 'an editor',
    },
  );
  assert.deepEqual(Object.keys(env).sort(), [
    'MCPHUB_HOST_PID',
    'MCPHUB_HOST_PROGRAM',
    'MCPHUB_LOG',
    'MCPHUB_PLAINTEXT',
    'MCPHUB_PLUGIN_COOKIE',
    'MCPHUB_RETURN_GRACE',
    'PATH',
    'PLUGIN_PROTOCOL_VERSIONS',
    'PLUGIN_UNIX_SOCKET_DIR',
  ]);
  assert.equal(env['PLUGIN_PROTOCOL_VERSIONS'], '1');
  assert.equal(env['MCPHUB_RETURN_GRACE'], '1500ms');
  assert.equal(env['MCPHUB_HOST_PROGRAM'], 'an editor');
});

test('the certificate is a whole one: self-signed, for localhost, its own authority, with a key that fits', () => {
  for (const now of [new Date('2026-01-02T03:04:05Z'), new Date('2061-01-01T00:00:00Z')]) {
    const { cert, key } = selfSigned(now);
    const x509 = new X509Certificate(cert);
    assert.ok(x509.verify(x509.publicKey));
    assert.ok(x509.checkPrivateKey(createPrivateKey(key)));
    assert.ok(x509.ca);
    assert.equal(x509.checkHost('localhost'), 'localhost');
    assert.ok(new Date(x509.validFrom) < now && now < new Date(x509.validTo));
  }
  assert.notEqual(
    new X509Certificate(selfSigned().cert).serialNumber,
    new X509Certificate(selfSigned().cert).serialNumber,
  );
});

test('a hub is new enough by its three numbers alone', () => {
  for (const version of ['0.1.0', '0.1.0-dev', '0.1.1', '0.2.0-rc.1', '1.0.0', '', 'mine', oldestHub]) {
    assert.ok(serves(version, '0.1.0'), version);
  }
  for (const version of ['0.0.9', '0.0.10', '0.0.99-dev']) {
    assert.ok(!serves(version, '0.1.0'), version);
  }
  assert.ok(!serves('1.9.9', '1.10.0'));
});
