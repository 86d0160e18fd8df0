// An extension that McpHub does not know and that uses McpHub's exported API. One command uses the whole API and writes
// the results to other.json. Another command makes the calls in plan.json and does not wait for them.
'use strict';
const { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { monitorEventLoopDelay } = require('node:perf_hooks');
const { Duplex } = require('node:stream');
const vscode = require('vscode');

exports.activate = (context) => {
  // An empty page: the time that the editor needs for any view, to compare McpHub's view with.
  context.subscriptions.push(
    vscode.window.registerWebviewViewProvider('other.empty', {
      resolveWebviewView: (view) => {
        view.webview.options = { enableScripts: true };
        // Reports when a message of the page has arrived in the extension host. The time until then is the editor's.
        view.webview.onDidReceiveMessage(
          () => void view.webview.postMessage({ heard: performance.timeOrigin + performance.now() }),
        );
        view.webview.html = `<!DOCTYPE html><html><body><p data-testid="empty">empty</p><button>Tell the host</button><script>
        const host = acquireVsCodeApi();
        document.querySelector('button').addEventListener('click', () => {
          document.documentElement.dataset.clicked = String(performance.timeOrigin + performance.now());
          delete document.documentElement.dataset.heard;
          host.postMessage({ clicked: true });
        });
        addEventListener('message', ({ data }) => { document.documentElement.dataset.heard = String(data.heard); });
      </script></body></html>`;
      },
    }),
  );
  context.subscriptions.push(
    vscode.commands.registerCommand('other.useMcpHub', async () => {
      const folder = vscode.workspace.workspaceFolders[0].uri.fsPath;
      // A late click in the palette may run the command again. Two runs at once would use the same request ids.
      const found = await (used ??= use(context.extension).catch((error) => ({
        trouble: String(error.stack ?? error),
      })));
      // The file is renamed when it is complete, so that the test never reads half of it.
      writeFileSync(join(folder, 'other.tmp'), JSON.stringify(found, null, 2));
      renameSync(join(folder, 'other.tmp'), join(folder, 'other.json'));
    }),
  );
  context.subscriptions.push(
    vscode.commands.registerCommand('other.callAll', async () => {
      const folder = vscode.workspace.workspaceFolders[0].uri.fsPath;
      const mcphub = (await vscode.extensions.getExtension('mcphub.mcphub').activate()).connect(context.extension);
      for (const call of JSON.parse(readFileSync(join(folder, 'plan.json'), 'utf8')))
        void outcome(mcphub.callTool(call));
    }),
  );
  // Measures how long the extension host was blocked between two runs of the command.
  context.subscriptions.push(
    vscode.commands.registerCommand('other.watchLoop', () => {
      const folder = vscode.workspace.workspaceFolders[0].uri.fsPath;
      if (loop === undefined) {
        loop = monitorEventLoopDelay({ resolution: 1 });
        loop.enable();
        writeFileSync(join(folder, 'loop.watched'), '');
        return;
      }
      loop.disable();
      writeFileSync(join(folder, 'loop.tmp'), JSON.stringify({ max: loop.max / 1e6, p99: loop.percentile(99) / 1e6 }));
      renameSync(join(folder, 'loop.tmp'), join(folder, 'loop.json'));
      loop = undefined;
    }),
  );
  // Records when a cancel from a page arrives in the extension host, before any extension has handled it, and when it
  // is written to the hub's connection. To see this it patches objects that all extensions of this host share.
  context.subscriptions.push(
    vscode.commands.registerCommand('other.traceCancels', () => {
      const folder = vscode.workspace.workspaceFolders[0].uri.fsPath;
      const now = () => performance.timeOrigin + performance.now();
      const tell = (what) => appendFileSync(join(folder, 'cancels.jsonl'), `${JSON.stringify(what)}\n`);
      const { parse } = JSON;
      let came;
      JSON.parse = (text, reviver) => {
        if (typeof text === 'string' && text.length < 4_000 && text.includes('"cancelMcpRequest"')) came = now();
        return parse(text, reviver);
      };
      const { write } = Duplex.prototype;
      Duplex.prototype.write = function (...said) {
        const took = write.apply(this, said);
        if (came !== undefined && this instanceof Duplex && 'sentHeaders' in this) {
          const given = now();
          setImmediate(tell, { came, given });
          came = undefined;
        }
        return took;
      };
      writeFileSync(join(folder, 'cancels.jsonl'), '');
    }),
  );
  // The editor decides by the place where a setting is registered whether it belongs to the machine or to the user, and
  // writes it into the corresponding file.
  context.subscriptions.push(
    vscode.commands.registerCommand('other.changeSetting', async () => {
      const folder = vscode.workspace.workspaceFolders[0].uri.fsPath;
      const { name, value } = JSON.parse(readFileSync(join(folder, 'setting.json'), 'utf8'));
      await vscode.workspace.getConfiguration().update(name, value, vscode.ConfigurationTarget.Global);
      writeFileSync(join(folder, 'setting.done'), '');
    }),
  );
  // Uses a tool of an MCP server as the editor's chat does, without a model and an account.
  context.subscriptions.push(
    vscode.commands.registerCommand('other.useChat', () => {
      const folder = vscode.workspace.workspaceFolders[0].uri.fsPath;
      chatting ??= chat(JSON.parse(readFileSync(join(folder, 'chat.json'), 'utf8')))
        .catch((error) => ({ trouble: String(error.stack ?? error) }))
        .then((found) => {
          writeFileSync(join(folder, 'chat.tmp'), JSON.stringify(found, null, 2));
          renameSync(join(folder, 'chat.tmp'), join(folder, 'chat.done'));
          chatting = undefined;
        });
    }),
    vscode.commands.registerCommand('other.stopChat', () => chatToken?.cancel()),
  );
  context.subscriptions.push(vscode.commands.registerCommand('other.offerModel', () => offered.fire()));
  // From VS Code 1.104 on. A model is offered only in folders that have a file with its answer.
  if (vscode.lm.registerLanguageModelChatProvider !== undefined) {
    context.subscriptions.push(vscode.lm.registerLanguageModelChatProvider('other', parrot));
  }
};

const offered = new vscode.EventEmitter();
const parrot = {
  onDidChangeLanguageModelChatInformation: offered.event,
  provideLanguageModelChatInformation: () =>
    speech() === undefined
      ? []
      : [
          {
            id: 'parrot-1',
            name: 'Parrot',
            family: 'parrot',
            version: '1',
            maxInputTokens: 10_000,
            maxOutputTokens: 1_000,
            capabilities: {},
          },
        ],
  provideLanguageModelChatResponse: async (model, messages, options, progress) => {
    progress.report(new vscode.LanguageModelTextPart(speech()));
  },
  provideTokenCount: async (model, text) => String(text).length,
};

function speech() {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  return folder !== undefined && existsSync(join(folder, 'model.json'))
    ? JSON.parse(readFileSync(join(folder, 'model.json'), 'utf8')).says
    : undefined;
}

let used;
let loop;
let chatting;
let chatToken;

async function chat({ server, tool, input, gone }) {
  const names = () => vscode.lm.tools.map(({ name }) => name).filter((name) => name.startsWith('mcp_'));
  const named = () => names().find((name) => name.endsWith(tool));
  if (gone === true) {
    for (const end = Date.now() + 300_000; named() !== undefined && Date.now() < end;)
      await new Promise((resolve) => setTimeout(resolve, 100));
    return { tools: names() };
  }
  for (const end = Date.now() + 300_000; named() === undefined && Date.now() < end;) {
    await vscode.commands.executeCommand('workbench.mcp.startServer', server, { waitForLiveTools: true });
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const name = named();
  if (name === undefined) return { tools: names(), trouble: 'the tool is not there' };
  chatToken = new vscode.CancellationTokenSource();
  return vscode.lm.invokeTool(name, { input, toolInvocationToken: undefined }, chatToken.token).then(
    ({ content }) => ({ tools: names(), said: content.map(({ value }) => String(value)).join('\n') }),
    (error) => ({ tools: names(), error: String(error.message ?? error) }),
  );
}

async function use(extension) {
  const api = await vscode.extensions.getExtension('mcphub.mcphub').activate();
  const mcphub = api.connect(extension);
  await mcphub.ready();
  const changes = [];
  const listening = mcphub.onDidChangeServers(() => changes.push(Date.now()));
  const tools = await mcphub.tools('demo');
  const { servers } = mcphub;

  const progress = [];
  const slept = await mcphub.callTool({
    server: 'demo',
    tool: 'sleep',
    arguments: { seconds: 2, steps: 10 },
    onProgress: (p) => progress.push(p),
  });

  const byId = mcphub.callTool({
    server: 'demo',
    tool: 'long_task',
    arguments: { steps: 1000, step_ms: 500 },
    requestId: 'other-1',
    onProgress: () => mcphub.cancel('other-1', 'the other extension has changed its mind'),
  });
  const cancelledById = await outcome(byId);

  const abort = new AbortController();
  const bySignal = mcphub.callTool({
    server: 'demo',
    tool: 'long_task',
    arguments: { steps: 1000, step_ms: 500 },
    signal: abort.signal,
    onProgress: () => abort.abort('not wanted any longer'),
  });
  const cancelledBySignal = await outcome(bySignal);

  const unknown = await outcome(mcphub.callTool({ server: 'demo', tool: 'no_such_tool', arguments: {} }));
  listening.dispose();
  return {
    version: api.version,
    servers: servers.map((server) => server.name),
    tools: tools.map((tool) => tool.name),
    slept,
    progress: progress.length,
    changes: changes.length,
    cancelledById,
    cancelledBySignal,
    unknown,
  };
}

function outcome(call) {
  return call.then(
    (result) => ({ result }),
    (error) => ({ error: String(error.message ?? error), code: error.code, reason: error.reason }),
  );
}
