// What host and hub must agree on before the first byte of gRPC: package plugin/handshake in Go says the same.
import { certificatePem } from './certificate.js';
import { HubError } from './failure.js';

const cookieName = 'MCPHUB_PLUGIN_COOKIE';
const cookieValue = '9f4c1be07d5a4e6c8a3b62d1f07e94ab51c3d8e26f7049b8a1e5c07d3b92f684';

/** Version of go-plugin's own line format. */
const coreVersion = 1;

/**
 * The oldest hub that this host works with, as plugin/handshake has it for Go. It rises when the host begins to need
 * what an older hub has not.
 */
export const oldestHub = '0.1.0';

/**
 * Whether a hub of this version is new enough. What follows the three numbers does not count, and a version without
 * them is one that somebody built for himself: it serves.
 */
export function serves(version: string, oldest = oldestHub): boolean {
  const [have, need] = [numbers(version), numbers(oldest)];
  const differs = need.findIndex((number, i) => have[i] !== number);
  return have.length === 0 || differs === -1 || (have[differs] ?? 0) > (need[differs] ?? 0);
}

function numbers(version: string): number[] {
  return (/^(\d+)\.(\d+)\.(\d+)/.exec(version) ?? []).slice(1).map(Number);
}

/** Major version of the contract. */
export const protocolVersion = 1;

/** Where a hub listens, and the certificate that it listens with. */
export interface Handshake {
  readonly network: 'unix' | 'tcp';
  readonly address: string;
  /** PEM; undefined without TLS. */
  readonly serverCert: string | undefined;
}

/** What the environment of a hub depends on. */
export interface Introduction {
  readonly socketDirectory: string;
  /** PEM; undefined without TLS. */
  readonly clientCert: string | undefined;
  /** How long the hub waits for another host when this one has gone; undefined: not at all. */
  readonly returnGraceMs: number | undefined;
  /** Where it writes what it ended, when nobody has come back. */
  readonly leftFile?: string | undefined;
}

/** The environment of a hub: that of its host, and what the handshake needs, which wins. */
export function hubEnvironment(
  base: NodeJS.ProcessEnv,
  own: NodeJS.ProcessEnv,
  intro: Introduction,
): NodeJS.ProcessEnv {
  // This host may be a plugin itself; PLUGIN_MULTIPLEX_GRPC would even put yamux on the socket.
  const kept = Object.entries({ ...base, ...own }).filter(([name]) => !name.startsWith('PLUGIN_'));
  const env: NodeJS.ProcessEnv = Object.fromEntries(kept);
  env[cookieName] = cookieValue;
  env['PLUGIN_PROTOCOL_VERSIONS'] = String(protocolVersion); // without it the hub offers its lowest version
  env['PLUGIN_UNIX_SOCKET_DIR'] = intro.socketDirectory;
  env['MCPHUB_HOST_PID'] = String(process.pid);
  if (intro.clientCert !== undefined) {
    env['PLUGIN_CLIENT_CERT'] = intro.clientCert;
  } else {
    env['MCPHUB_PLAINTEXT'] = '1'; // tls: false was asked for; without this word a hub refuses to be served in plain
  }
  if (intro.returnGraceMs !== undefined) {
    env['MCPHUB_RETURN_GRACE'] = `${Math.max(0, Math.round(intro.returnGraceMs))}ms`;
  }
  if (intro.leftFile !== undefined) {
    env['MCPHUB_LEFT_FILE'] = intro.leftFile;
  }
  return env;
}

/** Reads CORE|APP|NETWORK|ADDRESS|PROTOCOL|CERT, and refuses what this host cannot work with. */
export function parseHandshake(line: string, tls: boolean): Handshake {
  const [core, app, network, address, protocol = 'netrpc', cert = ''] = line.trim().split('|');
  if (
    core === undefined
    || app === undefined
    || network === undefined
    || address === undefined
    || !/^\d+$/.test(core)
    || !/^\d+$/.test(app)
  ) {
    throw new HubError(
      'failed_precondition',
      'HANDSHAKE_JUNK',
      `The binary is no hub: it began with ${quoted(line)} where a handshake was due. Check its path and arguments.`,
    );
  }
  if (Number(core) !== coreVersion || Number(app) !== protocolVersion) {
    throw new HubError(
      'failed_precondition',
      'PROTOCOL_VERSION',
      `The hub speaks version ${app} of the contract (go-plugin ${core}), this host version ${protocolVersion} (go-plugin ${coreVersion}): update whichever is older.`,
    );
  }
  if (
    protocol !== 'grpc'
    || (network !== 'unix' && network !== 'tcp')
    || address === ''
    || (network === 'tcp' && !/^.+:\d{1,5}$/.test(address))
  ) {
    throw new HubError(
      'failed_precondition',
      'HANDSHAKE_JUNK',
      `The hub listens in a way that this host does not know (${quoted(line)}): update whichever is older.`,
    );
  }
  if (tls !== (cert !== '')) {
    throw new HubError(
      'failed_precondition',
      'TLS',
      tls
        ? 'The hub did not answer with a certificate: update it.'
        : 'The hub insists on TLS: leave the option tls at true.',
    );
  }
  // Raw standard base64 of the DER leaf, without padding: Buffer takes it as it is.
  return { network, address, serverCert: tls ? certificatePem(Buffer.from(cert, 'base64')) : undefined };
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}...` : text);
}
