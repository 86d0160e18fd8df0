// Electron's Node uses BoringSSL, which does not offer P-521 by default, and the certificate of go-plugin uses P-521. A
// test cannot run Electron. What matters is the list of signature algorithms in the ClientHello, so this test makes
// OpenSSL send BoringSSL's list.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isAlive } from '../dist/liveness.js';
import { long, realBinary, stage } from './stage.js';

// The list is kVerifySignatureAlgorithms of BoringSSL's ssl/extensions.cc. Node reads the section nodejs_conf.
const config = `nodejs_conf = node
[node]
ssl_conf = ssl
[ssl]
system_default = defaults
[defaults]
SignatureAlgorithms = ${[
  'ecdsa_secp256r1_sha256',
  'rsa_pss_rsae_sha256',
  'rsa_pkcs1_sha256',
  'ecdsa_secp384r1_sha384',
  'rsa_pss_rsae_sha384',
  'rsa_pkcs1_sha384',
  'rsa_pss_rsae_sha512',
  'rsa_pkcs1_sha512',
].join(':')}
`;

test("with BoringSSL's signature algorithms a hub is started, left, and taken over by the next host", (t) => {
  const s = stage(t);
  const cnf = join(s.directory, 'openssl.cnf');
  writeFileSync(cnf, config);
  const keep = join(s.directory, 'keep');
  const code = `import { readFileSync, readdirSync } from 'node:fs';
    import { connect } from 'node:tls';
    import { Hub } from ${JSON.stringify(new URL('../dist/contract.js', import.meta.url).href)};
    const options = { binary: ${JSON.stringify(realBinary())}, env: { MCPHUB_STATE_DIR: '' }, keep: { directory: ${JSON.stringify(keep)}, key: 'k', graceMs: ${long} } };
    const first = new Hub(options);
    await first.start();
    const pid = first.processId;
    const [name] = readdirSync(options.keep.directory);
    const { target, serverCert, clientCert, clientKey } = JSON.parse(readFileSync(options.keep.directory + '/' + name, 'utf8'));
    const bare = { path: target, servername: 'localhost', ALPNProtocols: ['h2'], ca: serverCert, cert: clientCert, key: clientKey };
    const shake = (more) => new Promise((resolve) => {
      const socket = connect({ ...bare, ...more }, () => { resolve('in'); socket.destroy(); });
      socket.on('error', (error) => resolve(error.code));
    });
    const without = await shake({});
    const withIt = await shake({ sigalgs: 'ecdsa_secp256r1_sha256:ecdsa_secp521r1_sha512' });
    await first.leave();
    const second = new Hub(options);
    await second.start();
    const info = await second.requests.getInfo({});
    const same = [second.processId, info.processId].every((id) => id === pid);
    await second.stop();
    console.log(JSON.stringify({ pid, without, withIt, same }));`;
  const ran = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
    encoding: 'utf8',
    timeout: long,
    env: { ...process.env, TMPDIR: s.directory, OPENSSL_CONF: cnf },
  });
  assert.equal(ran.status, 0, ran.stderr);
  const { pid, without, ...rest } = JSON.parse(ran.stdout) as { pid: number; without: string };
  assert.match(
    without,
    /^ERR_SSL/,
    'the list is in force: a client that names none of its own is refused, as in Electron',
  );
  assert.deepEqual(rest, { withIt: 'in', same: true });
  assert.equal(isAlive(pid), false);
});
