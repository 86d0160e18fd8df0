// The hub's proposals for a server of a registry or a bundle. A person chooses one and fills in the values that it
// needs. Then the form for the entry opens with it. No text of a proposal is trusted.

import { h, replace, setText, show } from '../elements/dom.js';
import { t } from '../words/t.js';
import { shortName, visible } from '../words/text.js';
import { labelled, linesBox, textBox } from './field.js';
import { ofLines, proposalOf } from './proposal.js';
import type {
  ProposalInputJson as ProposalInput,
  ServerProposalJson as ServerProposal,
} from '../../../host/src/gen/mcphub/v1/registry_pb.js';
import type { ResponseOf } from '../hub/methods.js';
import type { Page } from '../page.js';
import type { Proposal, ProposedInput } from './proposal.js';

/** The texts about the offered server. */
export type About = { title: string; description: string; source: string };

const kinds: Record<string, string> = {
  npm: t('npm package'),
  pypi: t('Python package'),
  oci: t('container image'),
  nuget: t('.NET package'),
  mcpb: t('bundle'),
  remote: t('at an address'),
};
export const kindWord = (kind: string | undefined) => kinds[kind ?? ''] ?? visible(kind);

/** What is done with a proposal. */
export interface Acts {
  propose: (proposal: Proposal) => void;
  /** for proposals that the hub must download first */
  download?: (proposalId: string) => void;
}

