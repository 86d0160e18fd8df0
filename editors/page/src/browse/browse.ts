// What a server offers besides its tools: resources, templates of resources, and prompts.

import { h } from '../elements/dom.js';
import { subscriptionsOf } from '../hub/subscribed.js';
import { objectOf } from '../words/jsontext.js';
import { bytes, startOf } from '../words/text.js';
import { plural, t } from '../words/t.js';
import { offerList } from './offerlist.js';
import { definitionOf, iconOf } from './offerview.js';
import { promptView } from './promptview.js';
import { resourceView } from './resourceview.js';
import { subscriptionWords } from './subscribecontrol.js';
import { templateView } from './templateview.js';
import type {
  ListMcpPromptsResponseJson as ListedPrompts,
  ListResourcesResponseJson as ListedResources,
  ListResourceTemplatesResponseJson as ListedTemplates,
  McpPromptJson as McpPrompt,
  ResourceJson as Resource,
  ResourceTemplateJson as Template,
} from '../../../host/src/gen/mcphub/v1/server_pb.js';
import type { Opening, Page } from '../page.js';
import type { Kind } from './offerlist.js';

/** How many characters of each text a filter searches. */
const searched = 4000;

const wordsOf = (texts: readonly (string | undefined)[]) =>
  texts.map((text) => startOf(text ?? '', searched)).join('\n');

/** What stands beside the title: the description, or else the name, if it says something else. */
const besides = (title: string, name: string, description = '') => description || (title !== name ? name : '');

export function browseLists(page: Page, server: string, up: Opening['up']) {
  const declared = capabilitiesOf(page, server);
  const subscribes = () => objectOf(declared().get('resources')).get('subscribe') === true;
  const completes = () => declared().has('completions');
  const resources = offerList(page, server, up, resourceKind(page, server, subscribes));
  const templates = offerList(page, server, up, templateKind(page, server, { subscribes, completes }));
  const prompts = offerList(page, server, up, promptKind(page, server, completes));
  const lists = [resources, templates, prompts];

  return {
    resources: h(
      'div',
      {},
      resources.element,
      h('h3', { class: 'sub', text: t('Resource templates') }),
      templates.element,
    ),
    prompts: h('div', {}, prompts.element),
    loadResources: () => {
      resources.load();
      templates.load();
    },
    loadPrompts: prompts.load,
    openResource: (uri: string) => void resources.open(uri),
    openTemplate: (uriTemplate: string) => void templates.open(uriTemplate),
    openPrompt: (name: string) => void prompts.open(name),
    /** reports whether the server has resources, and prompts */
    declared: (): [boolean, boolean] => [declared().has('resources'), declared().has('prompts')],
    changed: (seen: boolean) => lists.forEach((list) => list.changed(seen)),
    subscribed: () => lists.forEach((list) => list.subscribed()),
    requestsChanged: () => lists.forEach((list) => list.requestsChanged()),
  };
}

/** Returns a function that returns the capabilities which the server declared when it was last connected. */
function capabilitiesOf({ state }: Page, server: string) {
  let known = '';
  let capabilities = definitionOf('');
  return () => {
    const json = state.servers.get(server)?.capabilitiesJson ?? '';
    if (json !== '' && json !== known) {
      known = json;
      capabilities = definitionOf(json);
    }
    return capabilities;
  };
}

const resourceKind = (page: Page, server: string, subscribes: () => boolean): Kind<Resource, ListedResources> => ({
  title: t('Resources'),
  filter: t('Filter resources'),
  testid: 'resources',
  entryTestid: ({ uri = '' }) => `resource-${uri.slice(0, 200)}`,
  ask: (query, unwanted) => page.call('ListResources', { server, query }, unwanted),
  read: ({ resources: entries = [], matched = 0 }) => ({ entries, matched }),
  idOf: ({ uri = '' }) => uri,
  versionOf: (one) => `${one.uri} ${one.definitionJson}`,
  words: (one) => wordsOf([one.uri, one.name, one.title, one.description, one.mimeType]),
  row: ({ uri = '', name = '', title = '', mimeType = '', size, description, definitionJson }) => {
    const shown = title || name || uri;
    const type = [startOf(mimeType, 60), size !== undefined && bytes(size)].filter(Boolean).join(', ');
    return {
      title: shown,
      what: besides(shown, name || uri, description),
      flag: subscriptionWords(page, server, uri) || type,
      icon: iconOf(definitionOf(definitionJson)),
    };
  },
  view: (one) => resourceView(page, server, one, subscribes),
  added: (listed) => {
    const uris = new Set(listed.map(({ uri }) => uri));
    return subscriptionsOf(page.state.subscriptions, server)
      .filter(({ uri }) => !uris.has(uri))
      .map(({ uri }) => ({ server, uri }));
  },
});

const templateKind = (
  page: Page,
  server: string,
  takes: { subscribes: () => boolean; completes: () => boolean },
): Kind<Template, ListedTemplates> => ({
  title: t('Resource templates'),
  filter: t('Filter templates'),
  testid: 'templates',
  entryTestid: ({ uriTemplate = '' }) => `template-${uriTemplate.slice(0, 200)}`,
  ask: (query, unwanted) => page.call('ListResourceTemplates', { server, query }, unwanted),
  read: ({ resourceTemplates: entries = [], matched = 0 }) => ({ entries, matched }),
  idOf: ({ uriTemplate = '' }) => uriTemplate,
  versionOf: (one) => `${one.uriTemplate} ${one.definitionJson}`,
  words: (one) => wordsOf([one.uriTemplate, one.name, one.title, one.description, one.mimeType]),
  row: ({ uriTemplate = '', name = '', title = '', mimeType = '', description, definitionJson }) => {
    const shown = title || name || uriTemplate;
    const what = besides(shown, name || uriTemplate, description);
    return { title: shown, what, flag: startOf(mimeType, 60), icon: iconOf(definitionOf(definitionJson)) };
  },
  view: (one) => templateView(page, server, one, takes),
});

const promptKind = (page: Page, server: string, completes: () => boolean): Kind<McpPrompt, ListedPrompts> => ({
  title: t('Prompts'),
  filter: t('Filter prompts'),
  testid: 'mcp-prompts',
  entryTestid: ({ name = '' }) => `mcp-prompt-${name.slice(0, 200)}`,
  ask: (query, unwanted) => page.call('ListMcpPrompts', { server, query }, unwanted),
  read: ({ prompts: entries = [], matched = 0 }) => ({ entries, matched }),
  idOf: ({ name = '' }) => name,
  versionOf: (one) => `${one.name} ${one.definitionJson}`,
  words: (one) => wordsOf([one.name, one.title, one.description]),
  row: ({ name = '', title = '', description, arguments: args = [], definitionJson }) => ({
    title: title || name,
    what: besides(title || name, name, description),
    flag: args.length > 0 ? plural(args.length, '{0} argument', '{0} arguments') : '',
    icon: iconOf(definitionOf(definitionJson)),
  }),
  view: (one) => promptView(page, server, one, completes),
});
