// Serves the outer frame of views (MCP Apps) on loopback, for hosts that show the page or views of their own: from an
// origin of its own, with the policy of each view as a header. It holds nothing that anybody could want.
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';

const loopback = '127.0.0.1';

/** One line of a header, which begins with nothing allowed. */
const policy = /^default-src 'none'; [\x20-\x7e]{1,8000}$/;

const permissions = [
  'camera',
  'microphone',
  'geolocation',
  'clipboard-read',
  'clipboard-write',
  'display-capture',
  'usb',
  'serial',
  'hid',
  'bluetooth',
  'payment',
  'fullscreen',
];

/** A port of this machine that serves the outer frame of views. A host opens one, for all its pages. */
export class ViewFrames {
  readonly #server: Server;
  /** Where the frame is; the policy of a view goes with it as the parameter csp. Nobody can guess it. */
  readonly address: string;

  private constructor(server: Server, address: string) {
    this.#server = server;
    this.address = address;
  }

  /** Opens a free port of this machine. `html` is the text of the page's apps/sandbox.html. */
  static async open(html: string): Promise<ViewFrames> {
    const path = `/${randomBytes(18).toString('base64url')}`;
    const limits = { headersTimeout: 10_000, requestTimeout: 10_000, connectionsCheckingInterval: 5_000 };
    const server = createServer(limits, (request, response) => answer(request, response, path, html));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, loopback, resolve);
    });
    server.maxConnections = 256;
    server.unref(); // it keeps no host from ending
    const bound = server.address();
    const port = typeof bound === 'object' && bound !== null ? bound.port : 0;
    return new ViewFrames(server, `http://${loopback}:${port}${path}`);
  }

  /** Ends the port, and the frames that are being loaded. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }
}

// The name that it is asked for by is not looked at: an editor that forwards the port chooses another.
function answer(request: IncomingMessage, response: ServerResponse, path: string, html: string): void {
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('Referrer-Policy', 'no-referrer');
  response.setHeader('Cache-Control', 'no-store');
  const [pathname, query] = (request.url ?? '').split('?', 2);
  const csp = new URLSearchParams(query).get('csp') ?? '';
  if (request.method !== 'GET' || pathname !== path || !policy.test(csp)) {
    response.setHeader('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'");
    response.writeHead(404).end();
    return;
  }
  response.setHeader('Content-Security-Policy', [csp, 'sandbox allow-scripts allow-same-origin']);
  response.setHeader('Permissions-Policy', permissions.map((name) => `${name}=()`).join(', '));
  response.setHeader('X-DNS-Prefetch-Control', 'off');
  response.setHeader('Content-Type', 'text/html; charset=utf-8');
  response.end(html);
}
