// The card for a tool approval: exactly what would be called.
import { h } from '../elements/dom.js';
import { block, disclosure, facts, fullName, prose, scopeChoice } from './cardparts.js';
import { definitionDiff } from './definitiondiff.js';
import { longestName, pretty, shortName } from '../words/text.js';

/** @typedef {import('../../../host/src/gen/mcphub/v1/prompt_pb.js').ToolApprovalJson} ToolApproval */

/** @param {ToolApproval} ask @param {import('./cardparts.js').Kit} kit @returns {import('./cardparts.js').Kind} */
export function toolCard(ask, kit) {
  const hint = ask.readOnlyHint ? 'only reads' : ask.destructiveHint ? '' : 'destroys nothing';
  const { select, scope } = scopeChoice(kit, {
    APPROVAL_SCOPE_ONCE: ['Only this call', 'Allow once'],
    APPROVAL_SCOPE_WINDOW: ['For this window', 'Allow for this window'],
    APPROVAL_SCOPE_WORKSPACE: ['In this workspace', 'Allow in this workspace'],
    APPROVAL_SCOPE_ALWAYS: ['Always', 'Allow always'],
  });
  const json = ask.argumentsJson || '{}';
  return {
    title: `Call ${shortName(ask.tool)}?`,
    body: [
      (ask.tool ?? '').length > longestName && facts([['Tool', fullName(ask.tool)]]),
      ask.title && ask.title !== ask.tool && h('p', { class: 'muted', dir: 'auto', text: `“${shortName(ask.title)}”` }),
      ask.previousDefinitionJson
        && h(
          'div',
          { class: 'warning' },
          h('p', { text: 'The server has changed this tool since you approved it.' }),
          definitionDiff(ask.changes, ask.previousDefinitionJson, ask.definitionJson),
        ),
      h('p', {
        class: hint ? 'muted' : 'caution',
        text: hint ? `The server says that it ${hint}; nobody has checked that.` : 'It may change or destroy things.',
      }),
      block('Arguments', pretty(json), json),
      (ask.description || ask.definitionJson)
        && disclosure('About this tool, in the words of the server', () => [
          prose(ask.description) || undefined,
          ask.definitionJson ? block('Definition', pretty(ask.definitionJson), ask.definitionJson) : undefined,
        ]),
    ],
    choices: [select],
    accept: { text: 'Allow once', note: 'Allowed', content: () => ({ scope: scope() }) },
    decline: { text: 'Deny', note: 'Denied', reason: true },
  };
}
