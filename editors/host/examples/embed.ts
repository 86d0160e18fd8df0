// A whole host. Try it: node embed.js .mcp.json SERVER TOOL '{"argument":1}'. Ctrl+C cancels the call, and its server
// hears why.
import { createInterface } from 'node:readline';
import { createHub, launchFacts } from '@mcphub/host';

const [path = '.mcp.json', server = '', tool = '', json = '{}'] = process.argv.slice(2);
const terminal = createInterface({ input: process.stdin });
const typed = terminal[Symbol.asyncIterator]();

async function ask(question: string, signal: AbortSignal) {
  console.log(`${question} y or n`);
  signal.addEventListener('abort', () => console.log('No longer asked:', String(signal.reason)));
  return { action: (await typed.next()).value === 'y' ? 'accept' : 'decline' } as const;
}

const hub = await createHub({
  files: [{ path, source: 'workspace' }], // 'user' is for their own file, 'host' for what you wrote yourself
  questions: {
    approval: (q) => ask(`May ${q.tool} be called with ${q.argumentsJson}?`, q.signal),
    launch: (q) => {
      console.log(q.command, ...q.args, q.url, q.writtenBy ?? '', launchFacts(q, { t: (text) => text })); // all of it
      return ask('May this be started?', q.signal);
    },
  },
});
const stop = new AbortController();
process.once('SIGINT', () => stop.abort('Ctrl+C'));
for (const { file, line, key, message } of [...hub.problems, ...hub.servers.flatMap(({ problems }) => problems)])
  console.error(`${file}:${line}: ${key} ${message}`);
try {
  const onProgress = ({ progress, message }: { progress: number; message: string }) => console.log(progress, message);
  const { resultJson } = await hub.callTool({ server, tool, arguments: json, signal: stop.signal, onProgress });
  console.log(resultJson);
} catch (error) {
  console.error(String(error));
  process.exitCode = 1;
}
terminal.close();
await hub.close();
