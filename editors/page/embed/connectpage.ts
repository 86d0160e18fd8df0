// Connects a page to a hub: in a webview, or at a port.
import { pageHtml } from './pagehtml.js';
import type { OwnedHub, Page, PageOptions, PagePort } from '@mcphub/host';
import type { Surface } from './surface.js';

/** A URI of a file, as editors have it. */
export interface FileUri {
  readonly fsPath: string;
  toString(): string;
}

/** What connectPage needs of a webview. Those of VS Code, and of editors made from it, have it. */
export interface PageWebview<Uri extends FileUri> {
  html: string;
  options: object;
  readonly cspSource: string;
  asWebviewUri(uri: Uri): { toString(): string };
  postMessage(message: object): PromiseLike<unknown>;
  onDidReceiveMessage(listener: (message: unknown) => void): { dispose(): void };
}

export interface WebviewPageOptions<Uri extends FileUri> extends PageOptions {
  /** The folder of the page: `dist` of this package, or a copy of it. The webview may load nothing else. */
  readonly folder: Uri;
  /** What the page is told about this place, beside its kind and `configWrites`. */
  readonly surface?: Omit<Surface, 'kind' | 'configWrites' | 'commands'>;
  /** The commands to which the page may link. Each must check its arguments: the page shows texts of servers. */
  readonly commands?: readonly string[];
  /** Runs one of them by a message: the page does so without a click, to show something. Default: nothing. */
  readonly runCommand?: (command: string, args: readonly unknown[]) => void;
}

/**
 * Shows the page in a webview, and connects it to a hub. What the webview had, and its options, are replaced. Rejects,
 * and connects nothing, if the page cannot be read or the hub is closed. Dispose the result with the webview.
 */
export async function connectPage<Uri extends FileUri>(
  place: PageWebview<Uri>,
  hub: Pick<OwnedHub, 'showPage'>,
  options: WebviewPageOptions<Uri>,
): Promise<Page>;
/** Connects a page that is elsewhere, in a frame or another process, by the port over which its messages go. */
export async function connectPage(
  place: PagePort,
  hub: Pick<OwnedHub, 'showPage'>,
  options?: PageOptions,
): Promise<Page>;
export async function connectPage<Uri extends FileUri>(
  place: PageWebview<Uri> | PagePort,
  hub: Pick<OwnedHub, 'showPage'>,
  options: WebviewPageOptions<Uri> | PageOptions = {},
): Promise<Page> {
  if (!('html' in place)) {
    return hub.showPage(place, options);
  }
  if (!('folder' in options)) {
    throw new TypeError('A page in a webview needs the folder of its files: give it as “folder”.');
  }
  return inWebview(place, hub, options);
}

async function inWebview<Uri extends FileUri>(
  webview: PageWebview<Uri>,
  hub: Pick<OwnedHub, 'showPage'>,
  { folder, surface, commands = [], runCommand, ...options }: WebviewPageOptions<Uri>,
): Promise<Page> {
  const html = await pageHtml({
    folder: folder.fsPath,
    base: `${webview.asWebviewUri(folder).toString()}/`,
    cspSource: webview.cspSource,
    surface: { ...surface, kind: 'vscode', commands, configWrites: options.configWrites ?? false },
  });
  const page = hub.showPage(
    {
      // Rejects if the webview is closing: then there is no page to tell.
      post: (message) => void webview.postMessage(message).then(undefined, () => undefined),
      onMessage: (listener) => {
        const subscription = webview.onDidReceiveMessage((message) => {
          const order = orderOf(message);
          if (order === undefined) {
            listener(message);
          } else if (commands.some((one) => one === order.command) && Array.isArray(order.args)) {
            runCommand?.(String(order.command), order.args as unknown[]);
          }
        });
        return () => {
          subscription.dispose();
        };
      },
    },
    options,
  );
  try {
    webview.options = {
      enableScripts: true,
      enableForms: true,
      enableCommandUris: commands,
      localResourceRoots: [folder],
    };
    webview.html = html; // last: the page says hello at once
    return page;
  } catch (error) {
    page.dispose(); // the webview has been closed meanwhile
    throw error;
  }
}

/** Returns the command that a message of the page is to run, or undefined if the message is for the hub. */
function orderOf(message: unknown): { readonly command?: unknown; readonly args?: unknown } | undefined {
  const { runCommand } = Object(message) as { runCommand?: object | null };
  return runCommand ?? undefined;
}
