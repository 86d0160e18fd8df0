// A whole host. Try it: node embed.js /usr/local/bin/mcphub .mcp.json SERVER TOOL '{"argument":1}'. Ctrl+C cancels the call, and its server hears of it.
import { createInterface } from 'node:readline';
import { Hub, PromptCause, PromptKind } from '@mcphub/host';

const [binary = 'mcphub', path = '.mcp.json', server = '', tool = '', argumentsJson = '{}'] = process.argv.slice(2);
const terminal = createInterface({ input: process.stdin });
const hub = new Hub({ binary });
await hub.start();
await hub.servers.reloadConfig({ sources: [{ path }] });

const stop = new AbortController();
process.on('SIGINT', () => stop.abort());
const window = hub.window({ title: 'embed', promptKinds: [PromptKind.TOOL_APPROVAL] });
for await (const { event } of window) {
  if (event.case === 'snapshot') { // from now on somebody can be asked
    hub.requests.callTool({ server, tool, argumentsJson }, { signal: stop.signal }).then(({ outcome }) => console.log(outcome.value), (error: Error) => console.log(error.message))
      .finally(() => window.close());
  } else if (event.case === 'promptOpened' && event.value.prompt?.question.case === 'toolApproval') {
    const { promptId, question } = event.value.prompt;
    console.log(`May ${question.value.tool} be called with ${question.value.argumentsJson}? y or n`);
    const action = (text: string) => (text === 'y' ? { case: 'accept' as const, value: {} } : { case: 'decline' as const, value: {} });
    terminal.once('line', (text) => window.send({ message: { case: 'answerPrompt', value: { promptId, action: action(text) } } }));
  } else if (event.case === 'promptClosed') {
    console.log('No longer asked:', PromptCause[event.value.cause]);
  }
}
terminal.close();
await hub.stop();
