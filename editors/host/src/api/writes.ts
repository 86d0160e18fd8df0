// Reading and writing of config entries. The hub writes, and holds back what was written until the user has agreed to
// it. This file says which permissions a change needs, and for whom the hub writes.
import { HubError } from '../failure.js';
import type { ConfigWrite } from '../gen/mcphub/v1/config_pb.js';
import { ApprovalPolicy, ServerTransport } from '../gen/mcphub/v1/server_pb.js';
import type { Server } from '../gen/mcphub/v1/server_pb.js';
import type { Hub } from '../hub.js';
import { duration, milliseconds } from './duration.js';
import type { McpConfigFile, McpEntrySettings, McpHub, McpServerForm } from './mcphub.js';
import type { McpServerSettings, McpSource, McpWrite } from './mcphub.js';
import { address } from './servername.js';
import * as shown from './shown.js';

/** write: writing of config files. alwaysAllow: writing into them that tools are called without a question. */
export type WritePermission = 'write' | 'alwaysAllow';

/** Who writes. */
export interface Writer {
  /**
   * Resolves to the name under which entries are written, which the user sees before such an entry starts. Rejects with
   * a HubError (permission_denied, NOT_GRANTED) if one of the permissions is missing.
   */
  writtenBy(permissions: readonly WritePermission[]): Promise<string>;
}

type Writes = Pick<McpHub, 'configFiles' | 'serverSettings' | 'addServer' | 'updateServer' | 'removeServer' | 'undo'>;

/** The hub's answer to each write. */
interface Answer {
  readonly write?: ConfigWrite | undefined;
  readonly server?: Server | undefined;
}

export function writes(ready: () => Promise<Hub>, writer: Writer): Writes {
  const written = async (answer: Promise<Answer>): Promise<McpWrite> => {
    const { write, server } = await answer;
    if (write === undefined) {
      throw new HubError('internal', 'PROTOCOL_ERROR', 'The hub has answered without what it has written.');
    }
    return shown.write(write, server);
  };
  const files = async (hub: Hub) => (await hub.configs.listConfigFiles({})).files.map(shown.configFile);
  return {
    configFiles: async () => files(await ready()),
    async serverSettings(server, { configFile = '' } = {}) {
      const { entry, file } = await (await ready()).configs.getServerEntry({ server: address(server), configFile });
      if (entry === undefined || file === undefined) {
        throw new HubError('internal', 'PROTOCOL_ERROR', 'The hub has answered without the entry.');
      }
      const { enabled, approvals = {}, timeouts } = entry.settings ?? {};
      return {
        configFile: file.path,
        configLine: entry.line,
        dialect: entry.dialect,
        enabled,
        approvals: Object.fromEntries(Object.entries(approvals).map(([tool, p]) => [tool, shown.policy(p)])),
        timeouts: {
          ...(timeouts?.connect && { connectMs: milliseconds(timeouts.connect) }),
          ...(timeouts?.idle && { idleMs: milliseconds(timeouts.idle) }),
          ...(timeouts?.total && { totalMs: milliseconds(timeouts.total) }),
          ...(timeouts?.human && { humanMs: milliseconds(timeouts.human) }),
        },
      } satisfies McpEntrySettings;
    },
    async addServer({ name, entry, configFile, source, ...settings }) {
      const said = settingsOf(settings);
      const writtenBy = await writer.writtenBy(permissions(said, entry));
      const hub = await ready();
      const file = configFile ?? (source === undefined ? '' : fileOf(source, await files(hub)));
      return written(
        hub.configs.addServer({
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
      const writtenBy = await writer.writtenBy(permissions(said, patchJson));
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
      await writer.writtenBy(['write']);
      const { configs } = await ready();
      return written(configs.removeServer({ server: address(server), configFile }));
    },
    async undo({ undoId }) {
      if (undoId === '') {
        throw new HubError('failed_precondition', 'NOTHING_TO_UNDO', 'This write cannot be undone.');
      }
      const writtenBy = await writer.writtenBy(['write']);
      const { configs } = await ready();
      return written(configs.undoConfigWrite({ writtenBy, undoId }));
    },
  };
}

/** Returns the file for a new server of a source: the last one that takes it. */
function fileOf(source: McpSource, files: readonly McpConfigFile[]): string {
  const file = files.findLast((one) => one.source === source && one.notWritable === '')?.path;
  if (file === undefined) {
    throw new HubError(
      'failed_precondition',
      'CONFIG_FILE_NEEDED',
      `The hub reads no config file of source ${source} that takes a server: name one in configFile, of configFiles().`,
    );
  }
  return file;
}

/**
 * Returns the permissions that a change needs. Removing an entry's policy for a tool may allow that tool, since then a
 * pattern applies to it. JSON text has many ways to say that a tool is called without a question.
 */
function permissions({ settings }: ReturnType<typeof settingsOf>, json: unknown): readonly WritePermission[] {
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
