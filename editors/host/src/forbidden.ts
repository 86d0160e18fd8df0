// What a relay keeps from the hub: config files that the host has not turned on, and a program that agrees to what it
// wrote itself.
import type { AttachRequest } from './gen/mcphub/v1/editor_pb.js';
import type { Prompt, PromptAnswer } from './gen/mcphub/v1/prompt_pb.js';
import { HubError } from './failure.js';
import type { RelayOptions } from './options.js';

const writes = new Set<string | undefined>([
  'addServer',
  'updateServer',
  'removeServer',
  'undoConfigWrite',
  // What they need: files, and entries with their values, which may be secret.
  'listConfigFiles',
  'readConfigText',
  'getServerEntry',
  // What it would add, and who is asked for that.
  'searchRegistry',
  'getRegistryServer',
  'readBundle',
  'fillProposal',
  'chooseBundle',
]);

/** Why a message of a page that would write a config file is not forwarded; undefined: it is. */
export function writeForbidden({ message }: AttachRequest, options: RelayOptions): HubError | undefined {
  return writes.has(message.case) && options.configWrites !== true
    ? new HubError(
        'permission_denied',
        'CONFIG_WRITES_OFF',
        'This page may not change config files: its host has not turned that on. Nothing was written.',
      )
    : undefined;
}

/** Why a yes to a launch is not forwarded; undefined: it is. */
export function launchForbidden(
  answer: PromptAnswer,
  prompt: Prompt | undefined,
  actsFor: string | undefined,
): HubError | undefined {
  const launch = prompt?.question.case === 'serverLaunch' ? prompt.question.value : undefined;
  return actsFor !== undefined && launch?.writtenBy?.name === actsFor && answer.action.case === 'accept'
    ? new HubError(
        'permission_denied',
        'CONSENT_NOT_SHOWN',
        `${actsFor} had the entry of this server written, and cannot also agree to its start. A person has to.`,
      )
    : undefined;
}
