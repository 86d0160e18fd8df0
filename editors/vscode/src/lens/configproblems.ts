// Shows problems of config files as the editor's diagnostics: as squiggles at their position, and in the list of
// problems.
import path from 'node:path';
import * as vscode from 'vscode';
import type { ConfigProblem, WatcherWindow } from '@mcphub/host/contract';
import { brief, visible } from '../plaintext.js';

/** Limits for one file and for all files, since files are untrusted. Further problems are not listed. */
const mostInFile = 100;
const mostTold = 2_000;

export class ConfigProblems implements vscode.Disposable {
  readonly #shown = vscode.languages.createDiagnosticCollection('mcphub');
  readonly #watcher: WatcherWindow;
  readonly #stop: () => void;
  #told = '[]';
  #ofFiles: readonly ConfigProblem[] = []; // problems that belong to no single server

  constructor(watcher: WatcherWindow) {
    this.#watcher = watcher;
    this.#stop = watcher.listen({
      changed: ({ servers }, { known }) => {
        if (servers === true) {
          this.#ofFiles = known ? this.#ofFiles : [];
          this.#show();
        }
      },
      event: ({ event }) => {
        if (event.case === 'snapshot' || event.case === 'configReloaded') {
          this.#ofFiles = event.value.problems;
          this.#show();
        }
      },
    });
  }

  dispose(): void {
    this.#stop();
    this.#shown.dispose();
  }

  #show(): void {
    const { servers } = this.#watcher.standing;
    const all = [...this.#ofFiles, ...[...servers.values()].flatMap((server) => server.problems)];
    const told = JSON.stringify(
      all.slice(0, mostTold).map((p) => ({ ...p, $typeName: undefined, $unknown: undefined })),
    );
    if (told === this.#told) {
      return; // servers change often, but their files rarely
    }
    this.#told = told;
    this.#shown.clear();
    for (const [file, diagnostics] of diagnosticsByFile(all.slice(0, mostTold))) {
      this.#shown.set(vscode.Uri.file(file), diagnostics);
    }
  }
}

export function diagnosticsByFile(problems: Iterable<ConfigProblem>): Map<string, vscode.Diagnostic[]> {
  const byFile = new Map<string, vscode.Diagnostic[]>();
  for (const problem of problems) {
    const here = byFile.get(problem.file) ?? [];
    if (path.isAbsolute(problem.file) && here.length < mostInFile) {
      byFile.set(problem.file, [...here, diagnostic(problem)]);
    }
  }
  return byFile;
}

function diagnostic({ line, column, server, key, message, fatal }: ConfigProblem): vscode.Diagnostic {
  const at = new vscode.Position(Math.max(0, line - 1), Math.max(0, column - 1));
  // The editor draws an empty range under the word that begins there.
  const shown = new vscode.Diagnostic(
    new vscode.Range(at, at),
    brief(visible([server, key, message].filter(Boolean).join(': ')), 1_000),
    fatal ? vscode.DiagnosticSeverity.Error : vscode.DiagnosticSeverity.Warning,
  );
  shown.source = 'McpHub';
  return shown;
}
