// The path of the hub's program, and the key under which a hub waits for the window to come back.
import { createHash } from 'node:crypto';
import path from 'node:path';
import type { ProxySetting } from '@mcphub/host/contract';

/**
 * Returns the program of the setting, or the one of the extension. A relative path is resolved against the root of the
 * disk, where it most likely names nothing. It must not be resolved against the current folder, which may be controlled
 * by somebody else.
 */
export function binaryPath(setting: string, extensionRoot: string, platform: NodeJS.Platform): string {
  const named = setting.trim();
  if (named === '') {
    return path.join(extensionRoot, 'bin', platform === 'win32' ? 'mcphub.exe' : 'mcphub');
  }
  return path.resolve(path.parse(extensionRoot).root, named);
}

/**
 * Returns the environment that tells the hub how the editor was started. It was started from a desktop if the variables
 * that every shell sets are missing and it was not started by `code` in a shell. Then servers get the environment of
 * the user's login shell.
 */
export function startEnvironment(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): NodeJS.ProcessEnv {
  const fromShell = platform === 'win32' || env['SHLVL'] !== undefined || env['VSCODE_CLI'] === '1';
  return fromShell ? {} : { MCPHUB_DESKTOP: '1' };
}

/**
 * Returns the proxy of the editor's own settings (`http.proxy`, `http.noProxy`, `http.proxySupport`), or undefined if
 * they name none: then that of the environment counts.
 */
export function proxyOf(read: (name: string) => unknown): ProxySetting | undefined {
  const [url, except, support] = [read('proxy'), read('noProxy'), read('proxySupport')];
  if (typeof url !== 'string' || url.trim() === '' || support === 'off') {
    return undefined;
  }
  const named = Array.isArray(except) ? except.filter((host) => typeof host === 'string') : [];
  return { url: url.trim(), except: named };
}

/**
 * Returns the key by which a window finds its hub after a reload. It depends on the folders and on the program, so that
 * after an update the old program is not used. Two windows with the same folders have the same key; a window can only
 * take over a hub whose host is dead.
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
 * Returns the seconds of the setting. If the user has not set it, a window whose extensions run on another machine gets
 * a longer default, since it has to reconnect over a network.
 */
export function graceSeconds(
  setting: { readonly globalValue?: unknown; readonly defaultValue?: unknown } | undefined,
  remote: boolean,
): unknown {
  return setting?.globalValue ?? (remote ? remoteGraceSeconds : (setting?.defaultValue ?? localGraceSeconds));
}

/**
 * Returns the setting in milliseconds, limited to 0 to 300 s. For a value that is not a number it returns the default.
 */
export function graceMilliseconds(seconds: unknown): number {
  const value = typeof seconds === 'number' && Number.isFinite(seconds) ? seconds : localGraceSeconds;
  return Math.round(Math.min(Math.max(value, 0), 300) * 1000);
}
