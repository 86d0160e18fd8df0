// One prompt of a server (MCP prompts): a text with arguments, which the server fills in. It is not a question to the
// user, which the page calls a prompt, too.

import { facts, fullName, prose } from '../questions/cardparts.js';
import { h } from '../elements/dom.js';
import { hasResult } from '../results/read.js';
import { commandLink } from '../surface.js';
import { startOf } from '../words/text.js';
import { argumentFields, mostArguments } from './argumentfields.js';
import { definitionOf, offerFrame } from './offerview.js';
import { requester } from './requester.js';
import { longestProse } from './resourceview.js';
import { plural, t } from '../words/t.js';
import type { McpPromptJson as McpPrompt } from '../../../host/src/gen/mcphub/v1/server_pb.js';
import type { Page } from '../page.js';
import type { OfferView } from './offerlist.js';
import type { Requester } from './requester.js';

export function promptView(page: Page, server: string, prompt: McpPrompt, completes: () => boolean): OfferView {
  const { name = '', title = '', arguments: args = [] } = prompt;
  let filling: Requester | undefined;
  const frame = offerFrame({
    name,
    title,
    definition: definitionOf(prompt.definitionJson),
    testid: `mcp-prompt-${name.slice(0, 200)}`,
    build: (head) => {
      const about = [
        prose(startOf(prompt.description ?? '', longestProse)) || undefined,
        title !== '' && facts([[t('Name'), fullName(name)]]),
      ];
      if (args.length > mostArguments)
        return [...about, h('p', { class: 'problem', text: t('It wants more than {0} arguments.', mostArguments) })];
      const fields = argumentFields(page, {
        server,
        reference: { mcpPrompt: name },
        args,
        completes: completes(),
        submit: () => filling?.button.click(),
      });
      filling = requester(page, {
        verb: t('Get Prompt'),
        name: title || name,
        home: head,
        order: (requestId) => {
          const given = fields.read();
          return given ? ['GetMcpPrompt', { requestId, server, name, arguments: given }] : '';
        },
        extra: (entry) =>
          hasResult(entry)
          && page.surface.commands?.includes('mcphub.insertPromptText')
          && h(
            'div',
            { class: 'actions' },
            commandLink(page.surface, 'mcphub.insertPromptText', [entry.requestId], t('Insert into Editor')),
            commandLink(page.surface, 'mcphub.promptTextToChat', [entry.requestId], t('Open in Chat')),
          ),
      });
      return [
        ...about,
        args.length > 0 ? fields.element : h('p', { class: 'muted', text: t('It takes no arguments.') }),
        ...filling.elements,
      ];
    },
  });
  frame.say(args.length > 0 ? plural(args.length, '{0} argument', '{0} arguments') : '');
  return {
    element: frame.element,
    head: frame.head,
    update: () => undefined,
    requestsChanged: () => filling?.requestsChanged(),
  };
}
