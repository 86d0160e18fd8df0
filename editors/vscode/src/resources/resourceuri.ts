// The address of a resource of a server as a document of the editor. It holds all that is needed to read it again after
// a reload: the resource's own address means something to its server alone, and may begin with any scheme.
import * as vscode from 'vscode';

export const resourceScheme = 'mcphub-resource';

export interface ResourceName {
  readonly server: string;
  readonly uri: string;
}

/** What an editor goes by when the name of a resource says nothing of its kind. */
const endings: Readonly<Record<string, string>> = {
  'application/json': '.json',
  'application/pdf': '.pdf',
  'application/xml': '.xml',
  'audio/mpeg': '.mp3',
  'audio/wav': '.wav',
  'image/gif': '.gif',
  'image/jpeg': '.jpg',
  'image/png': '.png',
  'image/webp': '.webp',
  'text/css': '.css',
  'text/csv': '.csv',
  'text/html': '.html',
  'text/markdown': '.md',
  'text/plain': '.txt',
};

/** A name for a tab or a file, of harmless characters. */
export function fileNameOf(uri: string, mimeType = ''): string {
  const path = uri.slice(0, 4096).replace(/[?#].*$/su, '');
  const last = path.split('/').filter(Boolean).at(-1) ?? '';
  let decoded = last;
  try {
    decoded = decodeURIComponent(last);
  } catch {
    // It stays as it is spelled.
  }
  const name =
    decoded
      .replace(/[^\p{L}\p{N}._ -]+/gu, '_')
      .replace(/^\.+/u, '')
      .slice(-80) || 'resource';
  const ending = endings[mimeType.split(';')[0]?.trim().toLowerCase() ?? ''] ?? '';
  return /\.[\w-]{1,10}$/u.test(name) ? name : `${name}${ending}`;
}

export function documentUri({ server, uri }: ResourceName, mimeType?: string): vscode.Uri {
  return vscode.Uri.from({
    scheme: resourceScheme,
    path: `/${encodeURIComponent(server.slice(0, 80))}/${fileNameOf(uri, mimeType)}`,
    query: JSON.stringify({ server, uri }),
  });
}

/** What a document's address names; it may be from anywhere. */
export function resourceOf(document: vscode.Uri): ResourceName {
  try {
    const read = JSON.parse(document.query) as unknown;
    if (typeof read === 'object' && read !== null && 'server' in read && 'uri' in read) {
      const { server, uri } = read;
      if (typeof server === 'string' && typeof uri === 'string' && server !== '' && uri !== '') {
        return { server, uri };
      }
    }
  } catch {
    // It is no address of ours.
  }
  throw vscode.FileSystemError.FileNotFound(document);
}
