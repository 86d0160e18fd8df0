import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { Client, credentials } from '@grpc/grpc-js';
import { selfSigned } from '../host/dist/certificate.js';
import { hubEnvironment, parseHandshake } from '../host/dist/handshake.js';
import { SpawnedProcess } from '../host/dist/process.js';

/**
 * What a call costs below all that is ours: one message there and one back, by grpc-js over the mutual TLS of a hub,
 * from a program of grpc-go that answers CallTool at once. The message is no message of the SDK or of protobuf-es: no
 * bytes at all.
 * @param {string} binary internal/bench
 * @returns {Promise<{call: () => Promise<number>, close: () => Promise<void>}>}
 */
export async function bareCall(binary) {
  const socketDirectory = mkdtempSync(join(tmpdir(), 'mcphub-floor-'));
  const client = selfSigned();
  const echo = new SpawnedProcess({
    binary,
    args: ['plugin-echo'],
    env: hubEnvironment(process.env, {}, { socketDirectory, clientCert: client.cert, returnGraceMs: undefined }),
    cwd: undefined,
    survive: false,
    onLog: () => {},
  });
  const { network, address, serverCert } = parseHandshake(await echo.firstLine, true);
  const secure = createSecureContext({
    ...client,
    ca: serverCert,
    // P-521, the curve of go-plugin's certificate, is none of those that an editor's TLS offers by itself.
    sigalgs: 'ecdsa_secp256r1_sha256:ecdsa_secp521r1_sha512',
  });
  const connection = new Client(
    `${network === 'unix' ? 'unix' : 'dns'}:${address}`,
    credentials.createFromSecureContext(secure),
    {
      'grpc.default_authority': 'localhost',
      'grpc.ssl_target_name_override': 'localhost',
    },
  );
  const same = (/** @type {Buffer} */ bytes) => bytes;
  const nothing = Buffer.alloc(0);
  return {
    call: () =>
      new Promise((resolve, reject) =>
        connection.makeUnaryRequest('/mcphub.v1.McpHubService/CallTool', same, same, nothing, (error, answer) => {
          if (error) reject(error);
          else resolve(answer?.length ?? 0);
        }),
      ),
    async close() {
      connection.close();
      echo.kill();
      await echo.ended;
      echo.release();
      rmSync(socketDirectory, { recursive: true, force: true });
    },
  };
}
