// One prompt of a server: a field for each argument, and the messages that the server makes of them.

import { facts, fullName } from '../questions/cardparts.js';
import { h } from '../elements/dom.js';
import { hasResult } from '../results/read.js';
import { commandLink } from '../surface.js';
import { argumentFields, mostArguments } from './argumentfields.js';
import { requester } from './requester.js';
import { offerPage } from './resourceview.js';
import { t } from '../words/t.js';
import type { McpPromptJson as McpPrompt } from '../../../host/src/gen/mcphub/v1/server_pb.js';
import type { Ended } from '../hub/ended.js';
import type { Page } from '../page.js';
import type { OfferView } from './offerlist.js';

/** Returns what an editor can do with the text of a prompt. */
const editorActs = ({ surface }: Page, entry: Ended) =>
  hasResult(entry)
  && surface.commands?.includes('mcphub.insertPromptText')
  && h(
    'div',
    { class: 'buttons' },
    commandLink(surface, 'mcphub.insertPromptText', [entry.requestId], t('Insert into editor')),
    commandLink(surface, 'mcphub.promptTextToChat', [entry.requestId], t('Open in chat')),
  );

export function promptView(page: Page, server: string, prompt: McpPrompt, completes: () => boolean): OfferView {
  const { name = '', title = '', arguments: args = [] } = prompt;
  const opened = (parts: Parameters<typeof offerPage>[3]) =>
    offerPage(
      `mcp-prompt-${name.slice(0, 200)}`,
      server,
      prompt.description ?? '',
      parts,
      facts([[t('Name'), fullName(name)]]),
    );
  if (args.length > mostArguments) {
    const why = h('p', { class: 'problem', text: t('It takes more than {0} arguments.', mostArguments) });
    return { element: opened([why]), update: () => undefined, requestsChanged: () => undefined };
  }
  const fields = argumentFields(page, {
    server,
    reference: { mcpPrompt: name },
    args,
    completes: completes(),
    submit: () => filling.button.click(),
  });
  const filling = requester(page, {
    verb: t('Get prompt'),
    name: title || name,
    order: (requestId) => {
      const given = fields.read();
      return given ? ['GetMcpPrompt', { requestId, server, name, arguments: given }] : '';
    },
    extra: (entry) => editorActs(page, entry),
  });
  const none = h('p', { class: 'quiet', text: t('It takes no arguments.') });
  return {
    element: opened([args.length > 0 ? fields.element : none, ...filling.elements]),
    update: () => undefined,
    requestsChanged: filling.requestsChanged,
  };
}
