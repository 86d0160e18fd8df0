// Offers the editor's chat one MCP server that leads through the hub's gateway, so that its calls are seen, approved,
// cancelled and kept like all others.
import * as vscode from 'vscode';
import type { Hub, Server } from '@mcphub/host';
import { describe, setting, type HubProcess } from '../hub/hubprocess.js';
import type { Output } from '../log/output.js';
import { brief, inMessage } from '../plaintext.js';
import { httpDefinition, registerDefinitions, type HttpDefinition } from './mcpdefinitions.js';
import { startedTwice, twiceText } from './startedtwice.js';

/** As the manifest has it. */
const providerId = 'mcphub.chat';
const offerSetting = 'chat.offerServers';
const profileSetting = 'chat.profile';
/** Until the server starts there is no gateway. Nobody answers there, and nobody is sent there. */
const nowhere = 'http://127.0.0.1/mcp';

export interface ChatWorld {
  readonly process: Pick<HubProcess, 'hub' | 'onDidChangeState'>;
  readonly output: Pick<Output, 'hub'>;
  /** Resolves when no start of the hub and no reading of the config is under way. */
  ready(): Promise<void>;
}

/**
 * The gateway is opened when the editor starts the server, and not before. What it is told then, address and token, is
 * good until the gateway closes: with another setting, or with its hub. Then the editor is given another version of the
 * definition, ends its connection, and starts the server again when it is next needed.
 */
export class ChatOffer implements vscode.Disposable {
  readonly #world: ChatWorld;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #listening: vscode.Disposable[];
  #version = 1;
  #offered = setting<boolean>(offerSetting, false);
  #openIn: Hub | undefined; // the hub whose gateway the editor was told of
  #turn: Promise<unknown> = Promise.resolve(); // gateways are opened and closed one after the other

  constructor(world: ChatWorld) {
    this.#world = world;
    const registered = registerDefinitions(providerId, {
      onDidChangeMcpServerDefinitions: this.#changed.event,
      provideMcpServerDefinitions: () => this.#definitions(),
      resolveMcpServerDefinition: (definition) => this.#inTurn(() => this.#open(definition)),
    });
    this.#listening = [
      ...(registered === undefined ? [] : [registered]),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (
          event.affectsConfiguration(`mcphub.${offerSetting}`)
          || event.affectsConfiguration(`mcphub.${profileSetting}`)
        ) {
          this.#settingChanged(registered !== undefined);
        }
      }),
      world.process.onDidChangeState(({ state }) => {
        if (state !== 'ready' && this.#openIn !== undefined) {
          this.#forget();
        }
      }),
    ];
  }

  dispose(): void {
    for (const listening of this.#listening) {
      listening.dispose();
    }
    this.#changed.dispose();
  }

  #definitions(): HttpDefinition[] {
    const definition = this.#offered ? httpDefinition('McpHub', nowhere, String(this.#version)) : undefined;
    return definition === undefined ? [] : [definition];
  }

  async #open(definition: HttpDefinition): Promise<HttpDefinition> {
    await this.#world.ready();
    const { hub } = this.#world.process;
    const version = this.#version;
    await closeFormer(hub);
    const { gateway, token } = await hub.gateways.openGateway({
      title: title(),
      profile: setting(profileSetting, ''),
      cancelReason: `cancelled in ${vscode.env.appName}`,
    });
    if (gateway === undefined) {
      throw new Error('McpHub has opened no gateway.');
    }
    if (version !== this.#version) {
      await closeFormer(hub); // switched off, or chosen anew, while it was opened
      throw new Error('What McpHub offers has changed. It is offered again.');
    }
    this.#openIn = hub;
    definition.uri = vscode.Uri.parse(gateway.url);
    definition.headers = { Authorization: `Bearer ${token}` };
    return definition;
  }

  #settingChanged(possible: boolean): void {
    const before = this.#offered;
    this.#offered = setting<boolean>(offerSetting, false);
    const hub = this.#openIn;
    this.#forget();
    if (hub !== undefined) {
      void this.#inTurn(() => closeFormer(hub)).catch((error: unknown) => this.#world.output.hub.warn(describe(error)));
    }
    if (this.#offered && !before) {
      void this.#tell(possible).catch((error: unknown) => this.#world.output.hub.warn(describe(error)));
    }
  }

  /** The editor ends its connection to the gateway, and asks for another one when it needs it. */
  #forget(): void {
    this.#openIn = undefined;
    this.#version++;
    this.#changed.fire();
  }

  /** What the user should know who has just turned the offer on. */
  async #tell(possible: boolean): Promise<void> {
    if (!possible) {
      void vscode.window.showWarningMessage(
        vscode.l10n.t(
          '{0} takes MCP servers from extensions from version 1.101 on: McpHub cannot offer it its own.',
          vscode.env.appName,
        ),
      );
      return;
    }
    await this.#world.ready();
    const { servers } = await this.#world.process.hub.servers.listServers({});
    const twice = startedTwice(servers).map((server: Server) => inMessage(server.name, 60));
    const choice = await vscode.window.showInformationMessage(
      twiceText(vscode.env.appName, twice),
      ...(twice.length > 0 ? [vscode.l10n.t('Show MCP Servers')] : []),
    );
    if (choice !== undefined) {
      await vscode.commands.executeCommand('workbench.mcp.listServer');
    }
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => undefined);
    return done;
  }
}

/** In windows and among the gateways of the hub. */
function title(): string {
  return brief(`chat of ${vscode.env.appName}`, 200);
}

/**
 * Closes gateways that were opened for the editor before. A hub that was kept over a reload of the window may have one
 * whose token nobody knows any more.
 */
async function closeFormer(hub: Hub): Promise<void> {
  const { gateways } = await hub.gateways.listGateways({});
  for (const gateway of gateways.filter((one) => one.title === title())) {
    await hub.gateways.closeGateway({ gatewayId: gateway.gatewayId });
  }
}
