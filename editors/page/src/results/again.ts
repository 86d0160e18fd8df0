// Makes a request once more with the same arguments.

import { objectOf, parse, stringOf } from '../words/jsontext.js';
import { isKept, readPart } from './read.js';
import type { Ended } from '../hub/ended.js';
import type { Page, Reply } from '../page.js';

/** Maximum size of arguments that are sent again, in bytes. */
const most = 1 << 20;

/** Reports whether the page can make the request once more. */
export const canAgain = ({ state }: Page, entry: Ended) => isKept(entry) && state.servers.has(entry.about.server ?? '');

/**
 * Makes the request of an ended entry again. Rejects if its arguments cannot be read; then nothing was sent.
 * @param sent is called when the arguments are known: from here on the request is sent
 */
export async function requestAgain(page: Page, entry: Ended, sent: (requestId: string) => void): Promise<Reply> {
  const { server = '', tool = '', subject: uri = '', method, argumentsPreview } = entry.about;
  const requestId = crypto.randomUUID();
  const json = argumentsPreview ? await readPart(page.call, entry.requestId, 'REQUEST_PART_ARGUMENTS', most) : '';
  sent(requestId);
  if (method === 'resources/read') return page.call('ReadResource', { requestId, server, uri });
  if (method === 'prompts/get')
    return page.call('GetMcpPrompt', { requestId, server, name: uri, arguments: textsOf(json) });
  return page.call('CallTool', { requestId, server, tool, argumentsJson: json });
}

/** Returns the arguments of a prompt, which are all texts. */
const textsOf = (json: string): Record<string, string> =>
  Object.fromEntries([...objectOf(parse(json || '{}'))].map(([name, value]) => [name, stringOf(value)]));
