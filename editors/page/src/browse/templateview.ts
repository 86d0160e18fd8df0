// One resource template: a field for each variable, and the resource that results from the values. The hub fills in the
// template.

import { facts, fullName, prose } from '../questions/cardparts.js';
import { h, replace } from '../elements/dom.js';
import { startOf, visible } from '../words/text.js';
import { argumentFields } from './argumentfields.js';
import { definitionOf, offerFrame } from './offerview.js';
import { requester } from './requester.js';
import { longestProse, openResource } from './resourceview.js';
import { subscribeControl } from './subscribecontrol.js';
import { t } from '../words/t.js';
import type { ResourceTemplateJson as Template } from '../../../host/src/gen/mcphub/v1/server_pb.js';
import type { Page } from '../page.js';
import type { OfferView } from './offerlist.js';
import type { Requester } from './requester.js';

export function templateView(
  page: Page,
  server: string,
  template: Template,
  { subscribes, completes }: { subscribes: () => boolean; completes: () => boolean },
): OfferView {
  const { uriTemplate = '', name = '', title = '', mimeType = '', variables = [], problem = '' } = template;
  const subscribe = subscribeControl(page, server, '', subscribes);
  const made = h('div', {});
  let reading: Requester | undefined;
  const frame = offerFrame({
    name: name || uriTemplate,
    title,
    definition: definitionOf(template.definitionJson),
    testid: `template-${uriTemplate.slice(0, 200)}`,
    build: (head) => {
      const about = [
        prose(startOf(template.description ?? '', longestProse)) || undefined,
        facts([
          [t('Template'), fullName(uriTemplate)],
          [t('Name'), title !== '' && fullName(name)],
          [t('Type'), mimeType && visible(startOf(mimeType, 200))],
        ]),
      ];
      if (problem !== '')
        return [...about, h('p', { class: 'problem', text: t('It cannot be filled in: {0}.', visible(problem)) })];
      const fields = argumentFields(page, {
        server,
        reference: { uriTemplate },
        args: variables.map((variable) => ({ name: variable })),
        completes: completes(),
        submit: () => reading?.button.click(),
      });
      reading = requester(page, {
        verb: t('Read'),
        name: title || name || uriTemplate,
        home: head,
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
      return [...about, variables.length > 0 && fields.element, made, ...reading.elements, subscribe.problem];
    },
  });
  frame.say(startOf(mimeType, 60));
  return {
    element: frame.element,
    head: frame.head,
    update: () => subscribe.update(),
    requestsChanged: () => reading?.requestsChanged(),
  };
}
