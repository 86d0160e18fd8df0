// Converts the params of sampling/createMessage to a chat with the editor's model, and the model's text to the result.
// It has no side effects.
import * as vscode from 'vscode';

export interface ChatTurn {
  readonly role: 'user' | 'assistant';
  readonly text: string;
}

export interface ModelRequest {
  readonly turns: readonly ChatTurn[];
  readonly hints: readonly string[]; // names of models, best first: the user's choice, then the server's preferences
  readonly maxTokens: number | undefined;
}

/**
 * Parses the request. For a request that a model of the editor cannot handle, it throws an error that says what to do.
 */
export function modelRequest(requestJson: string): ModelRequest {
  const params = object(JSON.parse(requestJson), 'the request');
  if (Array.isArray(params['tools']) && params['tools'].length > 0) {
    throw new Error(vscode.l10n.t('The editor’s model cannot use the tools of this request. Answer by hand, or deny.'));
  }
  const messages = params['messages'];
  if (!Array.isArray(messages) || messages.length === 0) {
    throw new Error(vscode.l10n.t('The request has no messages. Answer by hand, or deny.'));
  }
  const turns: ChatTurn[] = [];
  if (typeof params['systemPrompt'] === 'string' && params['systemPrompt'] !== '') {
    turns.push({ role: 'user', text: params['systemPrompt'] }); // the editor's models have no system role
  }
  for (const message of messages as unknown[]) {
    const { role, content } = object(message, 'a message');
    const blocks: unknown[] = Array.isArray(content) ? content : [content];
    const text = blocks.map((block) => textOf(object(block, 'a content block'))).join('\n');
    turns.push({ role: role === 'assistant' ? 'assistant' : 'user', text });
  }
  const most = params['maxTokens'];
  const maxTokens = typeof most === 'number' && most >= 1 ? Math.floor(most) : undefined;
  return { turns, hints: hintsOf(params['modelPreferences']), maxTokens };
}

/** Returns the JSON text of the result of sampling/createMessage. */
export function modelResult(model: string, text: string, stopReason: 'endTurn' | 'maxTokens'): string {
  return JSON.stringify({ role: 'assistant', content: { type: 'text', text }, model, stopReason });
}

/**
 * Returns a model's text up to a number of tokens. The editor's API has no limit that all models respect. The rest is
 * not waited for.
 */
export async function withinTokens(
  parts: AsyncIterable<string>,
  most: number | undefined,
  count: (text: string) => PromiseLike<number>,
): Promise<{ readonly text: string; readonly cut: boolean }> {
  let text = '';
  let counted = 0; // length of the text in UTF-16 code units when its tokens were counted last
  for await (const part of parts) {
    text += part;
    // Counting is expensive: count again only after as many characters as the limit has, at four characters for a
    // token.
    if (most !== undefined && text.length - counted > Math.max(most, 64) * 4) {
      counted = text.length;
      if ((await count(text)) > most) {
        break;
      }
    }
  }
  if (most === undefined || (await count(text)) <= most) {
    return { text, cut: false };
  }
  const points = Array.from(text);
  let [fits, beyond] = [0, points.length];
  while (beyond - fits > 1) {
    const middle = Math.floor((fits + beyond) / 2);
    if ((await count(points.slice(0, middle).join(''))) <= most) {
      fits = middle;
    } else {
      beyond = middle;
    }
  }
  return { text: points.slice(0, fits).join(''), cut: true };
}

function textOf(block: Record<string, unknown>): string {
  if (block['type'] === 'text' && typeof block['text'] === 'string') {
    return block['text'];
  }
  throw new Error(
    vscode.l10n.t(
      'The editor’s model cannot read content of type {0}. Answer by hand, or deny.',
      String(block['type']),
    ),
  );
}

function hintsOf(preferences: unknown): string[] {
  if (
    typeof preferences !== 'object'
    || preferences === null
    || !('hints' in preferences)
    || !Array.isArray(preferences.hints)
  ) {
    return [];
  }
  return (preferences.hints as unknown[]).flatMap((hint) =>
    typeof hint === 'object' && hint !== null && 'name' in hint && typeof hint.name === 'string' && hint.name !== ''
      ? [hint.name]
      : [],
  );
}

function object(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error(vscode.l10n.t('The request is not valid ({0}). Answer by hand, or deny.', what));
  }
  return value as Record<string, unknown>;
}
