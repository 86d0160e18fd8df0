// Shows what has changed in a definition: before and after.
import { h } from '../elements/dom.js';
import { block } from './cardparts.js';
import { longClass, pretty, visible } from '../words/text.js';
import { t } from '../words/t.js';
import type { DefinitionChangeJson as Change } from '../../../host/src/gen/mcphub/v1/prompt_pb.js';

/**
 * Returns a warning that what a person has agreed to has changed.
 * @param text says so
 * @param before the whole definition, for changes without a path
 */
export const changedWarning = (text: string, ...definition: Parameters<typeof definitionDiff>) =>
  h('div', { class: 'warning' }, h('p', { text }), definitionDiff(...definition));

function definitionDiff(changes: Change[] | undefined, before?: string, after?: string) {
  // Words and signs show the kind of a change, not only its colour.
  const side = (tag: 'del' | 'ins', json: string | undefined) =>
    h(
      tag,
      longClass('code exact', json ?? ''),
      h('span', { class: 'diff-sign', text: tag === 'del' ? t('− Before') : t('+ Now') }),
      json ? visible(pretty(json)) : h('em', { text: t('nothing') }),
    );
  const list = h(
    'ul',
    { 'class': 'diff', 'aria-label': t('Changes') },
    ...(changes ?? []).map((change) =>
      h(
        'li',
        {},
        h('strong', { class: 'code exact', text: visible(change.path) || t('The whole') }),
        side('del', change.beforeJson),
        side('ins', change.afterJson),
      ),
    ),
  );
  const unclear = !changes?.length || changes.some((change) => !change.path);
  return h(
    'div',
    {},
    changes?.length ? list : undefined,
    unclear && before ? block(t('Before'), pretty(before), before) : undefined,
    unclear && before && after ? block(t('Now'), pretty(after), after) : undefined,
  );
}
