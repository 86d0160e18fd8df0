// What the build produces, and what the manifest contains.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { inflateSync } from 'node:zlib';

interface Manifest {
  engines: { vscode: string };
  activationEvents: string[];
  contributes: {
    commands: { command: string; title: string; category: string }[];
    menus: Record<string, { command: string; when: string }[]>;
    keybindings: { command: string; key: string; mac: string; when: string }[];
    configuration: { properties: Record<string, { scope: string; markdownDescription: string }> };
  };
}

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest;
const texts = JSON.parse(readFileSync('package.nls.json', 'utf8')) as Record<string, string>;
const bundle = readFileSync('dist/extension.js', 'utf8');

test('the bundle is at most 840 KB', () => {
  assert.ok(statSync('dist/extension.js').size <= 840_000, `${statSync('dist/extension.js').size} bytes`);
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

/** The context keys in a condition, without the values that they are compared with. */
function keysOf(when: string): string[] {
  const compared = when.replaceAll(/(?:=~\s*\/[^/]*\/|(?:[=!]=|[<>]=?)\s*(?:'[^']*'|[\w.]+))/gu, '');
  return (compared.match(/[A-Za-z][\w.]*/gu) ?? []).filter((word) => word !== 'true' && word !== 'false');
}

test('keys lead to commands that there are, and they and menus depend on what somebody sets', () => {
  const known = new Set(manifest.contributes.commands.map((c) => c.command));
  const ours = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => [...readFileSync(join('src', name), 'utf8').matchAll(/'setContext',\s*'([\w.]+)'/gu)])
    .map(([, key = '']) => key);
  const set = new Set([...ours, 'view', 'viewItem']); // and of the editor
  const { keybindings, menus } = manifest.contributes;
  assert.ok(keybindings.length > 0);
  for (const { command, key, mac } of keybindings) {
    assert.ok(known.has(command), command);
    assert.equal(mac, key.replace('ctrl', 'cmd'), command);
  }
  for (const { command, when } of [...keybindings, ...Object.values(menus).flat()]) {
    const keys = keysOf(when);
    assert.ok(keys.length > 0 || when === 'false', `${command}: ${when}`);
    for (const key of keys) {
      assert.ok(set.has(key), `${command} depends on ${key}, which nobody sets`);
    }
  }
});

test('no setting can be made by a workspace', () => {
  for (const [name, { scope, markdownDescription }] of Object.entries(manifest.contributes.configuration.properties)) {
    assert.equal(scope, 'machine', name);
    assert.ok((texts[markdownDescription.slice(1, -1)] ?? '').length > 20, name);
  }
});

test('nothing activates it at the start of every window', () => {
  assert.deepEqual(
    manifest.activationEvents.filter((event) => /^(?:\*|onStartupFinished)$/u.test(event)),
    [],
  );
  assert.ok(manifest.activationEvents.includes('workspaceContains:.vscode/mcp.json'));
});

// The editor activates the extension for restored pages by other parts of the manifest. Only for a panel this event is
// needed.
test('a panel that was open when the window was reloaded activates it', () => {
  const [, viewType] = /registerWebviewPanelSerializer\((\w+),/u.exec(readFileSync('src/page/panel.ts', 'utf8')) ?? [];
  assert.equal(viewType, 'viewType');
  assert.ok(manifest.activationEvents.includes('onWebviewPanel:mcphub.panel'), manifest.activationEvents.join());
  assert.match(readFileSync('src/page/panel.ts', 'utf8'), /const viewType = 'mcphub\.panel';/u);
});

/** The chunks of a PNG: their types and their data (PNG, third edition, section 5.3). */
function chunks(file: string): { type: string; data: Buffer }[] {
  const bytes = readFileSync(file);
  const found: { type: string; data: Buffer }[] = [];
  for (let at = 8; at < bytes.length;) {
    const length = bytes.readUInt32BE(at);
    found.push({ type: bytes.toString('latin1', at + 4, at + 8), data: bytes.subarray(at + 8, at + 8 + length) });
    at += 12 + length;
  }
  return found;
}

/** The alpha of each pixel of a PNG with 8-bit RGBA pixels, as a browser writes it (PNG, third edition, section 9). */
function alphas(file: string): number[][] {
  const bytes = readFileSync(file);
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  assert.deepEqual([bytes[24], bytes[25]], [8, 6], 'RGBA');
  const parts = chunks(file).filter(({ type }) => type === 'IDAT');
  const lines = inflateSync(Buffer.concat(parts.map(({ data }) => data)));
  const row = 4 * width;
  let above = new Uint8Array(row);
  return Array.from({ length: height }, (_, y) => {
    const filter = lines[y * (row + 1)];
    const now = Uint8Array.from(lines.subarray(y * (row + 1) + 1, (y + 1) * (row + 1)));
    for (let x = 0; x < row; x++) {
      const [left, up, corner] = [now[x - 4] ?? 0, above[x] ?? 0, above[x - 4] ?? 0];
      const [a, b, c] = [up - corner, left - corner, left + up - 2 * corner].map(Math.abs) as [number, number, number];
      const paeth = a <= b && a <= c ? left : b <= c ? up : corner;
      now[x] = (now[x] ?? 0) + ([0, left, up, (left + up) >> 1, paeth][filter ?? 0] ?? 0);
    }
    above = now;
    return Array.from({ length: width }, (_unused, x) => now[4 * x + 3] ?? 0);
  });
}

test('the icon fills its square', () => {
  const icon = alphas('media/icon.png');
  assert.ok(icon.length >= 128 && icon[0]?.length === icon.length, `${icon.length} dots high`);
  const middle = icon.length / 2;
  for (const [x, y] of [
    [middle, 2],
    [middle, icon.length - 3],
    [2, middle],
    [icon.length - 3, middle],
  ] as const) {
    assert.equal(icon[y]?.[x], 255, `at ${x}, ${y}`);
  }
});

test('the manifest says where to look, and the pictures of the README are files of the repository', () => {
  const whole = JSON.parse(readFileSync('package.json', 'utf8')) as Record<string, unknown>;
  for (const field of ['repository', 'bugs', 'homepage', 'license', 'icon', 'l10n', 'keywords', 'categories']) {
    assert.ok(field in whole, field);
  }
  const pictures = [...readFileSync('README.md', 'utf8').matchAll(/!\[[^\]]+\]\(([^)]+)\)/gu)];
  assert.ok(pictures.length > 0);
  for (const [, path = ''] of pictures) {
    assert.ok(statSync(path).size > 1000, path);
    assert.doesNotMatch(path, /\.svg$/u, 'the Marketplace takes none');
  }
});

test('the first picture of the README moves', () => {
  const [, file = ''] = /!\[[^\]]+\]\(([^)]+)\)/u.exec(readFileSync('README.md', 'utf8')) ?? [];
  assert.match(file, /docs\/images\/loop\.png$/u);
  const types = chunks(file).map(({ type }) => type);
  const control = chunks(file).find(({ type }) => type === 'acTL')?.data; // PNG 3, section 11.3.6.1
  assert.ok(control !== undefined && types.indexOf('acTL') < types.indexOf('IDAT'), types.slice(0, 5).join());
  const frames = types.filter((type) => type === 'fcTL').length;
  assert.ok(frames > 1, `${frames} frames`);
  assert.equal(control.readUInt32BE(0), frames);
});

test('the README says what leaves the machine, and the changelog what is in this version', () => {
  const [, privacy = ''] = /^## Privacy\n([^]*?)^## /mu.exec(readFileSync('README.md', 'utf8')) ?? [];
  assert.match(privacy, /no telemetry/u);
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  const headings = [...readFileSync('../../CHANGELOG.md', 'utf8').matchAll(/^## (.*)$/gmu)].map(
    ([, text = '']) => text,
  );
  const named = headings.some((text) => text === 'Unreleased' || text.split(/[ ,]/u)[0] === version);
  assert.ok(named, `neither Unreleased nor ${version}: ${headings.slice(0, 3).join()}`);
});
