// The params of sampling/createMessage as a chat with the editor's model, and the model's text as the result of it.
// Pure.

export interface ChatTurn {
  readonly role: 'user' | 'assistant';
  readonly text: string;
}

export interface ModelRequest {
  readonly turns: readonly ChatTurn[];
  readonly hints: readonly string[]; // names of models that the server would like, best first
}

export interface ModelName {
  readonly id: string;
  readonly name: string;
  readonly family: string;
}

/** Throws, with what to do, for a request that a model of the editor cannot be given. */
export function modelRequest(requestJson: string): ModelRequest {
  const params = object(JSON.parse(requestJson), 'the request');
  if (Array.isArray(params['tools']) && params['tools'].length > 0) {
    throw new Error('The request brings tools, which the model of the editor is not given. Answer by hand, or deny.');
  }
  const messages = params['messages'];
  if (!Array.isArray(messages) || messages.length === 0) {
    throw new Error('The request has no messages. Answer by hand, or deny.');
  }
  const turns: ChatTurn[] = [];
  if (typeof params['systemPrompt'] === 'string' && params['systemPrompt'] !== '') {
    turns.push({ role: 'user', text: params['systemPrompt'] }); // the editor's models know no other role for it
  }
  for (const message of messages as unknown[]) {
    const { role, content } = object(message, 'a message');
    const blocks: unknown[] = Array.isArray(content) ? content : [content];
    const text = blocks.map((block) => textOf(object(block, 'a content block'))).join('\n');
    turns.push({ role: role === 'assistant' ? 'assistant' : 'user', text });
  }
  return { turns, hints: hintsOf(params['modelPreferences']) };
}

/** The first model that a hint names, else the first there is. */
export function chooseModel<M extends ModelName>(models: readonly M[], hints: readonly string[]): M | undefined {
  for (const hint of hints) {
    const wanted = hint.toLowerCase();
    const found = models.find((m) => [m.id, m.family, m.name].some((n) => n.toLowerCase().includes(wanted)));
    if (found !== undefined) {
      return found;
    }
  }
  return models[0];
}

/** JSON text of the result of sampling/createMessage. */
export function modelResult(model: string, text: string): string {
  return JSON.stringify({ role: 'assistant', content: { type: 'text', text }, model, stopReason: 'endTurn' });
}

function textOf(block: Record<string, unknown>): string {
  if (block['type'] === 'text' && typeof block['text'] === 'string') {
    return block['text'];
  }
  throw new Error(
    `The request brings content of type ${String(block['type'])}, which the model of the editor is not given. Answer by hand, or deny.`,
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
    throw new Error(`In the request, ${what} is no object. Answer by hand, or deny.`);
  }
  return value as Record<string, unknown>;
}
