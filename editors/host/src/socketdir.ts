// The directory of a hub's socket. It is private, since the mode of the socket itself depends on the umask, and serves
// only one hub.
import { chmod, lstat, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

const prefix = 'mcphub-';
// The path of a socket has at most 104 bytes on macOS. The rest is needed for the names of the directory and the
// socket.
const maxTemp = 70;

export async function makeSocketDirectory(): Promise<string> {
  const temp = tmpdir();
  const parent = process.platform !== 'win32' && Buffer.byteLength(temp) > maxTemp ? '/tmp' : temp;
  const directory = await mkdtemp(join(parent, prefix));
  await chmod(directory, 0o700); // mkdtemp uses this mode, but the umask may reduce it
  return directory;
}

/**
 * Removes the directory that a killed hub has left behind. The name may come from a file and is not trusted: only a
 * directory that looks like one of this module is removed.
 */
export async function removeSocketDirectory(directory: string): Promise<void> {
  try {
    const info = await lstat(directory);
    const ours = process.platform === 'win32' || ((info.mode & 0o777) === 0o700 && info.uid === process.getuid?.());
    if (basename(directory).startsWith(prefix) && info.isDirectory() && ours) {
      await rm(directory, { recursive: true, force: true });
    }
  } catch {
    // It was removed already: the hub removes it, too.
  }
}
