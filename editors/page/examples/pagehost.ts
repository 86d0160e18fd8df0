// A host with the page in it. Try it: node pagehost.js .mcp.json, and open the address that it prints. Under Electron
// ipcMain and ipcRenderer take the place of its two ways for messages.
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { createHub } from '@mcphub/host';
import { connectPage, pageFiles, pageHtml } from '@mcphub/page';

const hub = await createHub({ files: [{ path: process.argv[2] ?? '.mcp.json', source: 'workspace' }] });
const secret = randomUUID(); // who knows the address acts for the person
const files = await pageFiles();
const frame = await readFile(new URL(import.meta.resolve('@mcphub/page/frame')));
const listeners = new Map<string, (message: unknown) => void>(); // of the pages, each by its id
const around = `<!doctype html><title>A host</title><style>iframe { width: 100%; height: 90vh }</style><body><script type="module">
  import { showFrame } from './frame.js';
  const address = 'messages?' + crypto.randomUUID(), events = new EventSource(address);
  let sent = Promise.resolve(); // one after the other: their order counts
  const body = (message) => ({ method: 'POST', body: JSON.stringify(message) });
  const post = (message) => (sent = sent.then(() => fetch(address, body(message))).catch(console.error));
  const onMessage = (listener) => {
    events.onmessage = ({ data }) => listener(JSON.parse(data));
    return () => events.close();
  };
  events.addEventListener('open', () => showFrame(document.body, 'page.html', { post, onMessage }), { once: true });
</script>`;

const server = createServer((request, response) => {
  answer(request, response).catch((error: unknown) => response.writeHead(400).end(String(error)));
});
server.listen(0, '127.0.0.1', () => console.log(`${origin()}/${secret}/`));
const origin = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

async function answer(request: IncomingMessage, response: ServerResponse) {
  const { pathname, search: id } = new URL(request.url ?? '/', origin());
  const name = pathname.startsWith(`/${secret}/`) ? pathname.slice(secret.length + 2) : undefined;
  const file =
    name === 'frame.js' ? { headers: { 'Content-Type': 'text/javascript' }, text: frame } : files.get(name ?? '');
  response.setHeader('Cache-Control', 'no-store').setHeader('Referrer-Policy', 'no-referrer');
  const html = (text: string) => response.setHeader('Content-Type', 'text/html; charset=utf-8').end(text);
  if (name === '') html(around);
  else if (name === 'page.html') html(await pageHtml({ base: '', cspSource: origin(), surface: { kind: 'frame' } }));
  else if (file) response.writeHead(200, file.headers).end(file.text);
  else if (name !== 'messages') response.writeHead(404).end();
  else if (request.method === 'POST') {
    listeners.get(id)?.(await json(request));
    response.end();
  } else {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    const post = (message: object) => response.write(`data: ${JSON.stringify(message)}\n\n`);
    const onMessage = (listener: (message: unknown) => void) => {
      listeners.set(id, listener);
      return () => listeners.get(id) === listener && listeners.delete(id);
    };
    const page = await connectPage({ post, onMessage }, hub, { title: 'browser' });
    response.once('close', () => page.leave()); // it may come back
  }
}
process.once('SIGINT', () => void hub.close().then(() => process.exit()));
