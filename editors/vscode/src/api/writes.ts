// Writing of config files for other extensions. The hub writes, and holds back what was written until the user has
// agreed to it. This file checks the permissions and says for which extension the hub writes.
import { ApprovalPolicy, HubError, ServerTransport } from '@mcphub/host';
import type { ConfigWrite, Hub, Server } from '@mcphub/host';
import type { McpHub, McpServerForm, McpServerSettings, McpSource, McpWrite } from '../../api.js';
import { brief } from '../plaintext.js';
import type { Extension, Grants, Permission } from './grants.js';
import { duration } from './requests.js';
import { address } from './servername.js';
import * as shown from './shown.js';

export interface WritesWorld {
  readonly grants: Grants;
  /** The files that the hub reads, in order of increasing precedence. */
  readonly configFiles: () => readonly { readonly path: string; readonly scope: McpSource }[];
}

type Writes = Pick<McpHub, 'addServer' | 'updateServer' | 'removeServer' | 'undo'>;

/** The hub's answer to each write. */
interface Answer {
  readonly write?: ConfigWrite | undefined;
  readonly server?: Server | undefined;
}

export function writes(world: WritesWorld, ready: () => Promise<Hub>, extension: Extension | undefined): Writes {
  const granted = async (permissions: readonly Permission[]): Promise<string> => {
    if (extension === undefined) {
      throw refused('Servers are written for extensions that say which they are: use connect(context.extension).');
    }
    for (const permission of permissions) {
      if (!(await world.grants.allows(extension, permission))) {
        throw refused(`The user has not allowed ${extension.id} to do this (${permission}).`);
      }
    }
    return `${extension.id} (${brief(extension.name, 40)})`; // has the id, since extensions choose their names
  };
  const written = async (answer: Promise<Answer>): Promise<McpWrite> => {
    const { write, server } = await answer;
    if (write === undefined) {
      throw new Error('McpHub has answered without what it has written.');
    }
    return {
      configFile: write.configFile,
      configLine: write.configLine,
      needsConsent: write.needsConsent,
      problems: write.problems.map(shown.problem),
      leftOut: [...write.leftOut],
      undoId: write.undoId,
      server: server && shown.server(server),
    };
  };
  return {
    async addServer({ name, entry, configFile, source, ...settings }) {
      const file = configFile ?? fileOf(source, world.configFiles());
      const said = settingsOf(settings);
      const writtenBy = await granted(permissions(said, entry));
      const { configs } = await ready();
      return written(
        configs.addServer({
          server: name,
          configFile: file,
          writtenBy,
          entry:
            typeof entry === 'string' ? { case: 'entryJson', value: entry } : { case: 'form', value: formOf(entry) },
          ...said,
        }),
      );
    },
    async updateServer(server, { form, patch, configFile = '', ...settings }) {
      const patchJson = patch === undefined ? '' : JSON.stringify(patch);
      const said = settingsOf(settings);
      const writtenBy = await granted(permissions(said, patchJson));
      const { configs } = await ready();
      return written(
        configs.updateServer({
          server: address(server),
          configFile,
          writtenBy,
          patchJson,
          ...(form === undefined ? {} : { form: formOf(form) }),
          ...said,
        }),
      );
    },
    async removeServer(server, { configFile = '' } = {}) {
      await granted(['write']);
      const { configs } = await ready();
      return written(configs.removeServer({ server: address(server), configFile }));
    },
    async undo({ undoId }) {
      if (undoId === '') {
        throw new HubError('failed_precondition', 'NOTHING_TO_UNDO', 'This write cannot be undone.');
      }
      const writtenBy = await granted(['write']);
      const { configs } = await ready();
      return written(configs.undoConfigWrite({ writtenBy, undoId }));
    },
  };
}

function refused(message: string): HubError {
  return new HubError('permission_denied', 'NOT_GRANTED', message);
}

