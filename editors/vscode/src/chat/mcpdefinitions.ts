// What VS Code has since 1.101 for extensions that bring MCP servers: the types of the oldest version lack it, and so
// may the editor.
import * as vscode from 'vscode';

/** A vscode.McpHttpServerDefinition. */
export interface HttpDefinition {
  readonly label: string;
  uri: vscode.Uri;
  headers: Record<string, string>;
  version?: string;
}

/** A vscode.McpServerDefinitionProvider. */
export interface DefinitionProvider {
  readonly onDidChangeMcpServerDefinitions: vscode.Event<void>;
  /** Asks nobody, and starts nothing. */
  provideMcpServerDefinitions(): HttpDefinition[];
  /** Called at each start of the server. */
  resolveMcpServerDefinition(definition: HttpDefinition): Promise<HttpDefinition>;
}

interface Since1101 {
  readonly lm: {
    registerMcpServerDefinitionProvider?(id: string, provider: DefinitionProvider): vscode.Disposable;
  };
  readonly McpHttpServerDefinition?: new (
    label: string,
    uri: vscode.Uri,
    headers?: Record<string, string>,
    version?: string,
  ) => HttpDefinition;
}

/**
 * Undefined: this editor takes no servers from extensions. VS Code 1.100 has the function, and throws: there it was a
 * proposal with another place in the manifest.
 */
export function registerDefinitions(id: string, provider: DefinitionProvider): vscode.Disposable | undefined {
  const { lm, McpHttpServerDefinition } = vscode as unknown as Since1101;
  if (McpHttpServerDefinition === undefined) {
    return undefined;
  }
  try {
    return lm.registerMcpServerDefinitionProvider?.(id, provider);
  } catch {
    return undefined; // the offer alone is lost by it, and who turns it on is told
  }
}

export function httpDefinition(label: string, uri: string, version: string): HttpDefinition | undefined {
  const { McpHttpServerDefinition } = vscode as unknown as Since1101;
  return McpHttpServerDefinition && new McpHttpServerDefinition(label, vscode.Uri.parse(uri), {}, version);
}
