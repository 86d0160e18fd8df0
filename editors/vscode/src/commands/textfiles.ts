// Texts that are too long to be handed to the editor in one: private files, which it reads by itself. An editor that is
// given 64 MiB by an extension stands still for it, and keeps no document of more than 50 MB in step with extensions.
import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

const oldestMs = 24 * 3_600_000;
const mostKept = 10;

/** Writes a text as it comes, into its place only when it is whole. A turn of the event loop takes one piece. */
export async function writePieces(
  path: string,
  text: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
  mode: number,
): Promise<void> {
  const unfinished = join(dirname(path), `.mcphub-${randomUUID()}.part`);
  try {
    const file = await open(unfinished, 'wx', mode);
    try {
      for await (const piece of text) {
        await file.writeFile(piece);
      }
    } finally {
      await file.close();
    }
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}

/** The private folder of such files. Those of an earlier day go, and the oldest of too many. */
export class TextFiles {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Gives the path of a new file with this name, which is of harmless characters. */
  async put(name: string, text: AsyncIterable<string>): Promise<string> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await this.#clear();
    const folder = join(this.#folder, randomUUID());
    await mkdir(folder, { mode: 0o700 });
    const path = join(folder, name);
    await writePieces(path, text, 0o600);
    return path;
  }

  async #clear(): Promise<void> {
    const all = await Promise.all(
      (await readdir(this.#folder)).map(async (name) => {
        const path = join(this.#folder, name);
        return {
          path,
          time: await stat(path).then(
            ({ mtimeMs }) => mtimeMs,
            () => 0,
          ),
        };
      }),
    );
    all.sort((a, b) => b.time - a.time);
    for (const [index, { path, time }] of all.entries()) {
      if (index >= mostKept - 1 || Date.now() - time > oldestMs) {
        await rm(path, { recursive: true, force: true });
      }
    }
  }
}
