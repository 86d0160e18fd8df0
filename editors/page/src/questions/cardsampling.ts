// The card for sampling: a server asks for a completion. The user reads the request, and may edit it. The host's model
// answers, or the user answers by hand.
import { h, show } from '../elements/dom.js';
import { block, disclosure, exact, facts, lines } from './cardparts.js';
import { arrayOf, JsonNumber, numberPattern, objectOf, parse, stringify, stringOf } from '../words/jsontext.js';
import { longClass, pretty, shortName, visible } from '../words/text.js';
import { t } from '../words/t.js';
import { chooseModel } from '../../../host/src/modelchoice.js';
import type { SamplingJson } from '../../../host/src/gen/mcphub/v1/prompt_pb.js';
import type { Kind, Kit } from './cardparts.js';

const roles = new Map([
  ['user', t('User')],
  ['assistant', t('Assistant')],
]); // a Map, since a server may send a role that is called "constructor"

export type Edit = { path: (string | number)[]; was: string; text: string };

/** Returns the request with the user's texts in it. Without a real edit it is unchanged, byte for byte. */
export function withEdits(requestJson: string, edits: Edit[]) {
  const real = edits.filter(({ was, text }) => was !== text);
  if (!real.length) return requestJson;
  const request = parse(requestJson);
  for (const { path, text } of real) {
    const last = path.at(-1) ?? '';
    let holder = request;
    for (const key of path.slice(0, -1))
      holder = (Array.isArray(holder) ? holder[Number(key)] : objectOf(holder).get(String(key))) ?? null;
    const value = last === 'maxTokens' ? new JsonNumber(text) : text;
    if (!(holder instanceof Map)) continue;
    if (text === '' && last === 'systemPrompt') holder.delete(last);
    else holder.set(String(last), value);
  }
  return stringify(request);
}

/** Returns the request with the user's model as the first hint. */
export function withModel(requestJson: string, id: string) {
  const request = parse(requestJson);
  if (!(request instanceof Map)) return requestJson;
  const preferences = objectOf(request.get('modelPreferences'));
  preferences.set('hints', [new Map([['name', id]]), ...arrayOf(preferences.get('hints'))]);
  request.set('modelPreferences', preferences);
  return stringify(request);
}

function read(requestJson: string) {
  try {
    return objectOf(parse(requestJson));
  } catch {
    return objectOf(null); // the block with the whole request shows it unchanged
  }
}

