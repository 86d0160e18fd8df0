// Files for texts that are too long to be passed to the editor at once. The files are private, and the editor reads
// them itself. An editor that gets 64 MiB from an extension is blocked by it, and it does not synchronize documents of
// more than 50 MB with extensions.
import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

const oldestMs = 24 * 3_600_000;
const mostKept = 10;

/**
 * Writes a text as it comes. The file gets its name only when it is complete. One turn of the event loop handles one
 * piece.
 */
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

/**
 * The private folder of such files. Files that are older than a day are removed, and the oldest if there are too many.
 */
export class TextFiles {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Writes a new file and returns its path. `name` must have only safe characters. */
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
