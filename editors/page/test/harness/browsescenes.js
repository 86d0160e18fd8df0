// The states of the lists of resources and prompts that axe checks and screenshots show.

import { carryOut, offer, offering } from './offers.js';

/** @typedef {import('./pagetest.js').Opened} Opened */
/** @typedef {{ what: string, act: (opened: Opened) => Promise<void> }} Scene */

export const browseSetup = {
  snapshot: {
    servers: [offering('files')],
    subscriptions: [
      { server: 'files', uri: 'db://orders' },
      { server: 'files', uri: 'file:///notes.md' },
    ],
  },
};
/** The commands that links may run in an editor. */
export const browseCommands = [
  'mcphub.openPart',
  'mcphub.savePart',
  'mcphub.copyPart',
  'mcphub.openResource',
  'mcphub.insertPromptText',
  'mcphub.promptTextToChat',
  'mcphub.saveContent',
];

/** @param {Opened} opened @param {string} list @param {string} [entry] */
async function unfold({ by, hub, settle }, list, entry) {
  offer(hub);
  await by('server-files').getByRole('button').first().click();
  await by(list === 'mcp-prompts' ? 'tab-prompts' : 'tab-resources').click();
  await settle();
  if (entry) await by(entry).getByRole('button').first().click();
  await settle();
}

/** @type {Scene[]} */
export const browseScenes = [
  {
    what: 'resources, one of which has changed and one of which was read',
    act: async (opened) => {
      const { by, hub, pass } = opened;
      await unfold(opened, 'resources', 'resource-file:///notes.md');
      await hub.say({ resourceUpdated: { server: 'files', uri: 'db://orders' } });
      await by('resource-file:///notes.md').getByTestId('ask').click();
      const { readResource } = await hub.next('readResource');
      await carryOut(
        hub,
        { requestId: readResource.requestId ?? '', method: 'resources/read', subject: 'file:///notes.md' },
        {
          contents: [
            { uri: 'file:///notes.md', mimeType: 'text/markdown', text: '# Decided\n\n- blue\n- **no** green' },
            { uri: 'file:///notes.zip', mimeType: 'application/zip', blob: 'UEsDBAoAAAAAAA==' },
          ],
        },
      );
      await pass(300);
      await by('resource-file:///notes.md').getByRole('heading', { name: 'Decided' }).waitFor();
      await pass(300);
    },
  },
  {
    what: 'a template with proposals',
    act: async (opened) => {
      const { page, pass } = opened;
      await unfold(opened, 'templates', 'template-file:///{folder}/{name}');
      await page.getByRole('combobox', { name: 'folder' }).focus();
      await page.keyboard.type('ja');
      await pass(300);
      await page.keyboard.press('ArrowDown');
    },
  },
  {
    what: 'a prompt that lacks an argument',
    act: async (opened) => {
      const { by, settle } = opened;
      await unfold(opened, 'mcp-prompts', 'mcp-prompt-review');
      await by('mcp-prompt-review').getByTestId('ask').click();
      await settle();
    },
  },
  {
    what: 'a prompt that was filled',
    act: async (opened) => {
      const { by, hub, pass } = opened;
      await unfold(opened, 'mcp-prompts', 'mcp-prompt-plain');
      await by('mcp-prompt-plain').getByTestId('ask').click();
      const { getMcpPrompt } = await hub.next('getMcpPrompt');
      await carryOut(
        hub,
        { requestId: getMcpPrompt.requestId ?? '', method: 'prompts/get', subject: 'plain' },
        {
          description: 'A review.',
          messages: [
            { role: 'user', content: { type: 'text', text: 'Review this code.' } },
            { role: 'assistant', content: { type: 'text', text: 'Which one?' } },
          ],
        },
      );
      await pass(300);
      await by('mcp-prompt-plain').getByText('Which one?').waitFor();
    },
  },
];
