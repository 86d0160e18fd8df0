// The card for sampling: a server asks for a completion. The user reads the request, and may edit it. The host's model
// answers, or the user answers by hand.
import { alertLine, h, show } from '../elements/dom.js';
import { block, disclosure, exact, facts, lines, quiet } from './cardparts.js';
import { arrayOf, JsonNumber, numberPattern, objectOf, parse, stringify, stringOf } from '../words/jsontext.js';
import { longClass, pretty, shortName, visible } from '../words/text.js';
import { t } from '../words/t.js';
import { chooseModel } from '../../../host/src/modelchoice.js';
import type { SamplingJson } from '../../../host/src/gen/mcphub/v1/prompt_pb.js';
import type { Kind, Kit } from './cardparts.js';
import type { Model } from '../surface.js';
import type { Json, JsonObject } from '../words/jsontext.js';

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

const preferencesOf = (request: JsonObject) => objectOf(request.get('modelPreferences'));

/** Returns the request with the user's model as the first hint. */
export function withModel(requestJson: string, id: string) {
  const request = parse(requestJson);
  if (!(request instanceof Map)) return requestJson;
  const preferences = preferencesOf(request);
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
  const { models = [] } = kit.surface;
  const own = chooseModel(models, namesIn(preferencesOf(request).get('hints'))); // the one that the host would run
  const model = own?.name ?? kit.surface.model;
  const select = models.length > 1 && modelSelect(models, own, kit);
  const chosen = () => (select ? models[select.selectedIndex] : own);
  const { texts, words, limit } = textsOf(request);
  const edit = editButton(texts, !model);
  const wrong = alertLine('field-error');
  const { element, answer, by, content } = answerByHand(kit, !model, wrong);
  /** Returns the request as the person wants it to be run. */
  const run = () => {
    wrong.textContent = isPossible(limit) ? '' : t('Enter a number of tokens, for example 500.');
    if (wrong.textContent) return undefined;
    const edited = withEdits(json, texts.map(editOf));
    const other = chosen();
    return { requestJson: other && other !== own ? withModel(edited, other.id) : edited, contentJson: '' };
  };
  return {
    title: titleFor(model, shortName(server)),
    body: [
      quiet(t('The server wrote what follows, and gets the answer.')),
      edit,
      ...words,
      requestFacts(request, limit),
      disclosure(t('Whole request'), () => [block(t('Request'), pretty(json), json)]),
      element,
      wrong,
    ],
    accept: model ? { text: runs(model), runs: true, content: run } : { text: t('Send the answer'), content },
    choices: [select],
    decline: t('Decline'),
    draft: () =>
      JSON.stringify({
        answer: answer.value,
        by: by.value,
        model: chosen()?.id,
        edits: Object.fromEntries(changesOf(texts)), // the request itself is not kept: it may be large
      }),
    restore: (draft) => {
      const kept = read(draft);
      answer.value = stringOf(kept.get('answer'));
      by.value = stringOf(kept.get('by')) || by.value;
      element.open ||= answer.value !== '';
      if (select)
        choose(
          select,
          models.findIndex(({ id }) => id === kept.get('model')),
        );
      if (restoreTexts(texts, objectOf(kept.get('edits')))) edit.click();
    },
    edited: () => answer.value !== '' || by.value !== 'human' || chosen() !== own || changesOf(texts).length > 0,
    typed: () => [answer.value, ...changesOf(texts).map(([, now]) => now)].filter(Boolean).join('\n\n'),
    ...(model ? {} : { focus: () => answer.focus() }),
  };
}

const titleFor = (model: string | undefined, server: string) =>
  model ? t('Run a model for {0}?', server) : t('Answer {0} in place of a model?', server);

const runs = (name: string) => t('Run with {0}', shortName(name));

/** Returns the choice of another model. The button of the card says which one it runs. */
const modelSelect = (models: readonly Model[], own: Model | undefined, { label }: Kit) =>
  h(
    'select',
    {
      'aria-label': t('Model'),
      'dataset': { testid: 'model' },
      'onchange': ({ currentTarget: me }: Event) => {
        const model = me instanceof HTMLSelectElement && models[me.selectedIndex];
        if (model) label(runs(model.name));
      },
    },
    ...models.map((one) => h('option', { value: one.id, selected: one === own, text: shortName(one.name) })),
  );

function choose(select: HTMLSelectElement, at: number) {
  if (at < 0) return;
  select.selectedIndex = at;
  select.dispatchEvent(new Event('change'));
}

/** A text of the request as it is shown, and the field in which a person may change it. */
interface Text {
  path: Edit['path'];
  was: string;
  shown: HTMLElement;
  field: HTMLTextAreaElement | HTMLInputElement;
}

const editOf = ({ path, was, field }: Text): Edit => ({
  path,
  was,
  text: field.type === 'text' ? field.value.trim() : field.value,
});

/** Returns the texts that were changed, each with its number. */
const changesOf = (texts: readonly Text[]) =>
  texts.flatMap((one, i): [number, string][] => {
    const { was, text } = editOf(one);
    return was === text ? [] : [[i, text]];
  });

