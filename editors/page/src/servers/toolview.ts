// One tool, opened: its description, the form for its arguments, the button that calls it, and directly below it what
// came of the last call that was made here.

import { facts, fullName, quiet } from '../questions/cardparts.js';
import { h, replace } from '../elements/dom.js';
import { requester } from '../browse/requester.js';
import { aboutOf, definitionOf } from '../browse/offerview.js';
import { arrayOf, objectOf, stringify } from '../words/jsontext.js';
import { schemaForm } from '../forms/schemaform.js';
import { toolPolicy } from '../adding/toolpolicy.js';
import { t } from '../words/t.js';
import type { JsonObject } from '../words/jsontext.js';
import type { ToolJson as Tool } from '../../../host/src/gen/mcphub/v1/server_pb.js';
import type { Page } from '../page.js';

/** The hints of a server about its tool. They are not trusted. */
const hints: [key: string, value: boolean, text: string][] = [
  ['readOnlyHint', true, t('read-only')],
  ['destructiveHint', true, t('destructive')],
  ['destructiveHint', false, t('not destructive')],
  ['idempotentHint', true, t('idempotent')],
  ['openWorldHint', true, t('open world')],
  ['openWorldHint', false, t('closed world')],
];

/** What was typed for a tool, and its last call, at the time when its definition changed. */
export type Draft = { values: string; requestId: string | undefined };

export interface ToolView {
  element: HTMLElement;
  name: string;
  requestsChanged: () => void;
  leave: () => Draft;
  takeOver: (draft: Draft) => void;
  update: (tool: Tool) => void;
}

let forms = 0;

export function toolView(page: Page, tool: Tool): ToolView {
  const { name = '', server = '' } = tool;
  const definition = definitionOf(tool.definitionJson);
  const schema = objectOf(definition.get('inputSchema'));
  const form = schemaForm(stringify(schema), { idPrefix: `call-${++forms}` });
  const empty =
    objectOf(schema.get('properties')).size === 0
    && arrayOf(schema.get('required')).length === 0
    && schema.get('additionalProperties') === false;
  const calling = requester(page, {
    verb: t('Call'),
    testid: 'call',
    name: tool.title || name,
    order: (requestId) => {
      const read = form.read();
      if (!('errors' in read)) return ['CallTool', { requestId, server, tool: name, argumentsJson: read.json }];
      form.showErrors(read.errors);
      return '';
    },
  });
  const written = page.adding && toolPolicy(page, tool);
  const known = howKnown(tool);
  const element = h(
    'div',
    { dataset: { testid: `tool-${name}` } },
    aboutOf(server, tool.description),
    h('div', { class: 'stack' }, empty ? quiet(t('It takes no arguments.')) : form.element, ...calling.elements),
    h(
      'details',
      {},
      h('summary', { text: t('About this tool') }),
      facts([
        [t('Name'), fullName(name)],
        [t('Annotations, unverified'), hintsOf(definition).join(', ')],
      ]),
      known.element,
      written?.element,
    ),
  );

  return {
    element,
    name,
    requestsChanged: calling.requestsChanged,
    leave: () => ({ values: form.edited() ? form.draft() : '', requestId: calling.pending() }),
    takeOver: (draft) => {
      if (draft.values !== '') form.set(draft.values);
      calling.take(draft.requestId);
      calling.say(t('The server has changed this tool.'));
      calling.requestsChanged();
    },
    update: (now) => {
      known.update(now);
      written?.update(now);
    },
  };
}

/** Returns what a tool says of itself, in words. */
function hintsOf(definition: JsonObject) {
  const annotations = objectOf(definition.get('annotations'));
  return hints.filter(([key, value]) => annotations.get(key) === value).map(([, , text]) => text);
}

/** A line that says where the definition comes from, as long as nobody has listed the tool since. */
function howKnown(tool: Tool) {
  const element = h('div', {});
  const update = ({ cached = false }: Tool) =>
    replace(element, cached && facts([[t('Definition'), t('from an earlier connection')]]));
  update(tool);
  return { element, update };
}
