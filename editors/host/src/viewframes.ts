// Serves the outer frame of views (MCP Apps) on loopback, for hosts that show the page or views themselves. The frame
// has its own origin, and a header with the policy of the view. It holds no data of value to an attacker.
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';

const loopback = '127.0.0.1';

/** A policy on one line of a header. It has to begin by allowing nothing. */
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

/** A port of this machine that serves the outer frame of views. A host opens one port for all its pages. */
export class ViewFrames {
  readonly #server: Server;
  /**
   * The address of the frame, which nobody can guess. A request for it has the policy of the view as the parameter csp.
   */
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
    server.unref(); // the port does not keep the host's process alive
    const bound = server.address();
    const port = typeof bound === 'object' && bound !== null ? bound.port : 0;
    return new ViewFrames(server, `http://${loopback}:${port}${path}`);
  }

  /** Closes the port, and the connections that still load a frame. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }
}

// The Host header is not checked: an editor that forwards the port uses another name.
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
