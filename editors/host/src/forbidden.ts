// Decides what a relay does not forward to the hub: messages that change config files, if the host has not turned that
// on, and the consent of a program to the launch of a server that it wrote itself.
import type { DescMethod } from '@bufbuild/protobuf';
import { ConfigService } from './gen/mcphub/v1/config_pb.js';
import type { AttachRequest } from './gen/mcphub/v1/editor_pb.js';
import type { Prompt, PromptAnswer } from './gen/mcphub/v1/prompt_pb.js';
import { RegistryService } from './gen/mcphub/v1/registry_pb.js';
import { HubError } from './failure.js';
import type { RelayOptions } from './options.js';

/**
 * Services for a page that changes config files: they write files, return files and entries with all values, which may
 * be secret, and send requests to registries.
 */
const ofWrites: ReadonlySet<string> = new Set([ConfigService.typeName, RegistryService.typeName]);

/**
 * Returns the error with which a message of a page about config files is refused, or undefined if it is to be
 * forwarded. `method` is that of a call.
 */
export function writeForbidden(
  { message }: AttachRequest,
  method: DescMethod | undefined,
  options: RelayOptions,
): HubError | undefined {
  const writes = message.case === 'chooseBundle' || (method !== undefined && ofWrites.has(method.parent.typeName));
  return writes && options.configWrites !== true
    ? new HubError(
        'permission_denied',
        'CONFIG_WRITES_OFF',
        'This page may not change config files: its host has not turned that on. Nothing was written.',
      )
    : undefined;
}

/** Returns the error with which the consent to a launch is refused, or undefined if it is to be forwarded. */
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
