// Makes a self-signed certificate in plain Node: node:crypto has keys and signatures but builds no certificates.
// AutoMTLS needs one leaf certificate, which is thrown away with the hub. X.509 is RFC 5280, its encoding DER.
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** PEM texts. */
export interface Identity {
  readonly cert: string;
  readonly key: string;
}

const lifetimeMs = 365 * 86_400_000;
const clockSkewMs = 60_000;

const oids = {
  ecdsaWithSha256: '2a8648ce3d040302',
  commonName: '550403',
  subjectAltName: '551d11',
  basicConstraints: '551d13',
  keyUsage: '551d0f',
  extendedKeyUsage: '551d25',
  serverAuth: '2b06010505070301',
  clientAuth: '2b06010505070302',
};

/**
 * Returns a P-256 certificate for localhost that is its own root. go-plugin's server trusts the client with this
 * certificate, and no other.
 */
export function selfSigned(now: Date = new Date()): Identity {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(oid(oids.ecdsaWithSha256));
  const name = sequence(tlv(0x31, sequence(oid(oids.commonName), tlv(0x0c, Buffer.from('localhost')))));
  const tbs = sequence(
    tlv(0xa0, tlv(0x02, Buffer.from([2]))), // version 3
    tlv(0x02, serial()),
    algorithm,
    name,
    sequence(time(new Date(now.getTime() - clockSkewMs)), time(new Date(now.getTime() + lifetimeMs))),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    tlv(
      0xa3,
      sequence(
        extension(oids.subjectAltName, false, sequence(tlv(0x82, Buffer.from('localhost')))),
        // CA:TRUE, since the certificate is its own root.
        extension(oids.basicConstraints, true, sequence(tlv(0x01, Buffer.from([0xff])))),
        extension(oids.keyUsage, true, tlv(0x03, Buffer.from([0x02, 0x84]))), // digitalSignature, keyCertSign
        extension(oids.extendedKeyUsage, false, sequence(oid(oids.clientAuth), oid(oids.serverAuth))),
      ),
    ),
  );
  const der = sequence(tbs, algorithm, tlv(0x03, Buffer.from([0]), sign('sha256', tbs, privateKey)));
  return { cert: certificatePem(der), key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
}

export function certificatePem(der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

function tlv(tag: number, ...parts: Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  const n = body.byteLength;
  const length = n < 0x80 ? [n] : n < 0x100 ? [0x81, n] : [0x82, n >> 8, n & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
}

function sequence(...parts: Uint8Array[]): Buffer {
  return tlv(0x30, ...parts);
}

function oid(hex: string): Buffer {
  return tlv(0x06, Buffer.from(hex, 'hex'));
}

function time(at: Date): Buffer {
  const digits = at.toISOString().replace(/[-:T]|\.\d+/g, ''); // 20261121130054Z
  // RFC 5280, 4.1.2.5.
  return at.getUTCFullYear() < 2050 ? tlv(0x17, Buffer.from(digits.slice(2))) : tlv(0x18, Buffer.from(digits));
}

function extension(id: string, critical: boolean, value: Uint8Array): Buffer {
  return sequence(oid(id), ...(critical ? [tlv(0x01, Buffer.from([0xff]))] : []), tlv(0x04, value));
}

function serial(): Buffer {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40; // positive, and no leading zero
  return bytes;
}
