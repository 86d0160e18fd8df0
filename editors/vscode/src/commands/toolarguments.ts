// Help for typing the arguments of a tool: an initial JSON object, and a check of the typed text. It has no side
// effects.
import * as vscode from 'vscode';

/** Returns a JSON object with the required members of a tool's input schema, to be filled in. */
export function skeleton(definitionJson: string): string {
  const schema = member(parsed(definitionJson), 'inputSchema');
  const properties = member(schema, 'properties');
  const required = member(schema, 'required');
  const names = Array.isArray(required) ? required.filter((n): n is string => typeof n === 'string') : [];
  const entries = names.map((name) => [name, placeholder(member(properties, name))]);
  return JSON.stringify(Object.fromEntries(entries));
}

/** Reports whether the tool has arguments to fill in. */
export function takesArguments(definitionJson: string): boolean {
  const schema = member(parsed(definitionJson), 'inputSchema');
  const properties = member(schema, 'properties');
  if (typeof properties === 'object' && properties !== null && Object.keys(properties).length > 0) {
    return true;
  }
  return member(schema, 'additionalProperties') !== undefined && member(schema, 'additionalProperties') !== false;
}

/**
 * Returns what is wrong with the text, or undefined. The text is sent as it was typed, so numbers keep their spelling.
 */
export function argumentsProblem(text: string): string | undefined {
  if (text.trim() === '') {
    return undefined;
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return vscode.l10n.t('Not valid JSON: {0}', error instanceof Error ? error.message : String(error));
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? undefined
    : vscode.l10n.t('Enter a JSON object: {0}', '{"name": value}');
}

function placeholder(schema: unknown): unknown {
  const given = member(schema, 'default');
  if (given !== undefined) {
    return given;
  }
  const choices = member(schema, 'enum');
  if (Array.isArray(choices) && choices.length > 0) {
    return choices[0];
  }
  switch (member(schema, 'type')) {
    case 'number':
    case 'integer':
      return 0;
    case 'boolean':
      return false;
    case 'array':
      return [];
    case 'object':
      return {};
    case 'null':
      return null;
    default:
      return '';
  }
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}
