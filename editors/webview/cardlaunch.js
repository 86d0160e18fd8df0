// The card for a server launch: all of what somebody else's file would run, or connect to.
import { h } from './dom.js';
import { block, facts, lines, quoted, scopeChoice } from './cardparts.js';
import { sourceLink } from './cardform.js';
import { definitionDiff } from './definitiondiff.js';
import { visible } from './text.js';

/** @param {import('../host/src/gen/mcphub/v1/prompt_pb.js').ServerLaunchJson} ask @param {string} server @param {import('./cardparts.js').Kit} kit @returns {import('./cardparts.js').Kind} */
export function launchCard(ask, server, kit) {
  const command = [ask.command ?? '', ...(ask.args ?? [])].map(quoted).join(' ');
  const { select, scope } = scopeChoice(kit, {
    APPROVAL_SCOPE_ONCE: ['Only this time', 'Start'], APPROVAL_SCOPE_WINDOW: ['For this window', 'Start for this window'],
    APPROVAL_SCOPE_WORKSPACE: ['In this workspace', 'Start in this workspace'], APPROVAL_SCOPE_ALWAYS: ['Always', 'Start always'],
  });
  return {
    title: `${ask.command ? 'Start' : 'Connect to'} ${visible(server)}?`,
    body: [
      h('p', { class: 'muted', text: 'A file of this workspace brings this server. Once started, it can do what you can do.' }),
      ask.changed && h('div', { class: 'warning' }, h('p', { text: 'It has changed since you agreed to it.' }), definitionDiff(ask.changes)),
      ask.command ? block('Command', command) : undefined,
      ask.url ? block('Address', ask.url) : undefined,
      facts([
        ['Arguments', lines(ask.args?.map((arg) => JSON.stringify(arg)))],
        ['Folder', lines(ask.directory ? [ask.directory] : [])],
        ['Sets variables', lines(ask.environmentNames)],
        ['Would see your variables', lines(ask.environmentReferences)],
        ['Would see the inputs', lines(ask.inputReferences)],
        ['Variables from the file', lines(ask.envFile ? [ask.envFile] : [])],
        ['Sends headers', lines(ask.headerNames)],
        ['Reads the files', lines(ask.files)],
        ['Wants to call without asking', lines(ask.allowedTools)],
        ['Comes from', sourceLink(kit, ask.configFile, ask.configLine)],
      ]),
    ],
    choices: [select],
    accept: { text: 'Start', note: 'Agreed', content: () => ({ scope: scope() }) },
    decline: { text: 'Do not start', note: 'Declined' },
  };
}
