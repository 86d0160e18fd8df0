// The card for a server launch: all of what somebody else's file would run, or connect to.
import { h } from '../elements/dom.js';
import { block, facts, lines, quoted, scopeChoice } from './cardparts.js';
import { sourceLink } from './cardform.js';
import { definitionDiff } from './definitiondiff.js';
import { shortName, visible } from '../words/text.js';

/** @typedef {import('../../../host/src/gen/mcphub/v1/prompt_pb.js').LaunchVariableJson} LaunchVariable */

/** @param {LaunchVariable} v */
const setting = ({ name, value, unset }) => (unset ? `${name ?? ''} (taken away)` : `${name ?? ''}=${value ?? ''}`);

/**
 * What the file sets; a name without a value takes it from elsewhere.
 * @param {import('../../../host/src/gen/mcphub/v1/prompt_pb.js').ServerLaunchJson} ask
 */
function settings({ environment = [], environmentNames = [] }) {
  const told = new Set(environment.map((v) => v.name));
  return [
    ...environment.filter((v) => !v.loadsCode).map(setting),
    ...environmentNames.filter((name) => !told.has(name)),
  ];
}

/**
 * The warning of its own: what makes the program another one than its name says.
 * @param {import('../../../host/src/gen/mcphub/v1/prompt_pb.js').ServerLaunchJson} ask
 */
function loadsCode({ environment = [] }) {
  const all = environment.filter((v) => v.loadsCode).map(setting);
  return (
    all.length > 0
    && h(
      'div',
      { class: 'danger', role: 'alert', dataset: { testid: 'loads-code' } },
      h('p', {}, h('strong', { text: 'Danger: ' }), 'the file sets what can make the program load other code.'),
      lines(all),
    )
  );
}

/**
 * What a program wrote is agreed to only by who has seen all of it: this card shows it.
 * @param {import('../../../host/src/gen/mcphub/v1/prompt_pb.js').ServerLaunchJson} ask
 */
const shown = ({ writtenBy, launchHash }) =>
  writtenBy === undefined || launchHash === undefined ? {} : { launchHash };

/**
 * @param {import('../../../host/src/gen/mcphub/v1/prompt_pb.js').ServerLaunchJson} ask
 * @param {string} server
 * @param {import('./cardparts.js').Kit} kit
 * @returns {import('./cardparts.js').Kind}
 */
export function launchCard(ask, server, kit) {
  const command = [ask.command ?? '', ...(ask.args ?? [])].map(quoted).join(' ');
  const { select, scope } = scopeChoice(kit, {
    APPROVAL_SCOPE_ONCE: ['Only this time', 'Start'],
    APPROVAL_SCOPE_WINDOW: ['For this window', 'Start for this window'],
    APPROVAL_SCOPE_WORKSPACE: ['In this workspace', 'Start in this workspace'],
    APPROVAL_SCOPE_ALWAYS: ['Always', 'Start always'],
  });
  return {
    title: `${ask.command ? 'Start' : 'Connect to'} ${shortName(server)}?`,
    body: [
      h('p', {
        class: 'muted',
        text: `${
          ask.writtenBy === undefined
            ? 'A file of this workspace brings this server.'
            : `${visible(ask.writtenBy.name ?? '')} wrote the entry of this server into a config file.`
        } Once started, it can do what you can do.`,
      }),
      ask.changed
        && h(
          'div',
          { class: 'warning' },
          h('p', { text: 'It has changed since you agreed to it.' }),
          definitionDiff(ask.changes),
        ),
      loadsCode(ask),
      ask.command ? block('Command', command) : undefined,
      ask.url ? block('Address', ask.url) : undefined,
      facts([
        [
          'Runs the program',
          lines([ask.resolvedCommand ?? '', ask.resolvedTarget ?? ''].filter((path) => path !== '')),
        ],
        ['Found in', ask.resolvedFrom && visible(ask.resolvedFrom)],
        ['Program', ask.unresolved && `Not known: ${visible(ask.unresolved)}`],
        ['Folder', lines(ask.directory ? [ask.directory] : [])],
        ['Sets variables', lines(settings(ask))],
        ['Would see your variables', lines(ask.environmentReferences)],
        ['Inherits your settings', lines(ask.inheritedNames)],
        ['Would see the inputs', lines(ask.inputReferences)],
        ['Variables from the file', lines(ask.envFile ? [ask.envFile] : [])],
        ['That file sets', lines(ask.envFileNames)],
        ['Sends headers', lines(ask.headerNames)],
        ['Reads the files', lines(ask.files)],
        ['Wants to call without asking', lines(ask.allowedTools)],
        ['Comes from', sourceLink(kit, ask.configFile, ask.configLine)],
      ]),
    ],
    choices: [select],
    accept: { text: 'Start', note: 'Agreed', content: () => ({ scope: scope(), ...shown(ask) }) },
    decline: { text: 'Do not start', note: 'Declined' },
  };
}
