// The card for a server launch. It shows everything that a file of somebody else would run or connect to.
import { h } from '../elements/dom.js';
import { block, facts, lines, quoted, scopes } from './cardparts.js';
import { sourceLink } from './cardform.js';
import { definitionDiff } from './definitiondiff.js';
import { shortName, visible } from '../words/text.js';
import { t } from '../words/t.js';
import type {
  LaunchVariableJson as LaunchVariable,
  ServerLaunchJson,
} from '../../../host/src/gen/mcphub/v1/prompt_pb.js';
import type { Kind, Kit } from './cardparts.js';

const setting = ({ name, value, unset }: LaunchVariable) =>
  unset ? t('{0} (taken away)', name ?? '') : `${name ?? ''}=${value ?? ''}`;

/**
 * Returns the variables that the file sets, without those that loadsCode shows. If the hub has sent only the name of a
 * variable, it comes without a value.
 */
function settings({ environment = [], environmentNames = [] }: ServerLaunchJson) {
  const told = new Set(environment.map((v) => v.name));
  return [
    ...environment.filter((v) => !v.loadsCode).map(setting),
    ...environmentNames.filter((name) => !told.has(name)),
  ];
}

/** Returns a separate warning about variables that can make the program load other code than its name suggests. */
function loadsCode({ environment = [] }: ServerLaunchJson) {
  const all = environment.filter((v) => v.loadsCode).map(setting);
  return (
    all.length > 0
    && h(
      'div',
      { class: 'danger', role: 'alert', dataset: { testid: 'loads-code' } },
      h(
        'p',
        {},
        h('strong', { text: t('Danger:') }),
        ` ${t('the file sets what can make the program load other code.')}`,
      ),
      lines(all),
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
    from:
      ask.writtenBy === undefined
        ? t('A file of this workspace brings it')
        : t('{0} wrote its entry into a config file', shortName(ask.writtenBy.name)),
    grave: (ask.environment ?? []).some((v) => v.loadsCode),
    body: [
      h('p', { text: t('Once started, it can do what you can do.') }),
      ask.changed
        && h(
          'div',
          { class: 'warning' },
          h('p', { text: t('It has changed since you agreed to it.') }),
          definitionDiff(ask.changes),
        ),
      loadsCode(ask),
      ask.command ? block(t('Command'), command) : undefined,
      ask.url ? block(t('Address'), ask.url) : undefined,
      facts([
        [
          t('Runs the program'),
          lines([ask.resolvedCommand ?? '', ask.resolvedTarget ?? ''].filter((path) => path !== '')),
        ],
        [t('Found in'), ask.resolvedFrom && visible(ask.resolvedFrom)],
        [t('Program'), ask.unresolved && t('Not known: {0}', visible(ask.unresolved))],
        [t('Folder'), lines(ask.directory ? [ask.directory] : [])],
        [t('Sets variables'), lines(settings(ask))],
        [t('Would see your variables'), lines(ask.environmentReferences)],
        [t('Inherits your settings'), lines(ask.inheritedNames)],
        [t('Would see the inputs'), lines(ask.inputReferences)],
        [t('Variables from the file'), lines(ask.envFile ? [ask.envFile] : [])],
        [t('That file sets'), lines(ask.envFileNames)],
        [t('Sends headers'), lines(ask.headerNames)],
        [t('Reads the files'), lines(ask.files)],
        [t('Wants to call without asking'), lines(ask.allowedTools)],
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
