// A whole host. Try it: node embed.js /usr/local/bin/mcphub .mcp.json SERVER TOOL '{"argument":1}', and Ctrl+C cancels the call on its server.
import { Hub, HubError, PromptKind } from '@mcphub/host';

const [binary = 'mcphub', path = '.mcp.json', server = '', tool = '', argumentsJson = '{}'] = process.argv.slice(2);
const hub = new Hub({ binary, onLog: (line) => line.level === 'error' && console.error(line.message) });
await hub.start();
await hub.servers.reloadConfig({ sources: [{ path }] });

const window = hub.window({ title: 'embed', promptKinds: [PromptKind.TOOL_APPROVAL] });
const stop = new AbortController();
process.on('SIGINT', () => stop.abort());
const call = () => hub.requests.callTool({ server, tool, argumentsJson, requestId: 'embed' }, { signal: stop.signal }).then(
  ({ outcome }) => console.log('result:', outcome.value),
  (error: HubError) => console.log('failed:', error.code, error.reason),
);
let called: Promise<void> | undefined;
for await (const { event } of window) {
  if (event.case === 'snapshot') {
    called ??= call(); // not before: a call that nobody can approve fails at once
  } else if (event.case === 'promptOpened' && event.value.prompt) {
    console.log('asked:', event.value.prompt.question.case); // a person's click, in an editor
    await window.ask({ message: { case: 'answerPrompt', value: { promptId: event.value.prompt.promptId, action: { case: 'accept', value: {} } } } });
  } else if (event.case === 'mcpRequestCancelled') {
    console.log('cancelled:', event.value.tool);
  }
  if ((event.case === 'mcpRequestCancelled' || event.case === 'mcpRequestFinished') && event.value.requestId === 'embed') break;
}
await called;
await window.close();
await hub.stop();
