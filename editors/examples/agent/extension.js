// An extension with an agent and without a hub of its own. The class in servers.js does the work; this file shows how
// it is used.
'use strict';
const vscode = require('vscode');
const { Servers } = require('./servers.js');

/** @param {vscode.ExtensionContext} context */
exports.activate = async (context) => {
  const output = vscode.window.createOutputChannel('Example Agent');
  const servers = await Servers.open(context, (line) => output.appendLine(line));
  let stopped = new AbortController();
  const run = async () => {
    const task = `task ${Date.now()}`;
    stopped = new AbortController();
    const { signal } = stopped;
    signal.addEventListener('abort', () => void servers.stop(task));
    output.appendLine(`${servers.list.length} servers, ${(await servers.describe()).length} tools`);
    // Calls as a model would make them.
    const calls = [
      { name: 'demo/add_tool', arguments: { name: `added_${Date.now()}` } },
      { name: 'demo/long_task', arguments: { steps: 600, step_ms: 100 } },
      { name: 'demo/sleep', arguments: { seconds: 60, steps: 60 } },
    ];
    const ends = await Promise.allSettled(calls.map((c) => servers.call(task, c, signal, (t) => output.appendLine(t))));
    ends.forEach((end, i) =>
      output.appendLine(`${calls[i]?.name}: ${end.status === 'fulfilled' ? end.value.text : `no: ${end.reason}`}`),
    );
    output.appendLine('The task is over.');
  };
  const tryOne = async () => {
    const entry = await vscode.window.showInputBox({ prompt: 'A server to try, as its instructions have it (JSON)' });
    if (entry === undefined) return;
    const { configFile, needsConsent } = await servers.add('tried', entry);
    output.appendLine(`Added to ${configFile}${needsConsent ? ', waits for a yes' : ''}.`);
    const tried = { name: 'tried', source: /** @type {const} */ ('user') };
    await servers.alwaysAllow(tried, 'sleep', true);
    await servers.setTimeout(tried, 60);
    const call = { name: 'tried/sleep', arguments: { seconds: 0.1, steps: 1 } };
    const { text } = await servers.call('trial', call, AbortSignal.timeout(60_000), () => undefined);
    output.appendLine(`The server says ${text}`);
    const off = await servers.enable(tried, false);
    const state = off.server?.state;
    await servers.remove(tried);
    output.appendLine(`It was ${state}, and is gone.`);
  };
  context.subscriptions.push(
    output,
    servers,
    servers.onDidChange(() => output.appendLine('servers or tools have changed')),
    vscode.commands.registerCommand('exampleAgent.run', () =>
      run().catch((/** @type {unknown} */ e) => output.appendLine(String(e))),
    ),
    vscode.commands.registerCommand('exampleAgent.try', () =>
      tryOne().catch((/** @type {unknown} */ e) => output.appendLine(String(e))),
    ),
    vscode.commands.registerCommand('exampleAgent.stop', () => stopped.abort('the user has stopped the task')),
    vscode.commands.registerCommand('exampleAgent.show', () => output.show()),
  );
};
