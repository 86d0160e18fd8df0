// The hub's proposals for a server of a registry or a bundle. A person chooses one and fills in the values that it
// needs. Then the form for the entry opens with it. No text of a proposal is trusted.

import { h, replace, show } from '../elements/dom.js';
import { t } from '../words/t.js';
import { shortName, visible } from '../words/text.js';
import { labelled, linesBox, textBox } from './field.js';
import { ofLines, proposalOf } from './proposal.js';
import type {
  ProposalInputJson as ProposalInput,
  ServerProposalJson as ServerProposal,
} from '../../../host/src/gen/mcphub/v1/registry_pb.js';
import type { Proposal } from './proposal.js';
import type { Page, Reply } from '../page.js';

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

export function offers(
  page: Page,
  about: About,
  offered: ServerProposal[],
  { propose, download }: { propose: (proposal: Proposal) => void; download?: (proposalId: string) => void },
) {
  const name = `offer-${crypto.randomUUID()}`;
  const values = h('div', { class: 'fields' });
  const problem = h('p', { class: 'problem', role: 'alert', tabindex: -1 });
  const go = h('button', {
    class: 'primary',
    dataset: { testid: 'offer-go' },
    onclick: () => void next(),
  });
  let chosen = offered.find((one) => !one.unusable);
  let fields: ReturnType<typeof inputField>[] = [];
  let busy = false;

  const choices = offered.map((one) =>
    h(
      'div',
      { class: 'fields', dataset: { testid: `offer-${one.kind ?? ''}` } },
      h(
        'label',
        { class: 'check' },
        h('input', {
          type: 'radio',
          name,
          checked: one === chosen,
          disabled: Boolean(one.unusable),
          onchange: () => choose(one),
        }),
        h(
          'span',
          {},
          h('span', { class: 'code exact', text: visible(one.subject) }),
          h('span', { class: 'muted', text: ` ${kindWord(one.kind)}` }),
        ),
      ),
      one.unusable && h('p', { class: 'muted', text: t('Cannot be added here. {0}', visible(one.unusable)) }),
      ...(one.warnings ?? []).map((text) => h('p', { class: 'warning', text: visible(text) })),
    ),
  );
  const element = h(
    'div',
    { class: 'fields' },
    h(
      'fieldset',
      { class: 'field' },
      h('legend', { text: offered.length > 1 ? t('Which one') : t('What') }),
      ...choices,
    ),
    values,
    problem,
    go,
  );
  paint();

  function choose(one: ServerProposal) {
    chosen = one;
    paint();
  }
  function paint() {
    fields = (chosen?.inputs ?? []).flatMap((input) => {
      // The form of the entry asks for required secrets: it knows how a file can keep them.
      return input.secret && input.required ? [] : [inputField(input)];
    });
    replace(values, ...fields.map(({ element: one }) => one));
    replace(problem);
    show(go, chosen !== undefined);
    go.textContent = chosen?.needsDownload ? t('Download and look at it') : t('Continue');
    if (!chosen)
      problem.textContent =
        offered.length > 0 ? t('None of these can be added here.') : t('Its publisher names no way to have it.');
  }

  async function next() {
    if (busy || !chosen?.proposalId) return;
    const picked = chosen;
    const { proposalId } = chosen;
    if (picked.needsDownload) {
      download?.(proposalId);
      return;
    }
    for (const field of fields) field.say('');
    busy = true;
    go.setAttribute('aria-disabled', 'true');
    const given = Object.fromEntries(fields.map((field) => [field.id, { values: field.read() }]));
    const { error, response: filled } = await page.call('FillProposal', { proposalId, values: given });
    busy = false;
    go.removeAttribute('aria-disabled');
    if (picked !== chosen || !element.isConnected) return;
    const missing = new Set(filled?.missing);
    const wrong = fields.filter(({ id }) => missing.has(id));
    for (const field of wrong) field.say(t('It is needed.'));
    if (wrong[0]) {
      wrong[0].focus();
      return;
    }
    if (error || !filled?.form) {
      const place = fields.find((field) => error?.message?.startsWith(`${field.title}: `));
      if (place) {
        place.say(error?.message ?? '');
        place.focus();
      } else {
        problem.textContent = visible(error?.message);
        problem.focus();
      }
      return;
    }
    const asked = (picked.inputs ?? []).filter(({ id }) => filled.entryJson?.includes(`\${input:${id}}`));
    propose({
      ...proposalOf({
        server: picked.server ?? '',
        form: filled.form,
        entryJson: filled.entryJson ?? '',
        dialect: 'vscode',
        environmentReference: '${env:NAME}',
      }),
      ...about,
      warnings: picked.warnings ?? [],
      proposalId,
      inputs: asked.map(({ id = '', title, description, secret, required, choices: options }) => ({
        id,
        ...(title && { title }),
        ...(description && { description }),
        ...(secret && { secret }),
        ...(required && { required }),
        ...(options?.length && { options }),
        ask: true,
      })),
    });
  }

  return {
    element,
    focus: () => {
      const first = element.querySelector('input:checked');
      (first instanceof HTMLElement ? first : problem).focus();
    },
  };
}

/** Returns the field for a value, depending on the type of the value. */
function inputField(input: ProposalInput) {
  const { id = '', type, choices = [], defaults = [], multiple = false, secret = false } = input;
  const title = input.title || id;
  const [first = ''] = defaults;
  const hint = [
    visible(input.description),
    secret && t('It is asked for when the server starts, or filled in on the next page.'),
    multiple && t('One a line.'),
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

/**
 * Returns the element for a request that takes some time. It shows that the request runs, and has a button that stops
 * it. The reply to an earlier request is ignored.
 */
export function waiting() {
  const said = h('span', { role: 'status' });
  let mine = 0;
  /** Gives up the open request. */
  let asked: AbortController | undefined;
  const stop = h('button', {
    class: 'link',
    hidden: true,
    text: t('Stop'),
    dataset: { testid: 'finding-stop' },
    onclick: () => giveUp(true),
  });
  const problem = h('p', { class: 'problem', role: 'alert', dataset: { testid: 'finding-problem' } });
  const element = h('div', { class: 'fields' }, h('div', { class: 'line' }, said, stop), problem);

  function giveUp(tell: boolean) {
    if (!asked) return;
    mine++;
    asked.abort();
    asked = undefined;
    show(stop, false);
    said.textContent = tell ? t('Stopped.') : '';
  }
  return {
    element,
    stop: () => giveUp(false),
    say: (text: string) => {
      said.textContent = text;
    },
    /** @returns undefined: the request failed, which is shown, or was given up */
    ask: async <R extends Reply>(
      doing: string,
      request: (unwanted: AbortSignal) => Promise<R>,
    ): Promise<R | undefined> => {
      giveUp(false);
      const own = ++mine;
      problem.textContent = '';
      said.textContent = doing;
      show(stop, true);
      asked = new AbortController();
      const reply = await request(asked.signal);
      if (own !== mine) return undefined;
      asked = undefined;
      show(stop, false);
      said.textContent = '';
      if (!reply.error) return reply;
      if (reply.error.code !== 'CANCELLED') problem.textContent = visible(reply.error.message);
      return undefined;
    },
  };
}
