// A server of revision 2025-06-18 on standard input and output with a tool, a resource, a template and a prompt.
// Whoever fills its prompt has it say that its lists have changed, and its resource if that is subscribed to. It logs
// both.
import { createInterface } from 'node:readline';

interface Message {
  readonly id?: number;
  readonly method: string;
  readonly params?: {
    readonly uri?: string;
    readonly argument?: { readonly value: string };
    readonly arguments?: { readonly text?: string };
  };
}

const say = (message: object): void => void process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const capabilities = {
  tools: {},
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
};

function answer({ method, params }: Message): object {
  switch (method) {
    case 'initialize':
      return { protocolVersion: '2025-06-18', capabilities, serverInfo: { name: 'offers', version: '1' } };
    case 'tools/list':
      return { tools: [{ name: 'search', inputSchema: { type: 'object' } }] };
    case 'tools/call': {
      const text = `${params?.arguments?.text}, by ${process.env['NOTES_TOKEN'] ?? 'nobody'}`;
      return { content: [{ type: 'text', text }] };
    }
    case 'resources/list':
      return { resources: [{ uri: 'note://1', name: 'one' }] };
    case 'resources/templates/list':
      return { resourceTemplates: [{ uriTemplate: 'note://{id}', name: 'any' }] };
    case 'resources/read':
      return { contents: [{ uri: params?.uri, text: 'the note' }] };
    case 'prompts/list':
      return { prompts: [{ name: 'greet', arguments: [{ name: 'who', required: true }] }] };
    case 'prompts/get':
      return { messages: [] };
    case 'completion/complete':
      return { completion: { values: [`${params?.argument?.value}1`] } };
    default:
      return {};
  }
}

let watched = false;

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line) as Message;
  if (message.id === undefined) {
    continue;
  }
  const { id, method, params } = message;
  const known = method !== 'server/discover' && params?.uri !== 'note://none';
  say(known ? { id, result: answer(message) } : { id, error: { code: -32601, message: 'there is none' } });
  if (method === 'resources/subscribe') {
    watched = true;
    say({ method: 'notifications/message', params: { level: 'warning', data: 'subscribed' } });
  }
  if (method === 'prompts/get') {
    say({ method: 'notifications/message', params: { level: 'warning', data: 'filled' } });
    if (watched) {
      say({ method: 'notifications/resources/updated', params: { uri: 'note://1' } });
    }
    say({ method: 'notifications/resources/list_changed' });
    say({ method: 'notifications/prompts/list_changed' });
  }
}
