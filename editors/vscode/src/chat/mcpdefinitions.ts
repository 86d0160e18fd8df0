// The API for extensions that offer MCP servers, which VS Code has since 1.101. The types of the oldest supported
// version do not have it, and the running editor may not have it either.
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
  /** Must neither ask the user nor start anything. */
  provideMcpServerDefinitions(): HttpDefinition[];
  /** Is called at each start of the server. */
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
 * Registers a provider. Returns undefined if this editor takes no servers from extensions. VS Code 1.100 has the
 * function, but it throws: there it was a proposed API with another place in the manifest.
 */
export function registerDefinitions(id: string, provider: DefinitionProvider): vscode.Disposable | undefined {
  const { lm, McpHttpServerDefinition } = vscode as unknown as Since1101;
  if (McpHttpServerDefinition === undefined) {
    return undefined;
  }
  try {
    return lm.registerMcpServerDefinitionProvider?.(id, provider);
  } catch {
    return undefined; // only the offer is lost, and a user who turns it on is told
  }
}

export function httpDefinition(label: string, uri: string, version: string): HttpDefinition | undefined {
  const { McpHttpServerDefinition } = vscode as unknown as Since1101;
  return McpHttpServerDefinition && new McpHttpServerDefinition(label, vscode.Uri.parse(uri), {}, version);
}
