// An MCP server that needs a sign-in, and its authorization server: metadata of both, dynamic registration, and the
// code grant with PKCE.
import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json, text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';

interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

interface Message {
  readonly id?: number | string;
  readonly method: string;
}

export class Authority {
  readonly #tokens = new Set<string>();
  readonly #codes = new Map<string, string>(); // the challenge of each code
  #base = '';

  static async open(t: TestContext): Promise<Authority> {
    const authority = new Authority();
    const server = createServer((request, response) => {
      void authority.#answer(request).then(({ status = 200, headers = {}, body }) => {
        response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
        response.end(body && JSON.stringify(body));
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    authority.#base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    t.after(() => {
      server.close();
      server.closeAllConnections();
    });
    return authority;
  }

  /** The address of the MCP server. */
  get url(): string {
    return `${this.#base}/mcp`;
  }

  /** The user agrees on the page of the authorization server, and the browser returns to the hub. */
  async agree(page: string): Promise<void> {
    const { searchParams } = new URL(page);
    const code = randomUUID();
    this.#codes.set(code, searchParams.get('code_challenge') ?? '');
    const back = new URL(searchParams.get('redirect_uri') ?? '');
    back.searchParams.set('code', code);
    back.searchParams.set('state', searchParams.get('state') ?? '');
    const [response] = (await once(get(back), 'response')) as [IncomingMessage]; // fetch cannot connect under Wine
    assert.equal(response.statusCode, 200, await text(response));
  }

  async #answer(request: IncomingMessage): Promise<Answer> {
    const base = this.#base;
    switch (request.url) {
      case '/.well-known/oauth-protected-resource/mcp':
        return { body: { resource: this.url, authorization_servers: [base] } };
      case '/.well-known/oauth-authorization-server':
        return {
          body: {
            issuer: base,
            authorization_endpoint: `${base}/authorize`,
            token_endpoint: `${base}/token`,
            registration_endpoint: `${base}/register`,
            response_types_supported: ['code'],
            code_challenge_methods_supported: ['S256'],
            token_endpoint_auth_methods_supported: ['none'],
          },
        };
      case '/register':
        return { status: 201, body: { ...((await json(request)) as object), client_id: 'the hub' } };
      case '/token': {
        const form = new URLSearchParams(await text(request));
        const challenge = createHash('sha256')
          .update(form.get('code_verifier') ?? '')
          .digest('base64url');
        if (this.#codes.get(form.get('code') ?? '') !== challenge) {
          return { status: 400, body: { error: 'invalid_grant' } };
        }
        const token = randomUUID();
        this.#tokens.add(token);
        return { body: { access_token: token, token_type: 'Bearer', expires_in: 3600 } };
      }
      case '/mcp':
        return this.#serve(request);
      default:
        return { status: 404 };
    }
  }

  async #serve(request: IncomingMessage): Promise<Answer> {
    if (!this.#tokens.has((request.headers.authorization ?? '').replace('Bearer ', ''))) {
      const metadata = `${this.#base}/.well-known/oauth-protected-resource/mcp`;
      return { status: 401, headers: { 'WWW-Authenticate': `Bearer resource_metadata="${metadata}"` } };
    }
    if (request.method !== 'POST') {
      return { status: 405 };
    }
    const { id, method } = (await json(request)) as Message;
    if (id === undefined) {
      return { status: 202 };
    }
    const results: Readonly<Record<string, object>> = {
      'initialize': {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'guarded', version: '1' },
      },
      'tools/list': { tools: [{ name: 'who', inputSchema: { type: 'object' } }] },
      'tools/call': { content: [{ type: 'text', text: 'signed in' }] },
      'ping': {},
    };
    const result = results[method];
    return { body: { jsonrpc: '2.0', id, ...(result ? { result } : { error: { code: -32601, message: 'no such' } }) } };
  }
}
