// Where the hub's program lies and under which name a hub waits for the window to come back.
import { createHash } from 'node:crypto';
import path from 'node:path';

/**
 * The program of the setting, or the one that came with the extension. A relative path is taken from the root of the
 * disk, where it most likely names nothing: never from whatever folder happens to be current, which may be somebody
 * else's.
 */
export function binaryPath(setting: string, extensionRoot: string, platform: NodeJS.Platform): string {
  const named = setting.trim();
  if (named === '') {
    return path.join(extensionRoot, 'bin', platform === 'win32' ? 'mcphub.exe' : 'mcphub');
  }
  return path.resolve(path.parse(extensionRoot).root, named);
}

/**
 * What the hub is told of how the editor was started: from a desktop, if no shell has set what every shell sets and
 * `code` did not come from one. Then servers get the environment of the user's login shell.
 */
export function startEnvironment(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): NodeJS.ProcessEnv {
  const fromShell = platform === 'win32' || env['SHLVL'] !== undefined || env['VSCODE_CLI'] === '1';
  return fromShell ? {} : { MCPHUB_DESKTOP: '1' };
}

/**
 * A window finds its own hub by this after a reload: one of the same folders, and of the same program, so that an
 * update is not served by its forerunner. Two windows on the same folders have the same key; which hub is whose is
 * settled by whose host is dead.
 */
export function keepKey(folders: readonly string[], workspaceFile: string | undefined, binary: string): string {
  return createHash('sha256')
    .update(JSON.stringify([folders, workspaceFile ?? '', binary]))
    .digest('hex')
    .slice(0, 32);
}

/** The default of mcphub.reloadGraceSeconds for a window whose extensions run on another machine. */
const remoteGraceSeconds = 120;
const localGraceSeconds = 20;

/**
 * The seconds of the setting, as the editor has it. Where the user has not made it, a window whose extensions run on
 * another machine gets more: its way back leads over a network.
 */
export function graceSeconds(
  setting: { readonly globalValue?: unknown; readonly defaultValue?: unknown } | undefined,
  remote: boolean,
): unknown {
  return setting?.globalValue ?? (remote ? remoteGraceSeconds : (setting?.defaultValue ?? localGraceSeconds));
}

/** Milliseconds of the setting; what is no number is the default. */
export function graceMilliseconds(seconds: unknown): number {
  const value = typeof seconds === 'number' && Number.isFinite(seconds) ? seconds : localGraceSeconds;
  return Math.round(Math.min(Math.max(value, 0), 300) * 1000);
}
