// The card for a tool approval. It shows exactly what would be called.
import { h } from '../elements/dom.js';
import { block, disclosure, facts, fullName, prose, scopeChoice } from './cardparts.js';
import { definitionDiff } from './definitiondiff.js';
import { longestName, pretty, shortName } from '../words/text.js';
import { t } from '../words/t.js';
import type { ToolApprovalJson as ToolApproval } from '../../../host/src/gen/mcphub/v1/prompt_pb.js';
import type { Kind, Kit } from './cardparts.js';

export function toolCard(ask: ToolApproval, kit: Kit): Kind {
  const hint = ask.readOnlyHint
    ? t('The server says that it only reads; nobody has checked that.')
    : ask.destructiveHint
      ? ''
      : t('The server says that it destroys nothing; nobody has checked that.');
  const { select, scope } = scopeChoice(kit, {
    APPROVAL_SCOPE_ONCE: [t('Only this call'), t('Allow once')],
    APPROVAL_SCOPE_WINDOW: [t('For this window'), t('Allow for this window')],
    APPROVAL_SCOPE_WORKSPACE: [t('In this workspace'), t('Allow in this workspace')],
    APPROVAL_SCOPE_ALWAYS: [t('Always'), t('Allow always')],
  });
  const reason = h('input', {
    type: 'text',
    id: `${kit.id}-reason`,
    autocomplete: 'off',
    maxlength: 500,
    dataset: { testid: 'decline-reason' },
  });
  const why = h(
    'details',
    { class: 'card-reason' },
    h('summary', { text: t('Deny with a reason') }),
    h('label', { for: reason.id, text: t('Reason') }),
    reason,
  );
  const typed = () => reason.value;
  const json = ask.argumentsJson || '{}';
  return {
    title: t('Call {0}?', shortName(ask.tool)),
    body: [
      (ask.tool ?? '').length > longestName && facts([[t('Tool'), fullName(ask.tool)]]),
      ask.title
        && ask.title !== ask.tool
        && h('p', { class: 'muted', dir: 'auto', text: t('“{0}”', shortName(ask.title)) }),
      ask.previousDefinitionJson
        && h(
          'div',
          { class: 'warning' },
          h('p', { text: t('The server has changed this tool since you approved it.') }),
          definitionDiff(ask.changes, ask.previousDefinitionJson, ask.definitionJson),
        ),
      h('p', {
        class: hint ? 'muted' : 'caution',
        text: hint || t('It may change or destroy things.'),
      }),
      block(t('Arguments'), pretty(json), json),
      (ask.description || ask.definitionJson)
        && disclosure(t('About this tool, in the words of the server'), () => [
          prose(ask.description) || undefined,
          ask.definitionJson ? block(t('Definition'), pretty(ask.definitionJson), ask.definitionJson) : undefined,
        ]),
      why,
    ],
    choices: [select],
    accept: { text: t('Allow once'), note: t('Allowed'), content: () => ({ scope: scope() }) },
    decline: { text: t('Deny'), note: t('Denied'), reason },
    edited: () => reason.value !== '',
    typed,
    draft: typed,
    restore: (draft) => {
      reason.value = draft;
      why.open = true;
    },
  };
}
