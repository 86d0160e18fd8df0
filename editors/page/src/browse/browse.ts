// What a server offers besides its tools: resources, templates of resources, and prompts. A list is shown only if the
// server has declared the capability.

import { h, show } from '../elements/dom.js';
import { subscriptionsOf } from '../hub/subscribed.js';
import { objectOf } from '../words/jsontext.js';
import { startOf } from '../words/text.js';
import { offerList } from './offerlist.js';
import { definitionOf } from './offerview.js';
import { promptView } from './promptview.js';
import { resourceView } from './resourceview.js';
import { templateView } from './templateview.js';
import { t } from '../words/t.js';
import type {
  McpPromptJson as McpPrompt,
  ResourceJson as Resource,
  ResourceTemplateJson as Template,
} from '../../../host/src/gen/mcphub/v1/server_pb.js';
import type { Page } from '../page.js';

/** How many characters of each text a filter searches. */
const searched = 4000;

const wordsOf = (texts: readonly (string | undefined)[]) =>
  texts.map((text) => startOf(text ?? '', searched)).join('\n');

export function browseView(page: Page, server: string) {
  let known = '';
  let capabilities = definitionOf('');
  /** Returns the capabilities that the server declared when it was last connected. */
  const declared = () => {
    const json = page.state.servers.get(server)?.capabilitiesJson ?? '';
    if (json !== '' && json !== known) {
      known = json;
      capabilities = definitionOf(json);
    }
    return capabilities;
  };
  const subscribes = () => objectOf(declared().get('resources')).get('subscribe') === true;
  const completes = () => declared().has('completions');

  const resources = offerList(server, {
    title: t('Resources'),
    testid: 'resources',
    ask: (query, unwanted) => page.call('ListResources', { server, query }, unwanted),
    read: ({ resources: entries = [], matched = 0 }) => ({ entries, matched }),
    keyOf: (one: Resource) => `${one.uri} ${one.definitionJson}`,
    words: (one) => wordsOf([one.uri, one.name, one.title, one.description, one.mimeType]),
    view: (one) => resourceView(page, server, one, subscribes),
    added: (listed) => {
      const uris = new Set(listed.map(({ uri }) => uri));
      return subscriptionsOf(page.state.subscriptions, server)
        .filter(({ uri }) => !uris.has(uri))
        .map(({ uri }) => ({ server, uri }));
    },
  });
  const templates = offerList(server, {
    title: t('Resource Templates'),
    testid: 'templates',
    ask: (query, unwanted) => page.call('ListResourceTemplates', { server, query }, unwanted),
    read: ({ resourceTemplates: entries = [], matched = 0 }) => ({ entries, matched }),
    keyOf: (one: Template) => `${one.uriTemplate} ${one.definitionJson}`,
    words: (one) => wordsOf([one.uriTemplate, one.name, one.title, one.description, one.mimeType]),
    view: (one) => templateView(page, server, one, { subscribes, completes }),
  });
  const prompts = offerList(server, {
    title: t('Prompts'),
    testid: 'mcp-prompts',
    ask: (query, unwanted) => page.call('ListMcpPrompts', { server, query }, unwanted),
    read: ({ prompts: entries = [], matched = 0 }) => ({ entries, matched }),
    keyOf: (one: McpPrompt) => `${one.name} ${one.definitionJson}`,
    words: (one) => wordsOf([one.name, one.title, one.description]),
    view: (one) => promptView(page, server, one, completes),
  });
  const lists = [resources, templates, prompts];
  const element = h('div', {}, ...lists.map((list) => list.element));

  function update() {
    show(resources.element, declared().has('resources'));
    show(templates.element, declared().has('resources'));
    show(prompts.element, declared().has('prompts'));
  }
  update();
  return {
    element,
    update,
    load: () => lists.forEach((list) => list.load()),
    changed: (seen: boolean) => lists.forEach((list) => list.changed(seen)),
    subscribed: () => lists.forEach((list) => list.subscribed()),
    requestsChanged: () => lists.forEach((list) => list.requestsChanged()),
  };
}
