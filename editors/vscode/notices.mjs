// The licences of what the bundle contains, for THIRD_PARTY_NOTICES.txt in the .vsix.
import { readFile, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/** Licences that ask for no more than that their text comes along, as `internal/release` has them for the program. */
const accepted = new Set(['MIT', 'ISC', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD']);

const papers = /^(un)?licen[cs]e|^copying|^notice/i;

/**
 * @param {import('esbuild').Metafile} metafile of the bundle
 * @param {string} base that its names are relative to
 * @returns {Promise<string>}
 */
export async function notices(metafile, base) {
  /** @type {Map<string, string[]>} */
  const packages = new Map();
  for (const { inputs } of Object.values(metafile.outputs)) {
    for (const [name, { bytesInOutput }] of Object.entries(inputs)) {
      const folder = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(name)?.[0];
      if (folder !== undefined && bytesInOutput > 0) {
        packages.set(folder, [...(packages.get(folder) ?? []), name]);
      }
    }
  }
  const folders = [...packages].sort(([a], [b]) => (a < b ? -1 : 1));
  const parts = await Promise.all(folders.map(([folder, files]) => notice(base, folder, files)));
  return ['The extension contains the following software of others.\n', ...parts].join(`\n${'-'.repeat(80)}\n`);
}

/** @type {(base: string, folder: string, files: string[]) => Promise<string>} */
async function notice(base, folder, files) {
  /** @type {(text: string) => unknown} */
  const readJson = JSON.parse;
  const { name, version, license } = /** @type {Record<string, unknown>} */ (
    readJson(await readFile(join(base, folder, 'package.json'), 'utf8'))
  );
  const title = `${String(name)} ${String(version)}`;
  const licences = typeof license === 'string' ? license.replace(/[()]/g, '').split(/ (?:AND|OR) /) : [];
  if (licences.length === 0 || !licences.every((id) => accepted.has(id))) {
    throw new Error(`${title}: its licence is ${JSON.stringify(license)}, which is none of the accepted`);
  }
  let texts = await licenceFiles(resolve(base, folder));
  if (texts.length === 0) {
    texts = await copyrights(files.map((file) => resolve(base, file)));
  }
  if (texts.length === 0) {
    throw new Error(`${title}: it has no file with its licence, and its sources name no holder of a copyright`);
  }
  return [`${title}: ${licences.join(', ')}`, ...texts].join('\n\n') + '\n';
}

/** @type {(folder: string) => Promise<string[]>} */
async function licenceFiles(folder) {
  const names = (await readdir(folder)).filter((name) => papers.test(name)).sort();
  return Promise.all(names.map(async (name) => `[${name}]\n\n${tidy(await readFile(join(folder, name), 'utf8'))}`));
}

/**
 * What the sources say above their first line of code, each once: some packages have their licence nowhere else.
 *
 * @type {(files: string[]) => Promise<string[]>}
 */
async function copyrights(files) {
  const heads = await Promise.all(
    files.sort().map(async (file) => {
      const lines = (await readFile(file, 'utf8')).replace(/^("use strict";?)?\s*/, '').split('\n');
      const end = lines.findIndex((line) => !line.startsWith('//'));
      return lines
        .slice(0, end)
        .map((line) => line.replace(/^\/\/ ?/, ''))
        .join('\n');
    }),
  );
  return [...new Set(heads.filter((head) => /copyright/i.test(head)).map(tidy))];
}

/** @type {(text: string) => string} */
function tidy(text) {
  return text.replaceAll('\r\n', '\n').trim();
}
