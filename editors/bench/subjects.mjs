import { tmpdir } from 'node:os';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Hub } from '../host/dist/contract.js';

/**
 * One way to call tools of some servers. `storm` resolves with how many progress events this process has handled.
 * @typedef {object} Subject
 * @property {(server: number, tool: string, args: Record<string, unknown>) => Promise<number>} call gives the length of
 * the first text of the result
 * @property {(count: number, perSecond: number) => Promise<number>} storm
 * @property {() => Promise<void>} close
 */

const names = (/** @type {number} */ n) => Array.from({ length: n }, (_, i) => `server-${i}`);

/**
 * Servers behind a hub.
 * @param {string} binary
 * @param {string} server
 * @param {number} count
 * @returns {Promise<Subject>}
 */
export async function withHub(binary, server, count) {
  const state = mkdtempSync(join(tmpdir(), 'mcphub-figures-'));
  const hub = new Hub({ binary, env: { ...process.env, MCPHUB_STATE_DIR: state, MCPHUB_LOG: 'warn' } });
  await hub.start();
  const mcpServers = Object.fromEntries(
    names(count).map((name) => [name, { command: server, alwaysAllow: ['*'], era: 'legacy' }]),
  );
  await hub.servers.reloadConfig({
    sources: [{ path: 'figures', json: JSON.stringify({ mcpServers }), scope: 'host' }],
  });
  await Promise.all(names(count).map((name) => hub.servers.startServer({ server: name })));
  const window = hub.window({ title: 'figures' });
  let progressed = 0;
  const reading = (async () => {
    for await (const event of window) if (event.event.case === 'mcpRequestProgressed') progressed++;
  })();
  /** @param {number} n @param {string} tool @param {Record<string, unknown>} args */
  const call = async (n, tool, args) => {
    const answer = await hub.requests.callTool({ server: `server-${n}`, tool, argumentsJson: JSON.stringify(args) });
    return answer.outcome.case === 'resultJson' ? answer.outcome.value.length : -1;
  };
  return {
    call,
    async storm(events, perSecond) {
      const before = progressed;
      await Promise.all(names(count).map((_, n) => call(n, 'storm', { count: events, perSecond })));
      return progressed - before;
    },
    async close() {
      await window.close();
      await reading;
      await hub.stop('the figures are taken');
      rmSync(state, { recursive: true, force: true });
    },
  };
}

/**
 * The same servers, with a client of the SDK each, in this process.
 * @param {string} server
 * @param {number} count
 * @returns {Promise<Subject>}
 */
export async function withSdk(server, count) {
  const clients = await Promise.all(
    names(count).map(async () => {
      const client = new Client({ name: 'figures', version: '1' });
      await client.connect(new StdioClientTransport({ command: server, stderr: 'ignore' }));
      return client;
    }),
  );
  /** @param {number} n */
  const at = (n) => {
    const client = clients[n];
    if (!client) throw new Error(`no server ${n}`);
    return client;
  };
  return {
    async call(n, tool, args) {
      const result = await at(n).callTool({ name: tool, arguments: args });
      return JSON.stringify(result).length;
    },
    async storm(events, perSecond) {
      let progressed = 0;
      const options = {
        timeout: 120_000,
        onprogress: () => {
          progressed++;
        },
      };
      await Promise.all(
        clients.map((client) => client.callTool({ name: 'storm', arguments: { count: events, perSecond } }, options)),
      );
      return progressed;
    },
    async close() {
      await Promise.all(clients.map((client) => client.close()));
    },
  };
}
