// One resource of a server: its description, and the buttons that read it and subscribe to its changes.

import { facts, fullName } from '../questions/cardparts.js';
import { h, setText } from '../elements/dom.js';
import { copyButton } from '../elements/icon.js';
import { commandLink } from '../surface.js';
import { bytes, shortName, startOf, visible } from '../words/text.js';
import { aboutOf, annotationsOf, definitionOf } from './offerview.js';
import { requester } from './requester.js';
import { subscribeControl, subscriptionWords } from './subscribecontrol.js';
import { t } from '../words/t.js';
import type { ResourceJson as Resource } from '../../../host/src/gen/mcphub/v1/server_pb.js';
import type { Child } from '../elements/dom.js';
import type { OfferView } from './offerlist.js';
import type { Page } from '../page.js';

export function openResource(page: Page, server: string, uri: string) {
  const text = t('Open as document');
  const link = commandLink(page.surface, 'mcphub.openResource', [server, uri], text);
  link?.setAttribute('aria-label', `${text}: ${shortName(uri)}`);
  return link;
}

/** Returns what is opened of an entry: whose it is, what it is, what can be done with it, and its facts, folded. */
export function offerPage(testid: string, server: string, description: string, parts: Child[], about: HTMLElement) {
  return h(
    'div',
    { dataset: { testid } },
    aboutOf(server, description),
    h('div', { class: 'stack' }, ...parts),
    h('details', {}, h('summary', { text: t('Details') }), about),
  );
}

/** @param subscribes the server takes subscriptions */
export function resourceView(page: Page, server: string, resource: Resource, subscribes: () => boolean): OfferView {
  const { uri = '', name = '', title = '', mimeType = '', size } = resource;
  const { audience, priority, modified } = annotationsOf(definitionOf(resource.definitionJson));
  const subscribe = subscribeControl(page, server, uri, subscribes);
  const reading = requester(page, {
    verb: t('Read'),
    name: title || name || uri,
    order: (requestId) => ['ReadResource', { requestId, server, uri }],
    actions: [subscribe.button, openResource(page, server, uri)],
  });
  const mark = h('p', { class: 'quiet', role: 'status' });
  const address = h(
    'span',
    { class: 'line' },
    fullName(uri),
    copyButton(t('Copy URI'), () => uri, page.announce),
  );
  const about = facts([
    ['URI', address],
    [t('Name'), title !== '' && fullName(name)],
    [t('Type'), mimeType && visible(startOf(mimeType, 200))],
    [t('Size'), size !== undefined && bytes(size)],
    [t('For'), audience],
    [t('Priority'), priority],
    [t('Modified'), modified],
  ]);
  return {
    element: offerPage(
      `resource-${uri.slice(0, 200)}`,
      server,
      resource.description ?? '',
      [...reading.elements, mark, subscribe.problem],
      about,
    ),
    update: () => {
      subscribe.update();
      setText(mark, subscriptionWords(page, server, uri));
    },
    requestsChanged: reading.requestsChanged,
  };
}