export class Offers {
  readonly element: HTMLElement;
  readonly #page: Page;
  readonly #about: About;
  readonly #acts: Acts;
  readonly #group = `offer-${crypto.randomUUID()}`;
  readonly #values = h('div', { class: 'fields' });
  readonly #problem = h('p', { class: 'problem', role: 'alert', tabindex: -1 });
  readonly #go = h('button', {
    class: 'primary',
    dataset: { testid: 'offer-go' },
    onclick: () => void this.#next(),
  });
  #chosen: ServerProposal | undefined;
  #fields: ReturnType<typeof inputField>[] = [];
  #busy = false;

  constructor(page: Page, about: About, offered: readonly ServerProposal[], acts: Acts) {
    this.#page = page;
    this.#about = about;
    this.#acts = acts;
    this.#chosen = offered.find((one) => !one.unusable);
    this.element = h(
      'div',
      { class: 'fields' },
      h(
        'fieldset',
        { class: 'field' },
        h('legend', { text: offered.length > 1 ? t('Which one') : t('What') }),
        ...offered.map((one) => this.#choice(one)),
      ),
      this.#values,
      this.#problem,
      this.#go,
    );
    this.#paint();
    if (!this.#chosen)
      setText(
        this.#problem,
        offered.length > 0 ? t('None of these can be added here.') : t('The publisher does not say how to get it.'),
      );
  }

  focus() {
    const first = this.element.querySelector('input:checked');
    (first instanceof HTMLElement ? first : this.#problem).focus();
  }

  #choice(one: ServerProposal) {
    const radio = h('input', {
      type: 'radio',
      name: this.#group,
      checked: one === this.#chosen,
      disabled: Boolean(one.unusable),
      onchange: () => {
        this.#chosen = one;
        this.#paint();
      },
    });
    const subject = h('span', { class: 'code exact', text: visible(one.subject) });
    const kind = h('span', { class: 'muted', text: ` ${kindWord(one.kind)}` });
    return h(
      'div',
      { class: 'fields', dataset: { testid: `offer-${one.kind ?? ''}` } },
      h('label', { class: 'check' }, radio, h('span', {}, subject, kind)),
      one.unusable && h('p', { class: 'muted', text: t('Cannot be added here. {0}', visible(one.unusable)) }),
      ...(one.warnings ?? []).map((text) => h('p', { class: 'warning', text: visible(text) })),
    );
  }

  #paint() {
    // The form of the entry asks for required secrets: it knows how a file can keep them.
    const inputs = (this.#chosen?.inputs ?? []).filter(({ secret, required }) => !(secret && required));
    this.#fields = inputs.map(inputField);
    replace(
      this.#values,
      this.#fields.map(({ element }) => element),
    );
    setText(this.#problem, '');
    show(this.#go, this.#chosen !== undefined);
    setText(this.#go, this.#chosen?.needsDownload ? t('Download and look at it') : t('Continue'));
  }

  async #next() {
    const picked = this.#chosen;
    if (this.#busy || !picked?.proposalId) return;
    const { proposalId } = picked;
    if (picked.needsDownload) {
      this.#acts.download?.(proposalId);
      return;
    }
    for (const field of this.#fields) field.say('');
    const { error, response: filled } = await this.#fill(proposalId);
    if (picked !== this.#chosen || !this.element.isConnected) return;
    if (this.#showsMissing(filled?.missing)) return;
    if (error || !filled?.form) this.#refused(error?.message ?? '');
    else this.#acts.propose({ ...proposed(picked, filled), ...this.#about });
  }

  async #fill(proposalId: string) {
    this.#busy = true;
    this.#go.setAttribute('aria-disabled', 'true');
    const values = Object.fromEntries(this.#fields.map((field) => [field.id, { values: field.read() }]));
    const reply = await this.#page.call('FillProposal', { proposalId, values });
    this.#busy = false;
    this.#go.removeAttribute('aria-disabled');
    return reply;
  }

  #showsMissing(ids: readonly string[] = []) {
    const wrong = this.#fields.filter(({ id }) => ids.includes(id));
    for (const field of wrong) field.say(t('This is required.'));
    wrong[0]?.focus();
    return wrong.length > 0;
  }

  /** @param message begins with the title of the value that it is about */
  #refused(message: string) {
    const field = this.#fields.find(({ title }) => message.startsWith(`${title}: `));
    if (field) field.say(message);
    else this.#problem.textContent = visible(message); // is read out again, even if it is the same
    (field ?? this.#problem).focus();
  }
}

/** Returns a proposal with what the hub has made of the values. */
function proposed(
  { server = '', warnings = [], inputs = [], proposalId = '' }: ServerProposal,
  { form = {}, entryJson = '' }: ResponseOf<'FillProposal'>,
): Proposal {
  const entry = { server, form, entryJson, dialect: 'vscode', environmentReference: '${env:NAME}' };
  const asked = inputs.filter(({ id = '' }) => entryJson.includes(`\${input:${id}}`));
  return { ...proposalOf(entry), warnings, proposalId, inputs: asked.map(askedInput) };
}

const askedInput = ({
  id = '',
  title,
  description,
  secret,
  required,
  choices: options,
}: ProposalInput): ProposedInput => ({
  id,
  ...(title && { title }),
  ...(description && { description }),
  ...(secret && { secret }),
  ...(required && { required }),
  ...(options?.length && { options }),
  ask: true,
});

/** Returns the field for a value, depending on the type of the value. */
function inputField(input: ProposalInput) {
  const { id = '', type, choices = [], defaults = [], multiple = false, secret = false } = input;
  const title = input.title || id;
  const [first = ''] = defaults;
  const hint = [
    visible(input.description),
    secret && t('You enter it on the next page, or when the server starts.'),
    multiple && t('One per line.'),
  ]
    .filter(Boolean)
    .join('\n');
  const label = input.required ? t('{0} (required)', shortName(title)) : shortName(title);
  const dataset = { testid: `offer-input-${title}` };
  if (secret) {
    const box = h('input', { type: 'checkbox', dataset });
    const field = labelled(t('Give {0}', label), box, { hint });
    return { ...field, id, title, read: () => (box.checked ? [`\${input:${id}}`] : []) };
  }
  const options = type === 'PROPOSAL_INPUT_TYPE_BOOLEAN' && choices.length === 0 ? ['true', 'false'] : choices;
  if (options.length > 0 && !multiple) {
    const box = h(
      'select',
      { dataset },
      h('option', { value: '', text: input.required ? t('Choose…') : t('Not given') }),
      ...options.map((value) => h('option', { value, text: visible(value) })),
    );
    box.value = first;
    return { ...labelled(label, box, { hint }), id, title, read: () => (box.value === '' ? [] : [box.value]) };
  }
  const placeholder = visible(input.placeholder);
  if (multiple) {
    const box = linesBox({ dataset, placeholder });
    box.value = defaults.join('\n');
    return { ...labelled(label, box, { hint }), id, title, read: () => ofLines(box.value) };
  }
  const box = textBox({
    dataset,
    placeholder,
    value: first,
    ...(type === 'PROPOSAL_INPUT_TYPE_NUMBER' && { inputmode: 'decimal' }),
  });
  return { ...labelled(label, box, { hint }), id, title, read: () => (box.value === '' ? [] : [box.value]) };
}
