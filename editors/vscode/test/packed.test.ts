// What the build makes and the manifest says.
import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { test } from 'node:test';

interface Manifest {
  engines: { vscode: string };
  activationEvents: string[];
  contributes: {
    commands: { command: string; title: string; category: string }[];
    menus: Record<string, { command: string; when: string }[]>;
    configuration: { properties: Record<string, { scope: string; markdownDescription: string }> };
  };
}

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest;
const bundle = readFileSync('dist/extension.js', 'utf8');

test('the bundle is at most 700 KB', () => {
  assert.ok(statSync('dist/extension.js').size <= 700_000, `${statSync('dist/extension.js').size} bytes`);
});

test('no source map and no path of the machine is in the bundle', () => {
  assert.doesNotMatch(bundle, /sourceMappingURL/u);
  assert.ok(!bundle.includes(process.cwd()), process.cwd());
});

test('every command of the manifest is registered', () => {
  for (const { command, category } of manifest.contributes.commands) {
    assert.ok(bundle.includes(command), command);
    assert.equal(category, 'McpHub');
  }
});

test('menus name commands that there are', () => {
  const known = new Set(manifest.contributes.commands.map((c) => c.command));
  for (const { command } of Object.values(manifest.contributes.menus).flat()) {
    assert.ok(known.has(command), command);
  }
});

test('no setting can be made by a workspace', () => {
  for (const [name, { scope, markdownDescription }] of Object.entries(manifest.contributes.configuration.properties)) {
    assert.equal(scope, 'machine', name);
    assert.ok(markdownDescription.length > 20, name);
  }
});

test('nothing activates it at the start of every window', () => {
  assert.deepEqual(
    manifest.activationEvents.filter((event) => /^(?:\*|onStartupFinished)$/u.test(event)),
    [],
  );
  assert.ok(manifest.activationEvents.includes('workspaceContains:.vscode/mcp.json'));
});

// Of all that brings pages back after a reload only this is not known to the editor from the manifest's other parts.
test('a panel that was open when the window was reloaded activates it', () => {
  const [, viewType] = /registerWebviewPanelSerializer\((\w+),/u.exec(readFileSync('src/page/panel.ts', 'utf8')) ?? [];
  assert.equal(viewType, 'viewType');
  assert.ok(manifest.activationEvents.includes('onWebviewPanel:mcphub.panel'), manifest.activationEvents.join());
  assert.match(readFileSync('src/page/panel.ts', 'utf8'), /const viewType = 'mcphub\.panel';/u);
});
