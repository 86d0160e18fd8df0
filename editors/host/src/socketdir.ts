// The directory of a hub's socket: private (the socket's own mode follows the umask) and of one hub alone.
import { chmod, lstat, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

const prefix = 'mcphub-';
// A path of a socket has 104 bytes on macOS: what is left is for the directory's and the socket's own names.
const maxTemp = 70;

export async function makeSocketDirectory(): Promise<string> {
  const temp = tmpdir();
  const parent = process.platform !== 'win32' && Buffer.byteLength(temp) > maxTemp ? '/tmp' : temp;
  const directory = await mkdtemp(join(parent, prefix));
  await chmod(directory, 0o700); // which mkdtemp gives, less what the umask takes
  return directory;
}

/**
 * Removes what a killed hub has left behind. A name from a file is not trusted: only what looks like such a directory
 * goes.
 */
export async function removeSocketDirectory(directory: string): Promise<void> {
  try {
    const info = await lstat(directory);
    const ours = process.platform === 'win32' || ((info.mode & 0o777) === 0o700 && info.uid === process.getuid?.());
    if (basename(directory).startsWith(prefix) && info.isDirectory() && ours) {
      await rm(directory, { recursive: true, force: true });
    }
  } catch {
    // It is gone already: the hub removes it, too.
  }
}
