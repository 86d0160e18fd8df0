// What the page itself needs to write into a config file. It is apart from the forms, which are loaded later.

import type { ConfigFileJson as ConfigFile } from '../../../host/src/gen/mcphub/v1/config_pb.js';

/** The writer of an entry, as the launch consent shows it. */
export const writer = 'McpHub’s page';

/**
 * Returns the file that an entry goes to if nobody chooses: the hub's default, or the last writable file, which has
 * precedence.
 */
export function likeliestFile(files: readonly ConfigFile[]) {
  const good = files.filter((file) => !file.notWritable);
  return good.find((file) => file.isDefault) ?? good.at(-1);
}
