// The settings of an entry: whether it is enabled, its timeouts, and which tools are called without a question. Only
// changed settings are sent.

import { t } from '../words/t.js';
import { h } from '../elements/dom.js';
import { labelled, textBox } from './field.js';
import type { ServerSettingsJson as ServerSettings } from '../../../host/src/gen/mcphub/v1/config_pb.js';
import type { ApprovalPolicyJson as Policy } from '../../../host/src/gen/mcphub/v1/server_pb.js';

export type Clock = 'connect' | 'idle' | 'total' | 'human';

const clocks: [Clock, string][] = [
  ['connect', t('Start')],
  ['total', t('One call')],
  ['idle', t('Silence in a call')],
  ['human', t('A question to you')],
];

export const policyWords: [Policy, string][] = [
  ['APPROVAL_POLICY_ALLOW', t('Always allow')],
  ['APPROVAL_POLICY_ASK', t('Ask first')],
  ['APPROVAL_POLICY_DENY', t('Never call')],
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

/** @param text as proto3 JSON spells it */
const spelled = (text: string | undefined) => (text === undefined ? '' : text);

export function settingsFields(changed: () => void) {
  const enabled = h('input', { type: 'checkbox', onchange: changed, dataset: { testid: 'adding-enabled' } });
  const on = h('label', { class: 'check' }, enabled, t('Enabled, also for later sessions'));
  const times = clocks.map(([clock, label]) => {
    const box = textBox({
      class: 'number',
      placeholder: t('default'),
      oninput: changed,
      dataset: { testid: `adding-${clock}` },
    });
    return { clock, box, field: labelled(label, box) };
  });
  let rows: { name: HTMLInputElement; policy: HTMLSelectElement; element: HTMLElement }[] = [];
  const list = h('ul', { class: 'lines' });
  const more = h('button', {
    class: 'link',
    text: t('Add a tool'),
    onclick: () => {
      addRow('', 'APPROVAL_POLICY_ALLOW').name.focus();
      changed();
    },
  });
  let before: Required<Pick<ServerSettings, 'approvals'>> & ServerSettings = { approvals: {} };

  function addRow(tool: string, policy: Policy) {
    const name = textBox({ value: tool, placeholder: t('name or pattern'), oninput: changed });
    const choice = h(
      'select',
      { onchange: changed },
      ...policyWords.map(([value, text]) => h('option', { value, text })),
    );
    choice.value = policy;
    name.setAttribute('aria-label', t('Tool, or a pattern with * and ?'));
    choice.setAttribute('aria-label', t('What happens to calls of {0}', tool || t('this tool')));
    const drop = h('button', {
      'class': 'link',
      'text': t('Remove'),
      'aria-label': t('Remove {0}', tool || t('this tool')),
      'onclick': () => {
        rows = rows.filter((one) => one !== row);
        row.element.remove();
        more.focus();
        changed();
      },
    });
    const row = { name, policy: choice, element: h('li', { class: 'inline' }, name, choice, drop) };
    rows.push(row);
    list.append(row.element);
    return row;
  }

  /** Compares what is typed with these settings from now on. */
  function base(settings: ServerSettings | undefined) {
    before = { ...settings, approvals: settings?.approvals ?? {} };
  }

  const element = h(
    'details',
    { dataset: { testid: 'adding-settings' } },
    h('summary', { text: t('Enabled, timeouts, tools') }),
    on,
    h(
      'fieldset',
      { class: 'field' },
      h('legend', { text: t('Timeouts') }),
      h('p', { class: 'field-hint', text: t('90s, 5m or 1h; 0 is no limit; nothing leaves the default.') }),
      h('div', { class: 'clocks' }, ...times.map(({ field }) => field.element)),
    ),
    h(
      'fieldset',
      { class: 'field' },
      h('legend', { text: t('Tools, in the config file') }),
      h('p', {
        class: 'field-hint',
        text: t(
          'This is written into the file and holds for everybody who uses it. What you allow on a question is kept by McpHub alone.',
        ),
      }),
      list,
      more,
    ),
  );

  return {
    element,
    base,
    set: (settings: ServerSettings | undefined) => {
      base(settings);
      enabled.checked = settings?.enabled !== false;
      for (const { clock, box, field } of times) {
        box.value = spelled(settings?.timeouts?.[clock]);
        field.say('');
      }
      rows = [];
      list.replaceChildren();
      for (const [tool, policy] of Object.entries(before.approvals)) addRow(tool, policy);
    },
    /** Shows the faults, and returns the first field with one. */
    check: () => {
      const wrong = times.filter(({ box, field }) => {
        const bad = secondsOf(box.value) === undefined;
        field.say(bad ? t('Write it as 90s, 5m or 1h.') : '');
        return bad;
      });
      return wrong[0]?.box;
    },
    /**
     * Returns what differs from the settings of base, or undefined if nothing does. A time that cannot be read is left
     * out: see check.
     */
    read: (): ServerSettings | undefined => {
      const out: ServerSettings = {};
      if (enabled.checked !== (before.enabled !== false)) out.enabled = enabled.checked;
      const timeouts: Record<string, unknown> & { toDefault?: string[] } = {};
      for (const { clock, box } of times) {
        const now = secondsOf(box.value);
        if (now === undefined || now === secondsOf(spelled(before.timeouts?.[clock]))) continue;
        if (now === '') (timeouts.toDefault ??= []).push(clock);
        else timeouts[clock] = now;
      }
      if (Object.keys(timeouts).length) out.timeouts = timeouts;
      const now = new Map(
        rows.filter(({ name }) => name.value.trim()).map((r) => [r.name.value.trim(), r.policy.value as Policy]),
      );
      const approvals: Record<string, Policy> = {};
      for (const [tool, policy] of now) if (before.approvals[tool] !== policy) approvals[tool] = policy;
      for (const tool of Object.keys(before.approvals))
        if (!now.has(tool)) approvals[tool] = 'APPROVAL_POLICY_UNSPECIFIED';
      if (Object.keys(approvals).length) out.approvals = approvals;
      return Object.keys(out).length ? out : undefined;
    },
  };
}
