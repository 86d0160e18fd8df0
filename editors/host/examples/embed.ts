// A whole host. Try it: node embed.js /usr/local/bin/mcphub .mcp.json SERVER TOOL '{"argument":1}'. Ctrl+C cancels the call, and its server hears why.
import { createInterface } from 'node:readline';
import { Hub, PromptCause, PromptKind } from '@mcphub/host';

const [binary = 'mcphub', path = '.mcp.json', server = '', tool = '', argumentsJson = '{}'] = process.argv.slice(2);
const [hub, terminal, requestId] = [new Hub({ binary }), createInterface({ input: process.stdin }), 'embed-1'];
await hub.start();
await hub.servers.reloadConfig({ sources: [{ path }] });
const window = hub.window({ title: 'embed', promptKinds: [PromptKind.TOOL_APPROVAL] });
process.on('SIGINT', () => window.send({ message: { case: 'cancelMcpRequest', value: { requestId, reason: 'Ctrl+C' } } }));
for await (const { event } of window) {
  if (event.case === 'snapshot') { // from now on somebody can be asked
    hub.requests.callTool({ requestId, server, tool, argumentsJson }).then(({ outcome }) => console.log(outcome.value), (error: Error) => console.log(error.message))
      .finally(() => window.close());
  } else if (event.case === 'promptOpened' && event.value.prompt?.question.case === 'toolApproval') {
    const { promptId, question: { value } } = event.value.prompt;
    console.log(`May ${value.tool} be called with ${value.argumentsJson}? y or n`);
    terminal.once('line', (text) => window.send({ message: { case: 'answerPrompt', value: { promptId, action: { case: text === 'y' ? 'accept' : 'decline', value: {} } } } }));
  } else if (event.case === 'promptClosed') console.log('No longer asked:', PromptCause[event.value.cause]);
}
terminal.close();
await hub.stop();
