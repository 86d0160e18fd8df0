// A whole host. Try it: node embed.js .mcp.json SERVER TOOL '{"argument":1}'. Ctrl+C cancels the call, and its server
// hears why.
import { createInterface } from 'node:readline';
import { Hub, PromptCause, PromptKind } from '@mcphub/host';
import type { Prompt } from '@mcphub/host';

const [path = '.mcp.json', server = '', tool = '', argumentsJson = '{}'] = process.argv.slice(2);
const [hub, terminal, requestId] = [new Hub(), createInterface({ input: process.stdin }), 'embed-1'];
const typed = terminal[Symbol.asyncIterator]();
const window = hub.window({ title: 'embed', promptKinds: [PromptKind.TOOL_APPROVAL, PromptKind.SERVER_LAUNCH] });

function failed(error: unknown): void {
  console.error(String(error));
  process.exitCode = 1;
  void window.close();
}

const asked = new Set<string>();

function ask(prompt: Prompt): void {
  const { promptId, question } = prompt;
  if (asked.has(promptId)) return; // a window that comes back gets a snapshot again
  asked.add(promptId);
  if (question.case === 'toolApproval')
    console.log(`May ${question.value.tool} be called with ${question.value.argumentsJson}? y or n`);
  else console.log('May this be started? y or n', question.value); // everything that a file of the folder would run
  // Rejects if the hub refuses the answer: whoever does not look at that waits for ever.
  typed
    .next()
    .then(({ value }) => window.answer(prompt, value === 'y' ? 'accept' : 'decline'))
    .catch(failed);
}

await hub.start();
// 'user' is for their own file, 'host' for what you wrote yourself.
const { problems } = await hub.servers.reloadConfig({ sources: [{ path, scope: 'workspace' }] });
for (const { file, line, message } of problems) console.error(`${file}:${line}: ${message}`);
process.on('SIGINT', () =>
  window.send({ message: { case: 'cancelMcpRequest', value: { requestId, reason: 'Ctrl+C' } } }),
);
let call: Promise<void> | undefined;
for await (const { event } of window) {
  if (event.case === 'snapshot') {
    event.value.prompts.forEach(ask); // from now on somebody can be asked
    call ??= hub.requests
      .callTool({ requestId, server, tool, argumentsJson })
      .then(({ outcome }) => console.log(outcome.value), failed)
      .then(() => window.close());
  } else if (event.case === 'promptOpened' && event.value.prompt) ask(event.value.prompt);
  else if (event.case === 'promptClosed') console.log('No longer asked:', PromptCause[event.value.cause]);
}
terminal.close();
await hub.stop();
