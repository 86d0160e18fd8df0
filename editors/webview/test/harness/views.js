// Views for tests: pages that speak the protocol of MCP Apps by hand, and a hub that gives them to the page.

import { request, server, tool } from './world.js';

export const uri = 'ui://charts/view.html';

/** A tool with a view, that runs. */
export const withView = {
  snapshot: {
    servers: [server('charts')],
    requests: [request('r-1', { server: 'charts', tool: 'draw' })],
  },
  tools: {
    charts: [
      tool('charts', 'draw', { type: 'object' }, { uiResourceUri: uri, title: 'Draw a chart' }),
      tool('charts', 'refresh', { type: 'object' }, { hiddenFromModels: true }),
      tool('charts', 'secret', { type: 'object' }, { hiddenFromApps: true }),
    ],
  },
  apps: true,
  realTime: true,
};

/**
 * A view that notes all that it hears as texts in its body, greets as it should, and then runs a script. In that `say`
 * sends a notification, `ask` a request whose answer is noted, and `note` a text.
 *
 * @param {string} script
 * @param {string} [first] what runs before it greets
 */
export const viewOf = (script, first = '') => `<!DOCTYPE html><html><body><ol id="heard"></ol><script>
const heard = document.getElementById('heard');
const note = (text) => { const li = document.createElement('li'); li.textContent = text; heard.append(li); };
const send = (message) => parent.postMessage({ jsonrpc: '2.0', ...message }, '*');
let ids = 0; const waiting = new Map();
const say = (method, params = {}) => send({ method, params });
const ask = (method, params = {}) => new Promise((done) => { const id = ++ids; waiting.set(id, done); send({ id, method, params }); });
addEventListener('message', ({ data, source }) => {
  if (source !== parent) return;
  if (data.method === undefined) { waiting.get(data.id)?.(data); waiting.delete(data.id); return; }
  note(data.method.replace('ui/notifications/', '') + ' ' + JSON.stringify(data.params));
  if (data.method === 'ui/resource-teardown' && !window.stubborn) send({ id: data.id, result: {} });
});
addEventListener('securitypolicyviolation', (event) => note('blocked ' + event.effectiveDirective));
${first}
ask('ui/initialize', { appInfo: { name: 'test', version: '1' }, appCapabilities: {}, protocolVersion: '2026-01-26' }).then(async (hello) => {
  window.hello = hello;
  say('ui/notifications/initialized');
  note('greeted ' + hello.result.protocolVersion);
  ${script}
});
</script></body></html>`;

/**
 * What a server answers to resources/read of a view.
 *
 * @param {string} html
 * @param {object} [ui] its _meta.ui
 * @param {string} [mimeType]
 */
export const resourceOf = (html, ui, mimeType = 'text/html;profile=mcp-app') =>
  JSON.stringify({ contents: [{ uri, mimeType, text: html, ...(ui && { _meta: { ui } }) }] });

/**
 * Presses "Show the view", and gives the page what it reads for that.
 *
 * @param {Pick<import('./pagetest.js').Opened, 'hub' | 'by'>} opened
 * @param {string} resource
 * @param {string} [argumentsJson]
 */
export async function openTheView({ hub, by }, resource, argumentsJson = '{"of":"sales"}') {
  hub.kept['r-1 ARGUMENTS'] = argumentsJson;
  hub.answers['listResources'] ??= () => ({ listResources: {} }); // asked where the content says nothing of itself
  await by('show-view').first().click();
  const read = await hub.next('readResource');
  hub.kept[`${read.readResource.requestId} RESULT`] = resource;
  await hub.reply(read);
  return read;
}

/** What is inside of both frames. @param {Pick<import('./pagetest.js').Opened, 'by'>} opened */
export const inside = ({ by }) => by('view-r-1').frameLocator('iframe').frameLocator('iframe');

/**
 * Waits until the view has noted something, however busy the machine is.
 *
 * @param {Pick<import('./pagetest.js').Opened, 'by'>} opened
 * @param {string | RegExp} text
 */
export const noted = (opened, text) =>
  inside(opened).locator('#heard li').filter({ hasText: text }).first().waitFor({ timeout: 120_000 });

/** All that the view has noted. @param {Pick<import('./pagetest.js').Opened, 'by'>} opened */
export const notes = (opened) => inside(opened).locator('#heard li').allInnerTexts();
