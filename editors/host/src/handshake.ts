// What host and hub must agree on before the first byte of gRPC. The Go package plugin/handshake holds the same values.
import { certificatePem } from './certificate.js';
import { HubError } from './failure.js';

const cookieName = 'MCPHUB_PLUGIN_COOKIE';
const cookieValue = '9f4c1be07d5a4e6c8a3b62d1f07e94ab51c3d8e26f7049b8a1e5c07d3b92f684';

/** Version of go-plugin's own line format. */
const coreVersion = 1;

/**
 * The oldest hub that this host works with. The Go package plugin/handshake has the same constant. It rises when the
 * host begins to need something that an older hub does not have.
 */
export const oldestHub = '0.1.0';

/**
 * Reports whether a hub of this version is new enough. Text after the three numbers is ignored. A version without three
 * numbers is that of a private build, and counts as new enough.
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

/** Where a hub listens, and the certificate that it uses there. */
export interface Handshake {
  readonly network: 'unix' | 'tcp';
  readonly address: string;
  /** PEM; undefined without TLS. */
  readonly serverCert: string | undefined;
}

/** The values from which the environment of a hub is made. */
export interface Introduction {
  readonly socketDirectory: string;
  /** PEM; undefined without TLS. */
  readonly clientCert: string | undefined;
  /** How long the hub waits for another host when this one has gone. undefined: it does not wait. */
  readonly returnGraceMs: number | undefined;
  /** Name of the host's program, by which the hub finds its state. */
  readonly program: string;
}

/** Returns the environment of a hub: that of its host, with the variables of the handshake, which take precedence. */
export function hubEnvironment(
  base: NodeJS.ProcessEnv,
  own: NodeJS.ProcessEnv,
  intro: Introduction,
): NodeJS.ProcessEnv {
  // This host may be a plugin itself, so its PLUGIN_ variables are dropped. PLUGIN_MULTIPLEX_GRPC would even put yamux
  // on the socket.
  const kept = Object.entries({ ...base, ...own }).filter(([name]) => !name.startsWith('PLUGIN_'));
  const env: NodeJS.ProcessEnv = Object.fromEntries(kept);
  env[cookieName] = cookieValue;
  env['PLUGIN_PROTOCOL_VERSIONS'] = String(protocolVersion); // without it the hub offers its lowest version
  env['PLUGIN_UNIX_SOCKET_DIR'] = intro.socketDirectory;
  env['MCPHUB_HOST_PID'] = String(process.pid);
  env['MCPHUB_HOST_PROGRAM'] = intro.program;
  if (intro.clientCert !== undefined) {
    env['PLUGIN_CLIENT_CERT'] = intro.clientCert;
  } else {
    env['MCPHUB_PLAINTEXT'] = '1'; // tls: false was asked for; without this variable a hub refuses to serve without TLS
  }
  if (intro.returnGraceMs !== undefined) {
    env['MCPHUB_RETURN_GRACE'] = `${Math.max(0, Math.round(intro.returnGraceMs))}ms`;
  }
  return env;
}

/** Parses CORE|APP|NETWORK|ADDRESS|PROTOCOL|CERT. Throws a HubError for a handshake that this host cannot work with. */
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
  // The certificate is the DER leaf in standard base64 without padding, which Buffer accepts.
  return { network, address, serverCert: tls ? certificatePem(Buffer.from(cert, 'base64')) : undefined };
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}...` : text);
}
