// The policy of one tool in the config file. It is not the same as a yes to a question, which McpHub keeps for itself:
// the policy is written into the file, and applies to everybody who uses the file.

import { t } from '../words/t.js';
import { h, replace, setText, show } from '../elements/dom.js';
import { fileName, shortName, visible } from '../words/text.js';
import { writer } from './entryform.js';
import { labelled } from './field.js';
import { policyWords } from './settings.js';
import type { ApprovalPolicyJson as Policy, ToolJson as Tool } from '../../../host/src/gen/mcphub/v1/server_pb.js';
import type { Page } from '../page.js';

export function toolPolicy(page: Page, { server = '', name = '' }: Tool) {
  const select = h(
    'select',
    { dataset: { testid: `policy-${name}` }, onchange: () => void write() },
    ...policyWords.map(([value, text]) => h('option', { value, text })),
    h('option', { value: 'APPROVAL_POLICY_UNSPECIFIED', text: t('Not said for this tool') }),
  );
  const file = fileName(page.state.servers.get(server)?.configFile);
  const note = h('p', { class: 'muted', role: 'status', hidden: true });
  const field = labelled(t('In the config file, for calls of {0}', shortName(name)), select, {
    hint: t(
      'Written into {0}, for everybody who uses that file. What you allow on a question is kept by McpHub alone.',
      visible(file),
    ),
    after: note,
  });
  let shown: Policy = 'APPROVAL_POLICY_ASK';
  select.value = shown;
  /** The tool as the hub has reported it last. */
  let heard: Tool | undefined;
  let busy = false;

  /** Shows the policy that the hub has reported. */
  function heed() {
    shown = heard?.policy ?? 'APPROVAL_POLICY_ASK';
    select.value = shown;
  }

  async function write() {
    const chosen = select.value as Policy;
    if (busy || chosen === shown) return;
    busy = true;
    const before = heard;
    field.say('');
    show(note, false);
    const { error, response } = await page.call('UpdateServer', {
      server,
      configFile: page.state.servers.get(server)?.configFile ?? '',
      settings: { approvals: { [name]: chosen } },
      writtenBy: writer,
    });
    const written = response?.write;
    busy = false;
    if (!written) {
      if (heard !== before) heed();
      else select.value = shown;
      field.say(error?.message ?? '');
      return;
    }
    shown = chosen;
    page.adding?.wrote(written, t('“{0}” was changed: {1}.', shortName(server), shortName(name)));
    replace(note);
    show(note, written.needsConsent === true && chosen === 'APPROVAL_POLICY_ALLOW');
    setText(note, t('It counts once you have agreed to the entry as it is now: you are asked at the next start.'));
    void write(); // another policy may have been chosen meanwhile
  }

  return {
    element: field.element,
    update: (now: Tool) => {
      if (now === heard) return;
      heard = now;
      if (!busy) heed();
    },
  };
}
