// What certainly fits into a dialog with its buttons. A dialog that the system draws (window.dialogStyle) cannot
// scroll, and the smallest screen has about 30 lines. What a dialog cannot show whole cannot be agreed to in it.
import * as vscode from 'vscode';
import { brief } from '../plaintext.js';

const mostCharacters = 1_200;
const mostLines = 16;
const lineLength = 80;

export function fitsDialog(text: string): boolean {
  return text.length <= mostCharacters && rows(text) <= mostLines;
}

/** Returns the text, or its beginning after a line that says so. */
export function cutForDialog(text: string): string {
  if (fitsDialog(text)) {
    return text;
  }
  const lines = text
    .slice(0, 50 * mostCharacters) // before its characters are processed, since it may be long
    .split('\n')
    .slice(0, mostLines);
  return [vscode.l10n.t('This is only the beginning. McpHub shows all of it.'), ...lines.map(shortLine)].join('\n');
}

const shortLine = (line: string): string => brief(line, 2 * lineLength);

/** Returns the number of rows that the text takes in the narrowest dialog. */
function rows(text: string): number {
  return text.split('\n').reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / lineLength)), 0);
}
