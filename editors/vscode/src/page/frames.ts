// Where the page shows views (MCP Apps): an outer frame that the extension host serves on loopback, by an address that
// the editor can reach, wherever its window is.
import { readFile } from 'node:fs/promises';
import { setTimeout as elapsed } from 'node:timers/promises';
import * as vscode from 'vscode';
import { ViewFrames } from '@mcphub/host';
import { describe } from '../hub/hubprocess.js';
import type { Output } from '../log/output.js';

/** How long a page waits for the editor to say where a window reaches the frame, in milliseconds: it may forward a port. */
const longestWait = 500;

export class Frames implements vscode.Disposable {
  readonly #html: string;
  readonly #output: Output;
  readonly #on: boolean;
  #opened: Promise<ViewFrames> | undefined;
  #outside: Promise<string> | undefined;

  /** `html` is the file of the outer frame; without `on` there are no frames, and no port is opened. */
  constructor(html: string, output: Output, on: boolean) {
    this.#html = html;
    this.#output = output;
    this.#on = on;
  }

  /**
   * The frame's addresses for a webview, the likeliest first: as the editor gives it to its window, and as it is on this
   * machine, on which the window may be as well. None: no views are shown.
   */
  async addresses(): Promise<readonly string[]> {
    if (!this.#on) {
      return [];
    }
    try {
      this.#opened ??= readFile(this.#html, 'utf8').then((html) => ViewFrames.open(html));
      const { address } = await this.#opened;
      this.#outside ??= Promise.resolve(vscode.env.asExternalUri(vscode.Uri.parse(address))).then(
        (uri) => uri.toString(true),
        () => address,
      );
      const outside = await Promise.race([this.#outside, elapsed(longestWait, address)]);
      return [...new Set([outside, address])];
    } catch (error) {
      this.#opened = this.#outside = undefined;
      this.#output.hub.warn(`Views of tools cannot be shown: ${describe(error)}`);
      return [];
    }
  }

  dispose(): void {
    void this.#opened?.then((frames) => frames.close()).catch(() => undefined);
  }
}
