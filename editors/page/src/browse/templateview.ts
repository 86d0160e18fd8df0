// One resource template: a field for each variable, and the resource that results from the values. The hub fills in the
// template.

import { facts, fullName } from '../questions/cardparts.js';
import { h, replace } from '../elements/dom.js';
import { startOf, visible } from '../words/text.js';
import { argumentFields } from './argumentfields.js';
import { requester } from './requester.js';
import { offerPage, openResource } from './resourceview.js';
import { subscribeControl } from './subscribecontrol.js';
import { t } from '../words/t.js';
import type { ResourceTemplateJson as Template } from '../../../host/src/gen/mcphub/v1/server_pb.js';
import type { Page } from '../page.js';
import type { OfferView } from './offerlist.js';

export function templateView(
  page: Page,
  server: string,
  template: Template,
  { subscribes, completes }: { subscribes: () => boolean; completes: () => boolean },
): OfferView {
  const { uriTemplate = '', name = '', title = '', mimeType = '', variables = [], problem = '' } = template;
  const testid = `template-${uriTemplate.slice(0, 200)}`;
  const about = facts([
    [t('Template'), fullName(uriTemplate)],
    [t('Name'), title !== '' && fullName(name)],
    [t('Type'), mimeType && visible(startOf(mimeType, 200))],
  ]);
  const opened = (parts: Parameters<typeof offerPage>[3]) =>
    offerPage(testid, server, template.description ?? '', parts, about);
  if (problem !== '') {
    const why = h('p', { class: 'problem', text: t('It cannot be filled in: {0}.', visible(problem)) });
    return { element: opened([why]), update: () => undefined, requestsChanged: () => undefined };
  }
  const subscribe = subscribeControl(page, server, '', subscribes);
  const made = h('div', {});
  const fields = argumentFields(page, {
    server,
    reference: { uriTemplate },
    args: variables.map((variable) => ({ name: variable })),
    completes: completes(),
    submit: () => reading.button.click(),
  });
  const reading = requester(page, {
    verb: t('Read'),
    name: title || name || uriTemplate,
    order: async (requestId) => {
      const values = fields.read() ?? {};
      const { error, response } = await page.call('ExpandUriTemplate', { uriTemplate, values });
      const uri = response?.uri ?? '';
      subscribe.update(uri);
      replace(made, uri !== '' && facts([['URI', fullName(uri)]]), uri !== '' && openResource(page, server, uri));
      if (error) return visible(error.message);
      return ['ReadResource', { requestId, server, uri }];
    },
    actions: [subscribe.button],
  });
  return {
    element: opened([variables.length > 0 && fields.element, made, ...reading.elements, subscribe.problem]),
    update: () => subscribe.update(),
    requestsChanged: reading.requestsChanged,
  };
}
