// Tools and results in the form that models need.
import { HubError } from '../failure.js';
import type { Hub } from '../hub.js';
import type { McpHub } from './mcphub.js';
import * as shown from './shown.js';

export function models(ready: () => Promise<Hub>): Pick<McpHub, 'modelTools' | 'searchTools' | 'readResult'> {
  return {
    async modelTools({ profile = '' } = {}) {
      const { tools, aside, tokens } = await (await ready()).models.listModelTools({ profile });
      return {
        tools: tools.map(shown.modelTool),
        aside: aside.map(({ server, tool, reason }) => ({ server, tool, reason })),
        tokens: Number(tokens),
      };
    },
    async searchTools(query, { limit = 0, profile = '' } = {}) {
      const { tools } = await (await ready()).models.searchTools({ query, limit, profile });
      return tools.map(({ name, server, tool, description, score }) => ({ name, server, tool, description, score }));
    },
    async readResult(resultId, { offset = 0, limit = 0, original = false } = {}) {
      if (!Number.isSafeInteger(offset)) {
        throw new HubError(
          'invalid_argument',
          'INVALID_REQUEST',
          `offset is ${offset}: it is a whole number of bytes.`,
        );
      }
      const piece = await (await ready()).models.readResult({ resultId, offset: BigInt(offset), limit, original });
      return {
        text: piece.text,
        offset: Number(piece.offset),
        nextOffset: Number(piece.nextOffset),
        size: Number(piece.size),
      };
    },
  };
}
