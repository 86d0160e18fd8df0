// The settings of an entry: whether it is enabled, its timeouts, and which tools are called without a question. Only
// changed settings are sent.

import { t } from '../words/t.js';
import { h } from '../elements/dom.js';
import { labelled, textBox } from './field.js';
import { policyWords } from './toolpolicy.js';
import type { ServerSettingsJson as ServerSettings } from '../../../host/src/gen/mcphub/v1/config_pb.js';
import type { ApprovalPolicyJson as Policy } from '../../../host/src/gen/mcphub/v1/server_pb.js';

type Clock = 'connect' | 'idle' | 'total' | 'human';

const clocks: [Clock, string][] = [
  ['connect', t('Server start')],
  ['total', t('One call')],
  ['idle', t('Inactivity in a call')],
  ['human', t('Your answer to a question')],
];

/**
 * Returns a duration such as "90s", "5m", "1h" or "90" in seconds, spelled as "90s". Returns '' for no text, and
 * undefined for any other text.
 */
function secondsOf(text: string) {
  const trimmed = text.trim();
  if (trimmed === '') return '';
  const found = /^(\d+(?:\.\d{1,3})?)\s*(ms|s|m|min|h)?$/.exec(trimmed);
  if (!found) return undefined;
  const unit = { ms: 0.001, s: 1, m: 60, min: 60, h: 3600 }[found[2] ?? 's'] ?? 1;
  return `${Math.round(Number(found[1]) * unit * 1000) / 1000}s`;
}

const isEmpty = (what: object) => Object.keys(what).length === 0;

/** The policies of tools, a row for each tool or pattern. */
class PolicyRows {
  readonly list = h('ul', { class: 'lines' });
  readonly more = h('button', {
    class: 'link',
    text: t('Add a tool'),
    onclick: () => {
      this.#add('', 'APPROVAL_POLICY_ALLOW').focus();
      this.#changed();
    },
  });
  readonly #changed: () => void;
  #rows: { name: HTMLInputElement; policy: HTMLSelectElement }[] = [];

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  set(approvals: Record<string, Policy>) {
    this.#rows = [];
    this.list.replaceChildren();
    for (const [tool, policy] of Object.entries(approvals)) this.#add(tool, policy);
  }

  /** Returns the policies that differ; one that is gone is not said any more. */
  read(before: Record<string, Policy>) {
    const now = new Map(
      this.#rows
        .map(({ name, policy }) => [name.value.trim(), policy.value as Policy] as const)
        .filter(([tool]) => tool !== ''),
    );
    const gone = Object.keys(before).filter((tool) => !now.has(tool));
    return Object.fromEntries([
      ...[...now].filter(([tool, policy]) => before[tool] !== policy),
      ...gone.map((tool): [string, Policy] => [tool, 'APPROVAL_POLICY_UNSPECIFIED']),
    ]);
  }

  /** Adds a row, and returns its box for the name. */
  #add(tool: string, chosen: Policy) {
    const name = textBox({
      'value': tool,
      'placeholder': t('name or pattern'),
      'aria-label': t('Tool, or a pattern with * and ?'),
      'oninput': this.#changed,
    });
    const policy = h(
      'select',
      { 'aria-label': t('What happens to calls of {0}', tool || t('this tool')), 'onchange': this.#changed },
      ...policyWords.map(([value, text]) => h('option', { value, text })),
    );
    policy.value = chosen;
    const drop = h('button', {
      'class': 'link',
      'text': t('Remove'),
      'aria-label': t('Remove {0}', tool || t('this tool')),
      'onclick': () => {
        this.#rows = this.#rows.filter((row) => row.name !== name);
        element.remove();
        this.more.focus();
        this.#changed();
      },
    });
    const element = h('li', { class: 'inline' }, name, policy, drop);
    this.#rows.push({ name, policy });
    this.list.append(element);
    return name;
  }
}

export class SettingsFields {
  readonly element: HTMLElement;
  readonly #enabled: HTMLInputElement;
  readonly #times: { clock: Clock; box: HTMLInputElement; field: ReturnType<typeof labelled> }[];
  readonly #policies: PolicyRows;
  /** What the fields are compared with. */
  #before: ServerSettings = {};

  constructor(changed: () => void) {
    this.#enabled = h('input', { type: 'checkbox', onchange: changed, dataset: { testid: 'adding-enabled' } });
    this.#times = clocks.map(([clock, label]) => {
      const box = textBox({
        class: 'number',
        placeholder: t('default'),
        oninput: changed,
        dataset: { testid: `adding-${clock}` },
      });
      return { clock, box, field: labelled(label, box) };
    });
    this.#policies = new PolicyRows(changed);
    this.element = h(
      'details',
      { dataset: { testid: 'adding-settings' } },
      h('summary', { text: t('Enabled, timeouts, tools') }),
      h('label', { class: 'check' }, this.#enabled, t('Enabled, also for later sessions')),
      h(
        'fieldset',
        { class: 'field' },
        h('legend', { text: t('Timeouts') }),
        h('p', {
          class: 'field-hint',
          text: t('For example 90s, 5m or 1h. Enter 0 for no limit, or nothing for the default.'),
        }),
        h('div', { class: 'clocks' }, ...this.#times.map(({ field }) => field.element)),
      ),
      h(
        'fieldset',
        { class: 'field' },
        h('legend', { text: t('Tool policies') }),
        h('p', {
          class: 'field-hint',
          text: t('Saved in the file, for everyone who uses it. What you allow when asked is kept only by McpHub.'),
        }),
        this.#policies.list,
        this.#policies.more,
      ),
    );
  }

  /** Keeps what was typed, and compares it with these settings from now on. */
  base(settings: ServerSettings = {}) {
    this.#before = settings;
  }

  set(settings: ServerSettings = {}) {
    this.base(settings);
    this.#enabled.checked = settings.enabled !== false;
    for (const { clock, box, field } of this.#times) {
      box.value = settings.timeouts?.[clock] ?? '';
      field.say('');
    }
    this.#policies.set(settings.approvals ?? {});
  }

  /** Shows the faults, and returns the first field with one. */
  check() {
    const wrong = this.#times.filter(({ box, field }) => {
      const bad = secondsOf(box.value) === undefined;
      field.say(bad ? t('Enter a time such as 90s, 5m or 1h.') : '');
      return bad;
    });
    return wrong[0]?.box;
  }

  /**
   * Returns what differs from the settings of base, or undefined if nothing does. A time that cannot be read is left
   * out: see check.
   */
  read(): ServerSettings | undefined {
    const enabled = this.#enabled.checked;
    const timeouts = this.#timeouts();
    const approvals = this.#policies.read(this.#before.approvals ?? {});
    const out: ServerSettings = {
      ...(enabled !== (this.#before.enabled !== false) && { enabled }),
      ...(!isEmpty(timeouts) && { timeouts }),
      ...(!isEmpty(approvals) && { approvals }),
    };
    return isEmpty(out) ? undefined : out;
  }

  #timeouts() {
    const out: Record<string, unknown> & { toDefault?: string[] } = {};
    for (const { clock, box } of this.#times) {
      const now = secondsOf(box.value);
      if (now === undefined || now === secondsOf(this.#before.timeouts?.[clock] ?? '')) continue;
      if (now === '') (out.toDefault ??= []).push(clock);
      else out[clock] = now;
    }
    return out;
  }
}
