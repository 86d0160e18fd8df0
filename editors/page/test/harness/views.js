// Views for tests: pages that implement the protocol of MCP Apps by hand, and replies of a hub that contain them.

import { request, server, tool } from './world.js';

export const uri = 'ui://charts/view.html';

/** A running call of a tool that has a view. */
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
};

/**
 * Returns the HTML of a view. It writes everything that it receives as texts into its body, initializes the protocol,
 * and then runs a script. In the script, `say` sends a notification, `ask` sends a request and returns a promise of its
 * answer, and `note` writes a text.
 *
 * @param {string} script
 * @param {string} [first] runs before the initialization
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
 * Returns the result of resources/read for a view.
 *
 * @param {string} html
 * @param {object} [ui] its _meta.ui
 * @param {string} [mimeType]
 */
export const resourceOf = (html, ui, mimeType = 'text/html;profile=mcp-app') =>
  JSON.stringify({ contents: [{ uri, mimeType, text: html, ...(ui && { _meta: { ui } }) }] });

/**
 * Clicks "Show the view", and answers the requests that the page makes for that.
 *
 * @param {Pick<import('./pagetest.js').Opened, 'hub' | 'by'>} opened
 * @param {string} resource
 * @param {string} [argumentsJson]
 */
export async function openTheView({ hub, by }, resource, argumentsJson = '{"of":"sales"}') {
  hub.kept['r-1 ARGUMENTS'] = argumentsJson;
  hub.answers['listResources'] ??= () => ({ listResources: {} }); // the page asks if the content has no metadata
  await by('show-view').first().click();
  const read = await hub.next('readResource');
  hub.kept[`${read.readResource.requestId} RESULT`] = resource;
  await hub.reply(read);
  return read;
}

/** Returns the document inside both frames. @param {Pick<import('./pagetest.js').Opened, 'by'>} opened */
export const inside = ({ by }) => by('view-r-1').frameLocator('iframe').frameLocator('iframe');

/**
 * Waits until the view has noted a text.
 *
 * @param {Pick<import('./pagetest.js').Opened, 'by'>} opened
 * @param {string | RegExp} text
 */
export const noted = (opened, text) => inside(opened).locator('#heard li').filter({ hasText: text }).first().waitFor();

/**
 * Lets time pass until the view has gone, which waits for an answer of its own for a while.
 *
 * @param {Pick<import('./pagetest.js').Opened, 'by' | 'pass'>} opened
 */
export async function untilGone({ by, pass }) {
  while ((await by('view-r-1').count()) > 0) await pass(500);
}

/** Returns all texts that the view has noted. @param {Pick<import('./pagetest.js').Opened, 'by'>} opened */
export const notes = (opened) => inside(opened).locator('#heard li').allInnerTexts();
