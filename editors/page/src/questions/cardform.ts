// The cards that ask for values: a server's form, and an input of a config file.
import { h } from '../elements/dom.js';
import { asked, exact, facts, quiet } from './cardparts.js';
import { schemaForm } from '../forms/schemaform.js';
import { commandLink } from '../surface.js';
import { shortName, visible } from '../words/text.js';
import { t } from '../words/t.js';
import type { Kind, Kit } from './cardparts.js';
import type { ConfigInputJson, ElicitationFormJson } from '../../../host/src/gen/mcphub/v1/prompt_pb.js';

export function formCard(ask: ElicitationFormJson, kit: Kit): Kind {
  const form = schemaForm(ask.schemaJson, { idPrefix: kit.id, flat: true });
  const { title, whole } = asked(ask.message, t('Fill in a form'));
  return {
    title,
    body: [whole, form.element, quiet(t('It goes to the server. Enter no password here.'))],
    accept: {
      text: t('Submit'),
      content() {
        const read = form.read();
        if ('json' in read) return { contentJson: read.json };
        form.showErrors(read.errors);
        return undefined;
      },
    },
    decline: t('Decline'),
    edited: form.edited,
    typed: form.draft,
    draft: form.draft,
    restore: form.set,
    focus: form.focusFirst,
  };
}

export function inputCard(ask: ConfigInputJson, kit: Kit): Kind {
  const { options = [], secret } = ask;
  const id = `${kit.id}-value`;
  const control = valueControl(ask, id);
  const start = control.value;
  const wrong = h('p', { class: 'field-error', id: `${id}-error`, role: 'alert' });
  control.setAttribute('aria-describedby', wrong.id);
  /** Returns undefined as long as none of the values was chosen. */
  const chosen = () => (control.value === '' ? undefined : (options[Number(control.value)]?.value ?? ''));
  return {
    title: t('Value of {0}?', shortName(ask.inputId)),
    body: [
      h('label', { class: 'prose', dir: 'auto', for: id, text: visible(ask.description) || visible(ask.inputId) }),
      h('div', { class: 'inline' }, control, secret && !options.length && showButton(control)),
      wrong,
      facts([
        [t('Asked by'), sourceLink(kit, ask.configFile, ask.configLine)],
        [t('Kept'), secret ? t('As a secret, for the next time, too') : t('For the next time, too')],
      ]),
    ],
    accept: {
      text: t('Save'),
      content() {
        const value = options.length ? chosen() : control.value;
        wrong.textContent = value === undefined ? t('Choose one of the values.') : '';
        if (value === undefined) control.focus();
        return value === undefined ? undefined : { contentJson: JSON.stringify(value) };
      },
    },
    decline: t('Decline'),
    edited: () => control.value !== start,
    typed: () => (secret || options.length ? '' : control.value),
    ...(!secret && { draft: () => control.value, restore: (draft) => void (control.value = draft) }),
    focus: () => control.focus(),
  };
}

/** Returns a choice of the options by their number, or without any a text field. */
function valueControl({ options = [], defaultValue, secret }: ConfigInputJson, id: string) {
  if (!options.length)
    return h('input', {
      id,
      type: secret ? 'password' : 'text',
      autocomplete: 'off',
      spellcheck: 'false',
      value: defaultValue ?? '',
    });
  const preset = options.findIndex(({ value }) => defaultValue !== undefined && value === defaultValue);
  const select = h(
    'select',
    { id },
    h('option', { value: '', text: t('Choose…') }),
    ...options.map((one, i) => h('option', { value: i, text: visible(one.label || one.value) })),
  );
  select.value = preset < 0 ? '' : String(preset);
  return select;
}

/** Returns a button that shows a secret while it is typed. */
const showButton = (control: HTMLElement) =>
  h('button', {
    'class': 'small',
    'aria-pressed': 'false',
    'aria-label': t('Show the value'),
    'text': t('Show'),
    'onclick': ({ currentTarget: me }: Event) => {
      if (!(me instanceof HTMLElement)) return;
      const shown = control.getAttribute('type') === 'text';
      control.setAttribute('type', shown ? 'password' : 'text');
      me.setAttribute('aria-pressed', String(!shown));
      me.textContent = shown ? t('Show') : t('Hide');
    },
  });

/** Returns a link to the place in a config file that a question comes from. */
export function sourceLink({ surface }: Kit, file: string | undefined, line: number | undefined) {
  if (!file) return undefined;
  const text = visible(line ? `${file}:${line}` : file);
  return commandLink(surface, 'mcphub.openConfig', [file, line ?? 1], text) ?? exact(text);
}
