// The address of a server's resource as a document of the editor. It holds everything that is needed to read the
// resource again after a reload. The resource's own address has a meaning only for its server, and may have any scheme.
import * as vscode from 'vscode';

export const resourceScheme = 'mcphub-resource';

export interface ResourceName {
  readonly server: string;
  readonly uri: string;
}

/** The file extensions by which an editor recognizes the type if the resource's name has none. */
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

/** Returns a name for a tab or a file, with safe characters only. */
export function fileNameOf(uri: string, mimeType = ''): string {
  const path = uri.slice(0, 4096).replace(/[?#].*$/su, '');
  const last = path.split('/').filter(Boolean).at(-1) ?? '';
  let decoded = last;
  try {
    decoded = decodeURIComponent(last);
  } catch {
    // The name is used undecoded.
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

/** Returns the resource that a document's address names. The address may come from anywhere. */
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
    // Not an address of this extension.
  }
  throw vscode.FileSystemError.FileNotFound(document);
}
