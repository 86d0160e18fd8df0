import { execFile, spawn } from 'node:child_process';
import { createWriteStream, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { processesWith } from './processes.mjs';
import { long, shortly, until } from './until.mjs';

/** Settings that keep a window quiet: no tips, no telemetry, nothing that a scenario does not ask for. */
const quietSettings = {
  'telemetry.telemetryLevel': 'off',
  'workbench.startupEditor': 'none',
  'workbench.enableExperiments': false,
  'workbench.tips.enabled': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'chat.disableAIFeatures': true,
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'extensions.ignoreRecommendations': true,
  'update.mode': 'none',
  'git.enabled': false,
  'window.dialogStyle': 'custom',
  'window.autoDetectColorScheme': true,
};

/**
 * A VS Code server with a home, user data and extensions of its own. It runs in a process group of its own, which ends
 * with it.
 *
 * Windows are in window.mjs.
 */
export class EditorServer {
  /** @type {import('node:child_process').ChildProcess | undefined} */
  #process;

  /**
   * @param {import('./editor.mjs').Editor} editor
   * @param {{trust?: boolean, settings?: object, out: string, name: string}} options trust: ask whether a workspace is
   * trusted;
   *   settings: of the user and of the machine; name: of the log in the folder out
   */
  constructor(editor, { trust = false, settings = {}, out, name }) {
    this.editor = editor;
    this.trust = trust;
    this.log = join(out, `${name}.log`);
    this.home = mkdtempSync(join(tmpdir(), 'mcphub-e2e-'));
    this.port = 0;
    const text = JSON.stringify({ ...quietSettings, 'security.workspace.trust.enabled': trust, ...settings }, null, 2);
    // Each window of a server is a remote window, which reads settings of machine scope from the machine's file. The
    // server does not notice changes of these files while it runs, so both are written before it starts.
    for (const of of ['User', 'Machine']) {
      mkdirSync(join(this.userData, of), { recursive: true });
      writeFileSync(join(this.userData, of, 'settings.json'), text);
    }
  }

  get userData() {
    return join(this.home, 'user');
  }
  get extensionLogs() {
    return join(this.userData, 'logs');
  }
  get url() {
    return `http://127.0.0.1:${this.port}`;
  }

  get #dirs() {
    return [
      '--user-data-dir',
      this.userData,
      '--extensions-dir',
      join(this.home, 'extensions'),
      '--server-data-dir',
      join(this.home, 'data'),
    ];
  }

  get #environment() {
    /** @type {NodeJS.ProcessEnv} */
    const env = {
      HOME: this.home,
      XDG_CONFIG_HOME: join(this.home, 'config'),
      XDG_DATA_HOME: join(this.home, 'share'),
      XDG_CACHE_HOME: join(this.home, 'cache'),
    };
    for (const name of ['PATH', 'LANG', 'LC_ALL', 'TMPDIR'])
      if (process.env[name] !== undefined) env[name] = process.env[name];
    env['EXTENSIONS_GALLERY'] = '{}'; // else it looks for a gallery on the network
    return env;
  }

  /** Installs all of them with one process, because its start takes longest. @param {string[]} vsix */
  async install(...vsix) {
    const each = vsix.flatMap((file) => ['--install-extension', file]);
    await promisify(execFile)(this.editor.node, [this.editor.entry, ...this.#dirs, ...each], {
      env: this.#environment,
      timeout: long,
    });
  }

  async start() {
    this.port = await freePort();
    const child = spawn(
      this.editor.node,
      [
        this.editor.entry,
        ...this.#dirs,
        '--host',
        '127.0.0.1',
        '--port',
        String(this.port),
        '--without-connection-token',
        '--accept-server-license-terms',
        '--telemetry-level',
        'off',
        ...(this.trust ? [] : ['--disable-workspace-trust']),
      ],
      { env: this.#environment, detached: true, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    this.#process = child;
    // The server's process group must not outlive this process, however it ends. A signal would end it without the exit
    // event.
    process.on('exit', () => this.#signalGroup('SIGKILL'));
    for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) process.once(signal, () => process.exit(1));
    const log = createWriteStream(this.log);
    child.stdout.pipe(log, { end: false });
    child.stderr.pipe(log, { end: false });
    await until('the VS Code server answers', async () => {
      if (child.exitCode !== null) throw new Error(`it has ended with ${child.exitCode}: see ${this.log}`);
      return (await fetch(this.url)).ok;
    });
  }

  /** All running processes that descend from this server, including hubs and their servers. */
  processes() {
    return processesWith('HOME', this.home);
  }

  /** Ends the server and the rest of its process group. It never fails. */
  async stop() {
    const child = this.#process;
    if (child?.pid === undefined) return;
    for (const signal of /** @type {const} */ (['SIGTERM', 'SIGKILL'])) {
      const ended =
        child.exitCode === null && child.signalCode === null
          ? once(child, 'exit', { signal: AbortSignal.timeout(shortly) })
          : Promise.resolve();
      this.#signalGroup(signal);
      await ended.catch(() => undefined);
    }
  }

  /** @param {NodeJS.Signals} signal */
  #signalGroup(signal) {
    if (this.#process?.pid === undefined) return;
    try {
      process.kill(-this.#process.pid, signal);
    } catch {
      /* the group is empty */
    }
  }

  /** Kills all processes with this server's HOME, also outside its process group, and removes the home. */
  remove() {
    for (const { pid } of this.processes())
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        /* it has exited */
      }
    rmSync(this.home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

/** @returns {Promise<number>} */
export async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
}
