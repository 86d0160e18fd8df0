import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  awaited,
  configSources,
  editorFileNames,
  editorPolicy,
  parsePlaces,
  unusable,
  type Known,
  type Place,
} from '../src/config/configsources.js';

const place = (file: string, scope: string, dialect: string, folder?: string, exists = true): Place => ({
  file,
  scope,
  dialect,
  exists,
  ...(folder === undefined ? {} : { folder }),
});

const world: Known = {
  places: [
    place('/repos/me/.cursor/mcp.json', 'user', 'cursor'),
    place('/repos/me/.claude.json', 'user', 'portable', '/repos/a'),
    place('/repos/me/.config/Code/User/mcp.json', 'user', 'vscode'),
    place('/repos/a/.cursor/mcp.json', 'workspace', 'cursor', '/repos/a', false),
    place('/repos/a/.mcp.json', 'workspace', 'portable', '/repos/a'),
    place('/repos/a/.vscode/mcp.json', 'workspace', 'vscode', '/repos/a'),
    place('/repos/me/.cursor/mcp.json', 'user', 'cursor'),
    place('/repos/me/.claude.json', 'user', 'portable', '/repos/b'),
    place('/repos/b/.vscode/mcp.json', 'workspace', 'vscode', '/repos/b'),
  ],
  folders: ['/repos/a', '/repos/b'],
  trusted: true,
  discover: 'all',
  editorFiles: [{ file: '/data/User/mcp.json', exists: true }],
  extra: [],
  home: '/repos/me',
};

const inFolder = (file: string): boolean => world.folders.some((folder) => file.startsWith(`${folder}/`));
const paths = (known: Known): string[] => configSources(known).map((s) => `${s.scope} ${s.path} ${s.folder}`);

test('all: the user first, then each folder; what is not there is left out', () => {
  assert.deepEqual(paths(world), [
    'user /repos/me/.cursor/mcp.json /repos/a',
    'user /repos/me/.claude.json /repos/a',
    'user /repos/me/.claude.json /repos/b',
    'user /repos/me/.config/Code/User/mcp.json /repos/a',
    'user /data/User/mcp.json /repos/a',
    'workspace /repos/a/.mcp.json /repos/a',
    'workspace /repos/a/.vscode/mcp.json /repos/a',
    'workspace /repos/b/.vscode/mcp.json /repos/b',
  ]);
  const at = (start: string): number => paths(world).findIndex((p) => p.startsWith(start));
  assert.ok(at('user /data') < at('workspace /repos/a/.mcp.json'), 'a workspace wins over the user');
  assert.ok(at('user /repos/me/.cursor') < at('user /data'), "the editor's own file wins over another application's");
  assert.ok(at('workspace /repos/a/.mcp.json') < at('workspace /repos/a/.vscode'), "the hub's order is kept");
});

test("the editor's own files are told of before they are there: servers can be added to them", () => {
  const missing = configSources({
    ...world,
    places: world.places.map((p) => ({ ...p, exists: false })),
    editorFiles: [
      { file: '/data/Machine/mcp.json', exists: false },
      { file: '/data/User/mcp.json', exists: false },
    ],
  });
  assert.deepEqual(
    missing.map((s) => `${s.scope} ${s.path} ${s.mayBeMissing === true}`),
    [
      'user /data/User/mcp.json true',
      'workspace /repos/a/.vscode/mcp.json true',
      'workspace /repos/b/.vscode/mcp.json true',
    ],
  );
  assert.ok(configSources(world).every((s) => s.mayBeMissing === undefined));
});

test('a workspace that is not trusted brings nothing', () => {
  const sources = configSources({ ...world, trusted: false });
  assert.ok(sources.length > 0);
  assert.ok(
    sources.every((s) => s.scope === 'user' && !inFolder(s.path)),
    JSON.stringify(sources),
  );
});

test('no entry of the user hears of a folder that is not trusted, so that none can run there', () => {
  const extra = ['/etc/mcp.json'];
  assert.deepEqual(paths({ ...world, trusted: false, extra }), [
    'user /repos/me/.cursor/mcp.json ',
    'user /repos/me/.claude.json ',
    'user /repos/me/.config/Code/User/mcp.json ',
    'user /data/User/mcp.json ',
    'user /etc/mcp.json ',
  ]);
});

test('trust in a workspace does not answer for its servers', () => {
  assert.deepEqual(new Set(configSources(world).map((s) => s.trusted)), new Set([false]));
  assert.ok(
    configSources(world)
      .filter((s) => inFolder(s.path))
      .every((s) => s.scope === 'workspace'),
  );
});

test("editor: this editor's own files and no others", () => {
  assert.deepEqual(paths({ ...world, discover: 'editor' }), [
    'user /data/User/mcp.json /repos/a',
    'workspace /repos/a/.vscode/mcp.json /repos/a',
    'workspace /repos/b/.vscode/mcp.json /repos/b',
  ]);
});

test('none: what the setting names, absolute, and it wins', () => {
  const extra = ['~/mine.json', '/etc/mcp.json', 'relative.json'];
  assert.deepEqual(paths({ ...world, discover: 'none', extra }), [
    'user /repos/me/mine.json /repos/a',
    'user /etc/mcp.json /repos/a',
  ]);
  assert.deepEqual(unusable(extra, '/repos/me'), ['relative.json']);
  assert.equal(configSources({ ...world, extra }).at(-1)?.path, '/etc/mcp.json');
});

test('without a folder the current one of the program is not taken for a workspace', () => {
  assert.ok(configSources({ ...world, folders: [] }).every((s) => s.scope === 'user' && s.folder === ''));
});

test("what the program prints is read, and an older program's words are an error", () => {
  const text = JSON.stringify({
    places: [{ file: '/a', scope: 'user', dialect: 'vscode', exists: true }, { file: 3 }, null],
  });
  assert.deepEqual(parsePlaces(text), [{ file: '/a', scope: 'user', dialect: 'vscode', exists: true }]);
  assert.throws(() => parsePlaces('{}'), /binaryPath/u);
});

test('the files of a folder that may come into being are waited for', () => {
  assert.deepEqual(awaited(world.places, '/repos/a'), ['.cursor/mcp.json', '.mcp.json', '.vscode/mcp.json']);
});

test("the editor's own file lies beside its folder for extensions, also on a remote machine", () => {
  assert.deepEqual(editorFileNames('/data/User/globalStorage/mcphub.mcphub'), [
    '/data/Machine/mcp.json',
    '/data/User/mcp.json',
  ]);
});

test("the editor's managed setting is handed on, also that there is none any more", () => {
  const name = 'VSCodium (chat.mcp.access)';
  assert.deepEqual(editorPolicy('none', 'VSCodium'), { json: '{"chat.mcp.access":"none"}', dialect: 'vscode', name });
  assert.deepEqual(editorPolicy(undefined, 'VSCodium'), { json: '', dialect: 'vscode', name });
});
