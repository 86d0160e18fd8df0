// The language of the words that the extension shares with the page (#language in their imports). The extension runs in
// the language of the editor, and is one file: the texts are in it.
import * as vscode from 'vscode';
import german from '../../../page/src/l10n/de.js';
import type { Texts } from '../../../page/src/texts.js';

export const locale = vscode.env.language;

export const language = locale.toLowerCase().startsWith('de') ? 'de' : 'en';

export const texts: Texts = language === 'de' ? german : {};
