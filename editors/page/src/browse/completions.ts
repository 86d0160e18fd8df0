// Proposals of a server for an argument of a prompt, or a variable of a resource template.

import { arrayOf, objectOf, parse, stringOf } from '../words/jsontext.js';
import { visible } from '../words/text.js';
import { plural, t } from '../words/t.js';
import type { Proposals } from '../elements/combobox.js';
import type { Page } from '../page.js';

/** The prompt or the template that an argument belongs to. */
export type Reference = { mcpPrompt: string } | { uriTemplate: string };

/** Maximum length of an answer that is parsed, in UTF-16 units: MCP allows 100 values (server/utilities/completion). */
const longest = 1 << 20;

export async function completions(
  page: Page,
  {
    server,
    reference,
    argument,
    value,
    context,
  }: { server: string; reference: Reference; argument: string; value: string; context: Record<string, string> },
  unwanted: AbortSignal,
): Promise<Proposals> {
  const { error, response } = await page.call('Complete', { server, ...reference, argument, value, context }, unwanted);
  const refusal = error ?? response?.error;
  if (refusal) return { values: [], note: visible(refusal.message).slice(0, 300) };
  const json = response?.resultJson ?? '';
  if (json.length > longest) return { values: [], note: t('The suggestions of the server are too long.') };
  try {
    const completion = objectOf(objectOf(parse(json)).get('completion'));
    const values = arrayOf(completion.get('values')).map(stringOf);
    const more = completion.get('hasMore') === true;
    const note =
      values.length === 0
        ? ''
        : more
          ? plural(values.length, '{0} suggestion. Type to see more.', '{0} suggestions. Type to see more.')
          : plural(values.length, '{0} suggestion', '{0} suggestions');
    return { values, note };
  } catch {
    return { values: [], note: t('The server did not return a list of suggestions.') };
  }
}
