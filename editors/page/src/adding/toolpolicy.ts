// The policy of one tool in the config file. It is not the same as a yes to a question, which McpHub keeps for itself:
// the policy is written into the file, and applies to everybody who uses the file.

import { t } from '../words/t.js';
import { h, setText, show } from '../elements/dom.js';
import { fileName, shortName, visible } from '../words/text.js';
import { labelled } from './field.js';
import { writer } from './writing.js';
import type { ApprovalPolicyJson as Policy, ToolJson as Tool } from '../../../host/src/gen/mcphub/v1/server_pb.js';
import type { ConfigWriteJson as ConfigWrite } from '../../../host/src/gen/mcphub/v1/config_pb.js';
import type { Page } from '../page.js';
import type { Field } from './field.js';

export const policyWords: [Policy, string][] = [
  ['APPROVAL_POLICY_ALLOW', t('Always allow')],
  ['APPROVAL_POLICY_ASK', t('Ask first')],
  ['APPROVAL_POLICY_DENY', t('Never call')],
];

/** Returns the field for the policy of a tool. It is to be updated whenever the hub reports the tool. */
export const toolPolicy = (page: Page, tool: Tool): { element: HTMLElement; update: (tool: Tool) => void } =>
  new ToolPolicy(page, tool);

class ToolPolicy {
  readonly element: HTMLElement;
  readonly #page: Page;
  readonly #server: string;
  readonly #name: string;
  readonly #select: HTMLSelectElement;
  readonly #note = h('p', { class: 'muted', role: 'status', hidden: true });
  readonly #field: Field;
  #shown: Policy = 'APPROVAL_POLICY_ASK';
  /** The tool as the hub has reported it last. */
  #heard: Tool | undefined;
  #busy = false;

  constructor(page: Page, { server = '', name = '' }: Tool) {
    this.#page = page;
    this.#server = server;
    this.#name = name;
    this.#select = h(
      'select',
      { dataset: { testid: `policy-${name}` }, onchange: () => void this.#write() },
      ...policyWords.map(([value, text]) => h('option', { value, text })),
      h('option', { value: 'APPROVAL_POLICY_UNSPECIFIED', text: t('Not set for this tool') }),
    );
    this.#select.value = this.#shown;
    this.#field = labelled(t('Policy for {0} in the config file', shortName(name)), this.#select, {
      hint: t(
        'Saved in {0}, for everyone who uses that file. What you allow when asked is kept only by McpHub.',
        visible(fileName(this.#file)),
      ),
      after: this.#note,
    });
    this.element = this.#field.element;
  }

  update(tool: Tool) {
    if (tool === this.#heard) return;
    this.#heard = tool;
    if (!this.#busy) this.#heed();
  }

  get #file() {
    return this.#page.state.servers.get(this.#server)?.configFile;
  }

  /** Shows the policy that the hub has reported. */
  #heed() {
    this.#shown = this.#heard?.policy ?? 'APPROVAL_POLICY_ASK';
    this.#select.value = this.#shown;
  }

  async #write() {
    const chosen = this.#select.value as Policy;
    if (this.#busy || chosen === this.#shown) return;
    this.#busy = true;
    const before = this.#heard;
    this.#field.say('');
    show(this.#note, false);
    const { error, response } = await this.#page.call('UpdateServer', {
      server: this.#server,
      configFile: this.#file ?? '',
      settings: { approvals: { [this.#name]: chosen } },
      writtenBy: writer,
    });
    this.#busy = false;
    if (response?.write) {
      this.#wrote(response.write, chosen);
      return;
    }
    if (this.#heard !== before) this.#heed();
    else this.#select.value = this.#shown;
    this.#field.say(error?.message ?? '');
  }

  #wrote(write: ConfigWrite, chosen: Policy) {
    this.#shown = chosen;
    this.#page.adding?.wrote(write, t('“{0}” was changed: {1}.', shortName(this.#server), shortName(this.#name)));
    const waits = write.needsConsent === true && chosen === 'APPROVAL_POLICY_ALLOW';
    // A status is read out when its text changes while it is shown.
    setText(this.#note, '');
    show(this.#note, waits);
    setText(this.#note, t('Takes effect once you approve the changed entry at the next start.'));
    void this.#write(); // another policy may have been chosen meanwhile
  }
}
