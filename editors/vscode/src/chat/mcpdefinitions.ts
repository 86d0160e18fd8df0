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

/** Undefined: this editor takes no servers from extensions. */
export function registerDefinitions(id: string, provider: DefinitionProvider): vscode.Disposable | undefined {
  return (vscode as unknown as Since1101).lm.registerMcpServerDefinitionProvider?.(id, provider);
}

export function httpDefinition(label: string, uri: string, version: string): HttpDefinition | undefined {
  const { McpHttpServerDefinition } = vscode as unknown as Since1101;
  return McpHttpServerDefinition && new McpHttpServerDefinition(label, vscode.Uri.parse(uri), {}, version);
}
