// Offers the editor's chat one MCP server that leads to the hub's gateway. So calls of the chat are shown, cancelled
// and recorded like all others, and what servers ask in them is asked on the page. The editor approves them.
import * as vscode from 'vscode';
import { GatewayApproval, GatewayQuestions, type Hub, type Server } from '@mcphub/host/contract';
import { describe, setting, type HubProcess } from '../hub/hubprocess.js';
import type { Output } from '../log/output.js';
import { brief, inMessage } from '../plaintext.js';
import { httpDefinition, registerDefinitions, type HttpDefinition } from './mcpdefinitions.js';
import { startedTwice, twiceText } from './startedtwice.js';

/** The id in the extension's manifest. */
const providerId = 'mcphub.chat';
const offerSetting = 'chat.offerServers';
const profileSetting = 'chat.profile';
/** The placeholder for the address: before the server starts there is no gateway. Nothing connects to this address. */
const nowhere = 'http://127.0.0.1/mcp';

export interface ChatWorld {
  readonly process: Pick<HubProcess, 'hub' | 'onDidChangeState'>;
  readonly output: Pick<Output, 'hub'>;
  /** Resolves when neither a start of the hub nor a reading of the config is in progress. */
  ready(): Promise<void>;
}

/**
 * Opens the gateway when the editor starts the server, and not before. The address and token that the editor then gets
 * are valid until the gateway closes: when a setting changes, or with its hub. Then the editor gets a new version of
 * the definition, ends its connection, and starts the server again when it needs it.
 */
export class ChatOffer implements vscode.Disposable {
  readonly #world: ChatWorld;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #listening: vscode.Disposable[];
  #version = 1;
  #offered = setting<boolean>(offerSetting, false);
  #openIn: Hub | undefined; // the hub whose gateway address the editor has
  #turn: Promise<unknown> = Promise.resolve(); // gateways are opened and closed one at a time

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
      // The editor asks before each call of a tool that does not call itself read-only, whatever the hub does: one
      // question is enough. Its own dialog for questions of servers stays open when a question is withdrawn.
      approval: GatewayApproval.CLIENT,
      questions: GatewayQuestions.WINDOW,
    });
    if (gateway === undefined) {
      throw new Error('McpHub has opened no gateway.');
    }
    if (version !== this.#version) {
      await closeFormer(hub); // the offer was switched off or changed while the gateway was opened
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

  /** Makes the editor end its connection to the gateway. It asks for a new one when it needs it. */
  #forget(): void {
    this.#openIn = undefined;
    this.#version++;
    this.#changed.fire();
  }

  /** Tells a user who has just turned the offer on what it means. */
  async #tell(possible: boolean): Promise<void> {
    if (!possible) {
      void vscode.window.showWarningMessage(
        vscode.l10n.t('{0} cannot use MCP servers of extensions. It needs version 1.101 or later.', vscode.env.appName),
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

/** The title in windows and among the gateways of the hub. */
function title(): string {
  return brief(`chat of ${vscode.env.appName}`, 200);
}

/**
 * Closes gateways that were opened for the editor earlier. A hub that was kept over a reload of the window may have one
 * whose token is lost.
 */
async function closeFormer(hub: Hub): Promise<void> {
  const { gateways } = await hub.gateways.listGateways({});
  for (const gateway of gateways.filter((one) => one.title === title())) {
    await hub.gateways.closeGateway({ gatewayId: gateway.gatewayId });
  }
}
