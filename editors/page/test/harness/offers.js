// What a server offers besides its tools, as a hub would list it.

import { finished, request, server } from './world.js';

/** @typedef {import('../../../host/src/gen/mcphub/v1/server_pb.js').ResourceJson} ResourceJson */
/** @typedef {import('../../../host/src/gen/mcphub/v1/server_pb.js').ResourceTemplateJson} ResourceTemplateJson */
/** @typedef {import('../../../host/src/gen/mcphub/v1/server_pb.js').McpPromptJson} McpPromptJson */
/** @typedef {{ resources: ResourceJson[], templates: ResourceTemplateJson[], prompts: McpPromptJson[] }} Offers */

export const capabilitiesJson = '{"resources":{"subscribe":true},"prompts":{},"completions":{}}';

/** Returns a server that has all these capabilities. @param {string} name */
export const offering = (name) => server(name, { capabilitiesJson });

/** @param {string} uri @param {Partial<ResourceJson>} [rest] @param {object} [definition] */
export const resource = (uri, rest = {}, definition = {}) => ({
  server: 'files',
  uri,
  name: uri.split('/').at(-1) ?? '',
  definitionJson: JSON.stringify({ uri, ...definition }),
  ...rest,
});

/** @returns {Offers} */
export const someOffers = () => ({
  resources: [
    resource(
      'file:///notes.md',
      { title: 'Notes', mimeType: 'text/markdown', size: '2100', description: 'What was decided.' },
      { annotations: { audience: ['user'], priority: 0.8, lastModified: '2026-10-01T10:00:00Z' } },
    ),
    resource('db://orders', { mimeType: 'application/json' }),
    resource('javascript:alert(1)', { name: 'not a link' }),
  ],
  templates: [
    {
      server: 'files',
      uriTemplate: 'file:///{folder}/{name}',
      name: 'any-file',
      title: 'Any file',
      definitionJson: '{}',
      variables: ['folder', 'name'],
    },
    { server: 'files', uriTemplate: 'x:{!y}', name: 'odd', definitionJson: '{}', problem: 'unimplemented operator' },
  ],
  prompts: [
    {
      server: 'files',
      name: 'review',
      title: 'Review',
      description: 'Reviews a change.',
      definitionJson: '{}',
      arguments: [
        { name: 'language', description: 'Of the code.', required: true },
        { name: 'tone', title: 'Tone' },
      ],
    },
    { server: 'files', name: 'plain', definitionJson: '{}' },
  ],
});

/**
 * Returns the entries of a list that match a query, as the hub does it.
 * @template T
 * @param {T[]} all
 * @param {string | undefined} query
 * @param {number} most
 */
function some(all, query = '', most = 1000) {
  const found = all.filter((one) => JSON.stringify(one).toLowerCase().includes(query.toLowerCase()));
  return { found: found.slice(0, most), matched: found.length };
}

/** Makes the hub answer requests for these offers. @param {import('./hub.js').Hub} hub @param {Offers} [offers] */
export function offer(hub, offers = someOffers()) {
  Object.assign(hub.answers, {
    listResources: (/** @type {import('./hub.js').Message} */ m) => {
      const { found, matched } = some(offers.resources, m.listResources?.query);
      return { listResources: { resources: found, matched } };
    },
    listResourceTemplates: (/** @type {import('./hub.js').Message} */ m) => {
      const { found, matched } = some(offers.templates, m.listResourceTemplates?.query);
      return { listResourceTemplates: { resourceTemplates: found, matched } };
    },
    listMcpPrompts: (/** @type {import('./hub.js').Message} */ m) => {
      const { found, matched } = some(offers.prompts, m.listMcpPrompts?.query);
      return { listMcpPrompts: { prompts: found, matched } };
    },
    complete: (/** @type {import('./hub.js').Message} */ m) => {
      const values = ['go', 'gopher', 'java', 'javascript', 'rust'].filter((v) =>
        v.startsWith(m.complete?.value ?? ''),
      );
      return { complete: { resultJson: JSON.stringify({ completion: { values } }) } };
    },
    expandUriTemplate: (/** @type {import('./hub.js').Message} */ m) => ({
      expandUriTemplate: {
        uri: (m.expandUriTemplate?.uriTemplate ?? '').replace(/\{(\w+)\}/g, (_, name) =>
          encodeURIComponent(m.expandUriTemplate?.values?.[String(name)] ?? ''),
        ),
      },
    }),
    subscribeResource: () => ({}),
    unsubscribeResource: () => ({}),
  });
}

/**
 * Reports the start of a request of the page, and its end with a result.
 * @param {import('./hub.js').Hub} hub
 * @param {{ requestId?: string, method: string, subject: string }} of
 * @param {unknown} [result] undefined: the request goes on
 */
export async function carryOut(hub, { requestId = '', method, subject }, result) {
  const about = { requestId, server: 'files', method, tool: '', subject };
  await hub.say({ mcpRequestStarted: { request: request(requestId, about) } });
  if (result === undefined) return;
  const resultJson = JSON.stringify(result);
  const end = finished(requestId, { ...about, resultJson, resultSizeBytes: String(resultJson.length) });
  if (end.finished) await hub.say({ mcpRequestFinished: end.finished });
}
