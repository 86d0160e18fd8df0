// The contents of results of resources/read and prompts/get, as bytes and as text. All of them come from a server:
// untrusted.
import { isUtf8 } from 'node:buffer';
import * as vscode from 'vscode';

/**
 * The maximum number of characters of a result that is converted to a document, which takes one turn of the extension
 * host.
 */
export const longestResult = 8 << 20;

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);

function parsed(resultJson: string): Json {
  if (resultJson.length > longestResult) {
    throw new Error(vscode.l10n.t('It is too large for an editor. Open or save its result in McpHub.'));
  }
  const value = JSON.parse(resultJson) as unknown;
  return isObject(value) ? value : {};
}

/** Returns the bytes of one content: those of its text, or the decoded blob. */
function bytesOf(content: Json): Uint8Array | undefined {
  if (typeof content['text'] === 'string') {
    return Buffer.from(content['text']);
  }
  return typeof content['blob'] === 'string' ? Buffer.from(content['blob'], 'base64') : undefined;
}

/** Returns a resource as one document: its content, or all contents as JSON if it has several, such as a folder. */
export function documentOf(resultJson: string): Uint8Array {
  const result = parsed(resultJson);
  const contents = listOf(result['contents']).filter(isObject);
  const [only, ...others] = contents;
  const bytes = only !== undefined && others.length === 0 ? bytesOf(only) : undefined;
  return bytes ?? Buffer.from(`${JSON.stringify(result, undefined, 2)}\n`);
}

/** Returns the same as text. Throws if it is not text. */
export function documentText(resultJson: string): string {
  const bytes = documentOf(resultJson);
  if (!isUtf8(bytes) || bytes.includes(0)) {
    throw new Error(vscode.l10n.t('This resource is not text. Use Open Resource.'));
  }
  return Buffer.from(bytes).toString();
}

/** Returns the texts of a filled prompt template. If there are several, each has its role as a heading. */
export function promptText(resultJson: string): string {
  const messages = listOf(parsed(resultJson)['messages']).filter(isObject);
  const parts = messages.map((message) => {
    const content = Array.isArray(message['content']) ? (message['content'] as unknown[]) : [message['content']];
    const text = content.filter(isObject).map(blockText).join('\n\n');
    return { role: typeof message['role'] === 'string' ? message['role'] : '', text };
  });
  const [only, ...others] = parts;
  if (only !== undefined && others.length === 0) {
    return only.text;
  }
  return parts.map(({ role, text }) => `${role.slice(0, 40)}:\n\n${text}`).join('\n\n');
}

function blockText(block: Json): string {
  if (typeof block['text'] === 'string') {
    return block['text'];
  }
  const resource = block['resource'];
  if (isObject(resource) && typeof resource['text'] === 'string') {
    return resource['text'];
  }
  const of = isObject(resource) ? resource : block;
  const what = [block['type'], of['mimeType'], of['uri']].filter((one) => typeof one === 'string');
  return `[${what.join(' ').slice(0, 300)}]`;
}

/** Returns the values of a completion. Values that an editor cannot show on one line, or not at all, are left out. */
export function completionValues(resultJson: string): string[] {
  if (resultJson.length > 1 << 20) {
    return [];
  }
  const completion = parsed(resultJson)['completion'];
  return (isObject(completion) ? listOf(completion['values']) : [])
    .filter((value): value is string => typeof value === 'string' && value !== '' && value.length <= 1000)
    .filter((value) => !/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u.test(value))
    .slice(0, 100);
}
