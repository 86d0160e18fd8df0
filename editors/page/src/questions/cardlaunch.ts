// The card for a server launch. It shows everything that a file of somebody else would run or connect to.
import { h } from '../elements/dom.js';
import { block, facts, lines, quoted, scopes } from './cardparts.js';
import { sourceLink } from './cardform.js';
import { changedWarning } from './definitiondiff.js';
import { shortName, visible } from '../words/text.js';
import { t } from '../words/t.js';
import { launchFacts, launchOrigin, loadsCode } from '../../../host/src/launchfacts.js';
import type { ServerLaunchJson } from '../../../host/src/gen/mcphub/v1/prompt_pb.js';
import type { Child } from '../elements/dom.js';
import type { Kind, Kit } from './cardparts.js';

/** Returns a separate warning about variables that can make the program load other code than its name suggests. */
function warning(variables: string[]) {
  return (
    variables.length > 0
    && h(
      'div',
      { class: 'danger', role: 'alert', dataset: { testid: 'loads-code' } },
      h(
        'p',
        {},
        h('strong', { text: t('Danger:') }),
        ` ${t('the file sets what can make the program load other code.')}`,
      ),
      lines(variables),
    )
  );
}

/**
 * Returns the hash of the launch if a program wrote the entry. A person may agree to such an entry only after seeing
 * all of it, and this card shows all of it.
 */
const shown = ({ writtenBy, launchHash }: ServerLaunchJson) =>
  writtenBy === undefined || launchHash === undefined ? {} : { launchHash };

export function launchCard(ask: ServerLaunchJson, server: string, kit: Kit): Kind {
  const command = [ask.command ?? '', ...(ask.args ?? [])].map(quoted).join(' ');
  return {
    title: ask.command ? t('Start {0}?', shortName(server)) : t('Connect to {0}?', shortName(server)),
    dangerous: loadsCode(ask, { t }).length > 0,
    body: [
      h('p', { text: visible(launchOrigin(ask, { t })) }),
      ask.changed && changedWarning(t('It has changed since you agreed to it.'), ask.changes),
      warning(loadsCode(ask, { t })),
      ask.command ? block(t('Command'), command) : undefined,
      ask.url ? block(t('Address'), ask.url) : undefined,
      facts([
        ...launchFacts(ask, { t }).map(({ label, values }): [string, Child] => [label, lines(values)]),
        [t('Comes from'), sourceLink(kit, ask.configFile, ask.configLine)],
      ]),
    ],
    accept: scopes((scope) => ({ scope, ...shown(ask) }), {
      APPROVAL_SCOPE_ONCE: t('Start'),
      APPROVAL_SCOPE_WINDOW: t('Start for this window'),
      APPROVAL_SCOPE_WORKSPACE: t('Start in this workspace'),
      APPROVAL_SCOPE_ALWAYS: t('Start always'),
    }),
    decline: t('Do not start'),
  };
}
