// No file of the editors part imports, directly or indirectly, a file that imports it. Imports of types count too,
// because a reader has to follow them as well.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { test } from 'node:test';

const editors = resolve(import.meta.dirname, '../..');

/** The files of a folder, each with the project's own files that it imports. */
function imports(folder: string): Map<string, string[]> {
  const files = new Map<string, string[]>();
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!/\.[jt]s$/.test(name) || /(^|[/\\])gen[/\\]/.test(name)) {
      continue;
    }
    const path = join(folder, name);
    const found = readFileSync(path, 'utf8').matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'(\.[^']+)'/g);
    files.set(
      path,
      Array.from(found, ([, to = '']) => resolve(dirname(path), to)),
    );
  }
  return new Map(
    Array.from(files, ([path, all]) => [
      path,
      all.map((to) => (files.has(to) ? to : to.replace(/\.js$/, '.ts'))).filter((to) => files.has(to)),
    ]),
  );
}

/** Returns a cycle of imports, or undefined. */
function cycle(files: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const done = new Set<string>();
  const walk = (at: string, way: readonly string[]): string[] | undefined => {
    if (way.includes(at)) {
      return [...way.slice(way.indexOf(at)), at];
    }
    if (done.has(at)) {
      return undefined;
    }
    for (const to of files.get(at) ?? []) {
      const found = walk(to, [...way, at]);
      if (found !== undefined) {
        return found;
      }
    }
    done.add(at);
    return undefined;
  };
  for (const at of files.keys()) {
    const found = walk(at, []);
    if (found !== undefined) {
      return found;
    }
  }
  return undefined;
}

/** The same for the folders below the given one. */
function folders(root: string, files: ReadonlyMap<string, readonly string[]>): Map<string, string[]> {
  const all = new Map<string, string[]>();
  const folderOf = (path: string): string | undefined => (dirname(path) === root ? undefined : dirname(path));
  for (const [path, found] of files) {
    const from = folderOf(path);
    if (from !== undefined) {
      const to = found.map(folderOf).filter((folder) => folder !== undefined && folder !== from);
      all.set(from, [...(all.get(from) ?? []), ...(to as string[])]);
    }
  }
  return all;
}

for (const folder of ['host/src', 'vscode/src', 'page/src']) {
  test(`nothing in ${folder} imports itself over others`, () => {
    const files = imports(join(editors, folder));
    assert.ok(files.size > 20 && Array.from(files.values()).flat().length > 20, 'the imports are found');
    for (const graph of [files, folders(join(editors, folder), files)]) {
      assert.equal(
        cycle(graph)
          ?.map((path) => relative(editors, path))
          .join(' -> '),
        undefined,
      );
    }
  });
}
