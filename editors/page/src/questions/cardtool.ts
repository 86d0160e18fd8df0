// The card for a tool approval. It shows exactly what would be called.
import { block, disclosure, exact, facts, fullName, given, prose, quiet, scopes } from './cardparts.js';
import { h } from '../elements/dom.js';
import { icon } from '../elements/icon.js';
import { changedWarning } from './definitiondiff.js';
import { longestName, pretty, shortName } from '../words/text.js';
import { t } from '../words/t.js';
import type { ToolApprovalJson as ToolApproval } from '../../../host/src/gen/mcphub/v1/prompt_pb.js';
import type { Kind, Kit } from './cardparts.js';

export function toolCard(ask: ToolApproval, server: string, kit: Kit): Kind {
  const reason = reasonField(`${kit.id}-reason`);
  const typed = () => reason.value;
  const why = h('div', { class: 'field', hidden: true }, h('label', { for: reason.id, text: t('Reason') }), reason);
  const dangerous = !ask.readOnlyHint && Boolean(ask.destructiveHint);
  const json = ask.argumentsJson || '{}';
  return {
    title: t('Run {0} of {1}?', shortName(ask.title || ask.tool), shortName(server)),
    dangerous,
    body: [
      warning(ask, dangerous),
      ask.previousDefinitionJson
        && changedWarning(
          t('The server has changed this tool since you approved it.'),
          ask.changes,
          ask.previousDefinitionJson,
          ask.definitionJson,
        ),
      // The server has chosen the title, which may claim anything.
      (ask.title || (ask.tool ?? '').length > longestName)
        && facts([
          [t('Server'), exact(shortName(server))],
          [t('Tool'), fullName(ask.tool)],
        ]),
      given(json) ?? block(t('Arguments'), pretty(json), json),
      (ask.description || ask.definitionJson)
        && disclosure(t('About this tool, in the words of the server'), () => [
          prose(ask.description) || undefined,
          ask.definitionJson ? block(t('Definition'), pretty(ask.definitionJson), ask.definitionJson) : undefined,
        ]),
      why,
    ],
    accept: scopes((scope) => ({ scope }), {
      APPROVAL_SCOPE_ONCE: t('Allow once'),
      APPROVAL_SCOPE_WINDOW: t('Allow for this window'),
      APPROVAL_SCOPE_WORKSPACE: t('Allow in this workspace'),
      APPROVAL_SCOPE_ALWAYS: t('Allow always'),
    }),
    decline: t('Deny'),
    reason: () => typed().trim(),
    more: [
      {
        text: t('Deny with a reason…'),
        testid: 'deny-with-reason',
        act: () => {
          why.hidden = false;
          reason.focus();
        },
      },
    ],
    edited: () => typed() !== '',
    typed,
    draft: typed,
    restore: (draft) => {
      reason.value = draft;
      why.hidden = draft === '';
    },
  };
}

const reasonField = (id: string) =>
  h('input', {
    type: 'text',
    id,
    class: 'deny-reason',
    autocomplete: 'off',
    maxlength: 500,
    dataset: { testid: 'decline-reason' },
  });

/** Returns what the server says of its tool. Nobody has checked it. */
function warning({ readOnlyHint }: ToolApproval, dangerous: boolean) {
  if (dangerous)
    return h(
      'p',
      { class: 'danger-words' },
      icon('warning'),
      h('span', { text: t('It may change or destroy things.') }),
    );
  return quiet(
    readOnlyHint
      ? t('The server says that it only reads; nobody has checked that.')
      : t('The server says that it destroys nothing; nobody has checked that.'),
  );
}