export function samplingCard(ask: SamplingJson, server: string, kit: Kit): Kind {
  const json = ask.requestJson ?? '';
  const request = read(json);
  const preferences = objectOf(request.get('modelPreferences'));
  const hints = arrayOf(preferences.get('hints')).map((hint) => stringOf(objectOf(hint).get('name')));
  const { models = [] } = kit.surface;
  const own = chooseModel(models, hints); // the one that the host would run
  let chosen = own;
  const model = own?.name ?? kit.surface.model;
  const runs = (name: string) => t('Run with {0}', shortName(name));
  const choose = (at: number) => {
    chosen = models[at];
    if (chosen) kit.label(runs(chosen.name));
  };
  const select =
    models.length > 1
    && h(
      'select',
      {
        'aria-label': t('Model'),
        'dataset': { testid: 'model' },
        'onchange': ({ currentTarget: me }: Event) => {
          if (me instanceof HTMLSelectElement) choose(me.selectedIndex);
        },
      },
      ...models.map((one) => h('option', { value: one.id, selected: one === own, text: shortName(one.name) })),
    );
  const texts: { path: Edit['path']; was: string; shown: HTMLElement; field: HTMLTextAreaElement }[] = [];
  const text = (path: Edit['path'], was: string, label: string) => {
    const shown = h('p', { ...longClass('prose', was), dir: 'auto', text: visible(was) });
    const field = h('textarea', { 'class': 'grows', 'aria-label': label, 'rows': 2, 'hidden': true });
    field.value = was;
    // a text area normalizes line ends, so an edit is what differs from its own initial value
    texts.push({ path, was: field.value, shown, field });
    return h('div', { class: 'editable' }, shown, field);
  };
  const messages = arrayOf(request.get('messages')).map((one, i) => {
    const message = objectOf(one);
    const role = visible(stringOf(message.get('role'))) || t('unknown');
    const content = message.get('content') ?? null;
    const parts = (Array.isArray(content) ? content : [content]).map((part, j) => {
      const path = ['messages', i, 'content', ...(Array.isArray(content) ? [j] : [])];
      const type = stringOf(objectOf(part).get('type'));
      if (type === 'text')
        return text([...path, 'text'], stringOf(objectOf(part).get('text')), t('Message {0}, {1}', i + 1, role));
      return block(visible(type) || t('Content'), pretty(stringify(part)), stringify(part));
    });
    return h('li', {}, h('h4', { text: roles.get(role) ?? role }), ...parts);
  });
  const system = request.get('systemPrompt');
  const most = request.get('maxTokens') instanceof JsonNumber ? stringify(request.get('maxTokens') ?? null) : '';
  const limit = h('input', {
    'type': 'text',
    'inputmode': 'numeric',
    'class': 'number',
    'value': most,
    'aria-label': t('Max tokens'),
    'hidden': true,
  });
  const limitShown = h('span', { text: most });
  const wrong = h('p', { class: 'field-error', role: 'alert' });
  const edit = h('button', {
    'class': 'link',
    'text': t('Edit'),
    'aria-pressed': 'false',
    'hidden': !model,
    'onclick': () => {
      const on = edit.getAttribute('aria-pressed') !== 'true';
      edit.setAttribute('aria-pressed', String(on));
      for (const { shown, field } of texts) {
        shown.textContent = visible(field.value);
        show(shown, !on);
        show(field, on);
      }
      limitShown.textContent = limit.value;
      show(limitShown, !on);
      show(limit, on);
      if (on) texts[0]?.field.focus();
    },
  });
  const edits = () => [
    ...texts.map(({ path, was, field }) => ({ path, was, text: field.value })),
    { path: ['maxTokens'], was: most, text: limit.value.trim() },
  ];
  const changes = (): [number, string][] => edits().flatMap(({ was, text }, i) => (was === text ? [] : [[i, text]]));
  const value = (key: string, from = request) => from.has(key) && exact(stringify(from.get(key) ?? null));

  const answer = h('textarea', { class: 'grows', rows: 3, id: `${kit.id}-text` });
  const by = h('input', { type: 'text', value: 'human', id: `${kit.id}-by`, autocomplete: 'off' });
  const byHand = () => {
    wrong.textContent = answer.value.trim() && by.value.trim() ? '' : t('Write the answer, and who gave it.');
    if (!wrong.textContent) {
      return {
        contentJson: JSON.stringify({
          role: 'assistant',
          content: { type: 'text', text: answer.value },
          model: by.value.trim(),
          stopReason: 'endTurn',
        }),
      };
    }
    answer.focus();
    return undefined;
  };
  const send = model ? kit.acceptButton(t('Send the answer'), byHand) : undefined;
  const fields = [
    h('label', { for: `${kit.id}-text`, text: t('Answer') }),
    answer,
    h('label', { for: `${kit.id}-by`, text: t('Model, or who answers') }),
    by,
    send,
  ];
  const hand = h(
    'details',
    { open: !model },
    h('summary', { text: t('Answer by hand') }),
    h('div', { class: 'fields' }, ...fields),
  );
  return {
    title: model
      ? t('Run a model for {0}?', shortName(server))
      : t('Answer {0} in place of a model?', shortName(server)),
    body: [
      h('p', { class: 'quiet', text: t('The server wrote what follows, and gets the answer.') }),
      edit,
      typeof system === 'string'
        && h('div', {}, h('h4', { text: t('System prompt') }), text(['systemPrompt'], system, t('System prompt'))),
      h('ol', { 'class': 'messages', 'aria-label': t('Messages') }, ...messages),
      facts([
        [t('Max tokens'), most !== '' && [limitShown, limit]],
        [t('Temperature'), value('temperature')],
        [t('Stop sequences'), value('stopSequences')],
        [t('Context'), value('includeContext')],
        [t('Model hints'), lines(hints.map((hint) => shortName(hint)))],
        [
          t('Priorities: cost, speed, intelligence'),
          ['costPriority', 'speedPriority', 'intelligencePriority'].some((key) => preferences.has(key))
            && exact(
              ['costPriority', 'speedPriority', 'intelligencePriority']
                .map((key) => (preferences.has(key) ? stringify(preferences.get(key) ?? null) : '–'))
                .join(', '),
            ),
        ],
        [
          t('Tools'),
          lines(arrayOf(request.get('tools')).map((tool) => shortName(stringOf(objectOf(tool).get('name'))))),
        ],
        [t('Tool choice'), value('toolChoice')],
      ]),
      disclosure(t('Whole request'), () => [block(t('Request'), pretty(json), json)]),
      hand,
      wrong,
    ],
    accept: model
      ? {
          text: runs(model),
          runs: true,
          content() {
            wrong.textContent =
              most === '' || (numberPattern.test(limit.value.trim()) && Number(limit.value) > 0)
                ? ''
                : t('Enter a number of tokens, for example 500.');
            if (wrong.textContent) return undefined;
            const edited = withEdits(json, edits());
            return { requestJson: chosen && chosen !== own ? withModel(edited, chosen.id) : edited, contentJson: '' };
          },
        }
      : { text: t('Send the answer'), content: byHand },
    ...(select && { choices: [select] }),
    decline: t('Decline'),
    draft: () =>
      JSON.stringify({
        answer: answer.value,
        by: by.value,
        model: chosen?.id,
        edits: Object.fromEntries(changes()), // the request itself is not kept: it may be large
      }),
    restore: (draft) => {
      const kept = read(draft);
      answer.value = stringOf(kept.get('answer'));
      by.value = stringOf(kept.get('by')) || by.value;
      hand.open ||= answer.value !== '';
      const at = models.findIndex(({ id }) => id === kept.get('model'));
      if (select && at >= 0) choose((select.selectedIndex = at));
      const now = objectOf(kept.get('edits'));
      [...texts.map(({ field }) => field), limit].forEach((field, i) => {
        if (now.has(String(i))) field.value = stringOf(now.get(String(i)));
      });
      if (now.size > 0) edit.click();
    },
    edited: () => answer.value !== '' || by.value !== 'human' || chosen !== own || changes().length > 0,
    typed: () => [answer.value, ...changes().map(([, now]) => now)].filter(Boolean).join('\n\n'),
    ...(model ? {} : { focus: () => answer.focus() }),
  };
}