/** Returns the button that shows the fields of the texts, or what is in them. */
function editButton(texts: readonly Text[], hidden: boolean) {
  const button = h('button', {
    'class': 'link',
    'text': t('Edit'),
    'aria-pressed': 'false',
    hidden,
    'onclick': () => {
      const on = button.getAttribute('aria-pressed') !== 'true';
      button.setAttribute('aria-pressed', String(on));
      for (const { shown, field } of texts) {
        shown.textContent = visible(field.value);
        show(shown, !on);
        show(field, on);
      }
      if (on) texts[0]?.field.focus();
    },
  });
  return button;
}

/** Restores changed texts by their number, and reports whether there are any. */
function restoreTexts(texts: readonly Text[], now: JsonObject) {
  texts.forEach(({ field }, i) => {
    if (now.has(String(i))) field.value = stringOf(now.get(String(i)));
  });
  return now.size > 0;
}

/** Returns the texts of a request, in the order in which drafts count them, and what shows them. */
function textsOf(request: JsonObject) {
  const texts: Text[] = [];
  const messages = arrayOf(request.get('messages')).map((one, i) => messageItem(texts, objectOf(one), i));
  const system = request.get('systemPrompt');
  const words = [
    typeof system === 'string'
      && h(
        'div',
        {},
        h('h4', { text: t('System prompt') }),
        editable(texts, ['systemPrompt'], system, t('System prompt')),
      ),
    h('ol', { 'class': 'messages', 'aria-label': t('Messages') }, ...messages),
  ];
  const limit = limitOf(request);
  texts.push(limit);
  return { texts, words, limit };
}

function messageItem(texts: Text[], message: JsonObject, i: number) {
  const role = visible(stringOf(message.get('role'))) || t('unknown');
  const content = message.get('content') ?? null;
  const parts = (Array.isArray(content) ? content : [content]).map((part, j) => {
    const path = ['messages', i, 'content', ...(Array.isArray(content) ? [j] : []), 'text'];
    const type = stringOf(objectOf(part).get('type'));
    return type === 'text'
      ? editable(texts, path, stringOf(objectOf(part).get('text')), t('Message {0}, {1}', i + 1, role))
      : block(visible(type) || t('Content'), pretty(stringify(part)), stringify(part));
  });
  return h('li', {}, h('h4', { text: roles.get(role) ?? role }), ...parts);
}

/** Returns an element with a text that can be changed, and adds the text. */
function editable(texts: Text[], path: Edit['path'], was: string, label: string) {
  const shown = h('p', { ...longClass('prose', was), dir: 'auto', text: visible(was) });
  const field = h('textarea', { 'class': 'grows', 'aria-label': label, 'rows': 2, 'hidden': true });
  field.value = was;
  // a text area normalizes line ends, so an edit is what differs from its own initial value
  texts.push({ path, was: field.value, shown, field });
  return h('div', { class: 'editable' }, shown, field);
}

/** Returns the number of tokens, which stands among the facts. */
function limitOf(request: JsonObject): Text {
  const most = request.get('maxTokens');
  const was = most instanceof JsonNumber ? stringify(most) : '';
  const field = h('input', {
    'type': 'text',
    'inputmode': 'numeric',
    'class': 'number',
    'value': was,
    'aria-label': t('Max tokens'),
    'hidden': true,
  });
  return { path: ['maxTokens'], was, shown: h('span', { text: was }), field };
}

function isPossible(limit: Text) {
  const { was, text } = editOf(limit);
  return was === '' || (numberPattern.test(text) && Number(text) > 0);
}

const priorities = ['costPriority', 'speedPriority', 'intelligencePriority'];

function requestFacts(request: JsonObject, { was, shown, field }: Text) {
  const value = (key: string) => request.has(key) && exact(stringify(request.get(key) ?? null));
  const preferences = preferencesOf(request);
  return facts([
    [t('Max tokens'), was !== '' && [shown, field]],
    [t('Temperature'), value('temperature')],
    [t('Stop sequences'), value('stopSequences')],
    [t('Context'), value('includeContext')],
    [t('Model hints'), nameLines(preferences.get('hints'))],
    [
      t('Priorities: cost, speed, intelligence'),
      priorities.some((key) => preferences.has(key))
        && exact(
          priorities.map((key) => (preferences.has(key) ? stringify(preferences.get(key) ?? null) : '–')).join(', '),
        ),
    ],
    [t('Tools'), nameLines(request.get('tools'))],
    [t('Tool choice'), value('toolChoice')],
  ]);
}

const namesIn = (list: Json | undefined) => arrayOf(list).map((one) => stringOf(objectOf(one).get('name')));
const nameLines = (list: Json | undefined) => lines(namesIn(list).map((name) => shortName(name)));

/**
 * Returns the fields for an answer of a person.
 * @param only there is no model: the button of the card sends the answer, else one below the fields does
 */
function answerByHand({ id, acceptButton }: Kit, only: boolean, wrong: HTMLElement) {
  const answer = h('textarea', { class: 'grows', rows: 3, id: `${id}-text` });
  const by = h('input', { type: 'text', value: 'human', id: `${id}-by`, autocomplete: 'off' });
  const content = () => {
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
  const element = h(
    'details',
    { open: only },
    h('summary', { text: t('Answer by hand') }),
    h(
      'div',
      { class: 'fields' },
      h('label', { for: answer.id, text: t('Answer') }),
      answer,
      h('label', { for: by.id, text: t('Model, or who answers') }),
      by,
      !only && acceptButton(t('Send the answer'), content),
    ),
  );
  return { element, answer, by, content };
}