/** Returns the file for a new server of a source; '' lets the hub choose. */
function fileOf(source: McpSource | undefined, files: readonly { path: string; scope: McpSource }[]): string {
  if (source === undefined) {
    return '';
  }
  const file = files.findLast(({ scope }) => scope === source)?.path;
  if (file === undefined) {
    throw new HubError(
      'failed_precondition',
      'CONFIG_FILE_NEEDED',
      `McpHub reads no config file of source ${source}: name one in configFile, of those that listServers() has or that the setting mcphub.configFiles names.`,
    );
  }
  return file;
}

/**
 * Returns the permissions that a change needs. Removing an entry's policy for a tool may allow that tool, since then a
 * pattern applies to it. JSON text has many ways to say that a tool is called without a question.
 */
function permissions({ settings }: ReturnType<typeof settingsOf>, json: unknown): readonly Permission[] {
  const allows =
    Object.values(settings?.approvals ?? {}).some((one) => one !== ApprovalPolicy.ASK && one !== ApprovalPolicy.DENY)
    || (typeof json === 'string' && json !== '' && speaksOfApprovals(json));
  return allows ? ['write', 'alwaysAllow'] : ['write'];
}

const ofApprovals = /allow|approv|trust|tools$/iu;

/**
 * Reports whether any key of a JSON text may be about approvals. Text that is not plain JSON, such as TOML or JSON with
 * comments, counts as such.
 */
function speaksOfApprovals(json: string): boolean {
  let found = false;
  try {
    JSON.parse(json, (key, value: unknown) => {
      found ||= ofApprovals.test(key);
      return value;
    });
  } catch {
    return true;
  }
  return found;
}

function formOf(form: McpServerForm) {
  const environment: Record<string, string> = {};
  const unsetEnvironment: string[] = [];
  for (const [name, value] of Object.entries(form.env ?? {})) {
    if (value === null) {
      unsetEnvironment.push(name);
    } else {
      environment[name] = value;
    }
  }
  const transports = { streamable_http: ServerTransport.HTTP, sse: ServerTransport.SSE } as const;
  return {
    command: form.command ?? '',
    args: [...(form.args ?? [])],
    environment,
    unsetEnvironment,
    directory: form.cwd ?? '',
    url: form.url ?? '',
    transport: form.transport === undefined ? ServerTransport.UNSPECIFIED : transports[form.transport],
    headers: { ...form.headers },
  };
}

const policies = {
  allow: ApprovalPolicy.ALLOW,
  ask: ApprovalPolicy.ASK,
  deny: ApprovalPolicy.DENY,
  default: ApprovalPolicy.UNSPECIFIED,
} as const;

/** Returns an object without `settings` if no setting is given. */
function settingsOf({ enabled, alwaysAllow = {}, approvals = {}, timeouts = {} }: McpServerSettings) {
  const said: Record<string, ApprovalPolicy> = {};
  for (const [tool, allowed] of Object.entries(alwaysAllow)) {
    if (typeof allowed !== 'boolean') {
      throw new HubError('invalid_argument', 'INVALID_REQUEST', `alwaysAllow of ${tool} must be true or false.`);
    }
    said[tool] = allowed ? ApprovalPolicy.ALLOW : ApprovalPolicy.UNSPECIFIED;
  }
  for (const [tool, policy] of Object.entries(approvals)) {
    if (typeof policy !== 'string' || !Object.hasOwn(policies, policy)) {
      const known = Object.keys(policies).join(', ');
      throw new HubError('invalid_argument', 'INVALID_REQUEST', `approvals of ${tool} must be one of ${known}.`);
    }
    said[tool] = policies[policy];
  }
  const clocks: Partial<Record<'connect' | 'idle' | 'total' | 'human', ReturnType<typeof duration>>> = {};
  const toDefault: string[] = [];
  for (const clock of ['connect', 'idle', 'total', 'human'] as const) {
    const ms = timeouts[`${clock}Ms`];
    if (ms === null) {
      toDefault.push(clock);
    } else if (ms !== undefined) {
      clocks[clock] = duration(`${clock}Ms`, ms);
    }
  }
  if (enabled === undefined && Object.keys(said).length === 0 && Object.keys(timeouts).length === 0) {
    return {};
  }
  return {
    settings: { ...(enabled === undefined ? {} : { enabled }), approvals: said, timeouts: { ...clocks, toDefault } },
  };
}
