// One resource of a server: its description, and the buttons that read it and subscribe to its changes.

import { facts, fullName, prose } from '../questions/cardparts.js';
import { h } from '../elements/dom.js';
import { copyButton } from '../elements/icon.js';
import { subscribedTo } from '../hub/subscribed.js';
import { commandLink } from '../surface.js';
import { bytes, shortName, startOf, visible } from '../words/text.js';
import { annotationsOf, definitionOf, offerFrame } from './offerview.js';
import { requester } from './requester.js';
import { subscribeControl } from './subscribecontrol.js';
import { t } from '../words/t.js';
import type { ResourceJson as Resource } from '../../../host/src/gen/mcphub/v1/server_pb.js';
import type { OfferView } from './offerlist.js';
import type { Page } from '../page.js';
import type { Requester } from './requester.js';

export const longestProse = 4000;

export function openResource(page: Page, server: string, uri: string) {
  const text = t('Open as Document');
  const link = commandLink(page.surface, 'mcphub.openResource', [server, uri], text);
  link?.setAttribute('aria-label', `${text}: ${shortName(uri)}`);
  return link;
}

/** @param subscribes the server takes subscriptions */
export function resourceView(page: Page, server: string, resource: Resource, subscribes: () => boolean): OfferView {
  const { uri = '', name = '', title = '', mimeType = '', size } = resource;
  const definition = definitionOf(resource.definitionJson);
  const plain = [startOf(mimeType, 60), size !== undefined && bytes(size)].filter(Boolean).join(', ');
  const subscribe = subscribeControl(page, server, uri, subscribes);
  let reading: Requester | undefined;
  const frame = offerFrame({
    name: name || uri,
    title,
    definition,
    testid: `resource-${uri.slice(0, 200)}`,
    build: (head) => {
      const { audience, priority, modified } = annotationsOf(definition);
      reading = requester(page, {
        verb: t('Read'),
        name: title || name || uri,
        home: head,
        order: (requestId) => ['ReadResource', { requestId, server, uri }],
        actions: [subscribe.button, openResource(page, server, uri)],
      });
      return [
        prose(startOf(resource.description ?? '', longestProse)) || undefined,
        facts([
          [
            'URI',
            h(
              'span',
              { class: 'line' },
              fullName(uri),
              copyButton(t('Copy URI'), () => uri, page.announce),
            ),
          ],
          [t('Name'), title !== '' && fullName(name)],
          [t('Type'), mimeType && visible(startOf(mimeType, 200))],
          [t('Size'), size !== undefined && bytes(size)],
          [t('For'), audience],
          [t('Priority'), priority],
          [t('Modified'), modified],
        ]),
        ...reading.elements,
        subscribe.problem,
      ];
    },
  });
  function update() {
    subscribe.update();
    const subscribed = subscribedTo(page.state.subscriptions, server, uri);
    if (!subscribed) frame.say(plain);
    else if (!subscribed.changed) frame.say(t('Subscribed'));
    else frame.say(subscribed.sure ? t('● Changed since you read it') : t('● May have changed since you read it'));
  }
  return { element: frame.element, head: frame.head, update, requestsChanged: () => reading?.requestsChanged() };
}
