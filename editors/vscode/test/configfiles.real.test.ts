// Which config files the hub is told of, in whatever order folders, trust, the program's answers and the hub's state
// change.
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import type { ExtensionContext } from 'vscode';
import { ConfigFiles } from '../src/config/configfiles.js';
import type { HubProcess } from '../src/hub/hubprocess.js';
import type { Output } from '../src/log/output.js';
import { EventEmitter, newEditor, type Editor } from './fakevscode.js';

interface Scene {
  readonly editor: Editor;
  readonly files: ConfigFiles;
  readonly told: string[][]; // the paths of each reloadConfig
  readonly log: string[];
  folder(name: string, more?: { gated?: boolean }): string;
  open(folder: string): Promise<void>;
  ready(): void;
  hub: { reload: () => Promise<unknown> };
}

const user = 'user-mcp.json';

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function scene(t: TestContext): Scene {
  const root = mkdtempSync(join(tmpdir(), 'configfiles-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const editor = newEditor();
  writeFileSync(join(root, user), '{}');
  // A fake program. If a folder has a gate, it answers for that folder only when something has been written to the
  // gate.
  const binary = join(root, 'mcphub');
  writeFileSync(
    binary,
    `#!/bin/sh
folder="$5"
[ -p "$folder/gate" ] && echo $$ >"$folder/pid" && cat "$folder/gate" >/dev/null
place='{"file":"${join(root, user)}","scope":"user","dialect":"vscode","exists":true}'
[ -n "$folder" ] && place="$place,{\\"file\\":\\"$folder/.vscode/mcp.json\\",\\"scope\\":\\"workspace\\",\\"dialect\\":\\"vscode\\",\\"folder\\":\\"$folder\\",\\"exists\\":true}"
echo "{\\"places\\":[$place]}"
`,
    { mode: 0o755 },
  );
  const [told, log] = [[] as string[][], [] as string[]];
  const changed = new EventEmitter<{ state: string }>();
  const hub = { reload: (): Promise<unknown> => Promise.resolve() };
  const hubProcess = {
    binary,
    standing: { state: 'starting' },
    onDidChangeState: changed.event,
    hub: {
      servers: {
        reloadConfig: ({ sources }: { sources: { path: string; mayBeMissing?: boolean }[] }) => {
          told.push(sources.filter((s) => s.mayBeMissing !== true).map((s) => s.path.slice(root.length + 1)));
          return hub.reload();
        },
      },
    },
  };
  const output = {
    hub: {
      info: (text: string) => log.push(text),
      warn: (text: string) => log.push(text),
      error: (text: string) => log.push(text),
    },
  };
  const context = { globalStorageUri: { fsPath: join(root, 'data/User/globalStorage/mcphub.mcphub') } };
  const files = new ConfigFiles(
    context as ExtensionContext,
    hubProcess as unknown as HubProcess,
    output as unknown as Output,
  );
  t.after(() => files.dispose());
  return {
    editor,
    files,
    told,
    log,
    hub,
    folder(name, { gated = false } = {}) {
      const folder = join(root, name);
      mkdirSync(join(folder, '.vscode'), { recursive: true });
      writeFileSync(join(folder, '.vscode/mcp.json'), '{}');
      if (gated) {
        spawnSync('mkfifo', [join(folder, 'gate')]);
      }
      return folder;
    },
    async open(folder) {
      await writeFile(join(folder, 'gate'), 'go'); // the program has opened the other end by then
      const pid = Number(readFileSync(join(folder, 'pid'), 'utf8'));
      while (isThere(pid)) {
        // until this process has noticed that the program has exited
        await new Promise(setImmediate);
      }
      await promisify(execFile)(binary); // output of a later process comes after that of the first
    },
    ready() {
      hubProcess.standing.state = 'ready';
      changed.fire({ state: 'ready' });
    },
  };
}

const both = [user, 'a/.vscode/mcp.json', 'b/.vscode/mcp.json'];

test('folders that come before the hub is ready are read, whether or not an event tells of them', async (t) => {
  for (const event of [true, false]) {
    const s = scene(t);
    s.editor.folders = [s.folder('a'), s.folder('b')]; // filled after the program was asked about none
    if (event) {
      s.editor.foldersChanged.fire();
    }
    s.ready();
    await s.files.read;
    assert.deepEqual(s.told, [both], `event: ${event}: ${s.log.join('; ')}`);
  }
});

test('folders that come while the hub is told are read next', async (t) => {
  const s = scene(t);
  s.hub.reload = () => {
    s.hub.reload = () => Promise.resolve();
    s.editor.folders = [s.folder('a'), s.folder('b')];
    s.editor.foldersChanged.fire();
    return Promise.resolve();
  };
  s.ready();
  await s.files.read;
  await s.files.read;
  assert.deepEqual(s.told, [[user], both]);
});

test('an answer that comes late is not taken for the folders of now: neither their files nor their watchers', async (t) => {
  const s = scene(t);
  const slow = s.folder('a', { gated: true });
  s.editor.folders = [slow];
  s.editor.foldersChanged.fire();
  s.editor.folders = [s.folder('b')];
  s.editor.foldersChanged.fire();
  s.ready();
  await s.files.read;
  await s.open(slow);
  assert.deepEqual(s.told.at(-1), [user, 'b/.vscode/mcp.json']);
  const ofFolders = [...s.editor.watched].filter((what) => what.includes('.vscode'));
  assert.deepEqual(
    ofFolders.map((what) => what.slice(what.indexOf('configfiles-') + 'configfiles-xxxxxx/'.length)),
    ['b/{.vscode/mcp.json}'],
  );
});

test('after its end it watches nothing, also when the program answers then', async (t) => {
  const s = scene(t);
  const slow = s.folder('a', { gated: true });
  s.editor.folders = [slow];
  s.editor.foldersChanged.fire();
  s.ready();
  const over = s.files.read;
  s.files.dispose();
  await s.open(slow);
  await over;
  assert.deepEqual([...s.editor.watched], []);
});

test('a file that is there and cannot be looked at is told to the hub, which says why', async (t) => {
  const s = scene(t);
  const folder = s.folder('a');
  rmSync(join(folder, '.vscode/mcp.json'));
  symlinkSync('mcp.json', join(folder, '.vscode/mcp.json')); // ELOOP
  s.editor.folders = [folder];
  s.ready();
  await s.files.read;
  assert.deepEqual(s.told, [[user, 'a/.vscode/mcp.json']]);
});

test('settings of the wrong kind are as good as none', async (t) => {
  const s = scene(t);
  s.editor.settings = { discover: 7, configFiles: ['relative.json', 3, null] };
  s.ready();
  await s.files.read;
  assert.deepEqual(s.told, [[user]], s.log.join('; '));
});

test('who asks for a reading hears why there was none', async (t) => {
  const s = scene(t);
  await assert.rejects(s.files.reloadNow(), /is not running/u);
  s.ready();
  await s.files.reloadNow();
  s.hub.reload = () => Promise.reject(new Error('no disk'));
  await assert.rejects(s.files.reloadNow(), /no disk/u);
});
