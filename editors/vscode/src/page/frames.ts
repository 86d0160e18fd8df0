// The frames in which the page shows views (MCP Apps). The extension host serves the outer frame on loopback, at an
// address that the editor can reach even if its window runs on another machine.
import { readFile } from 'node:fs/promises';
import { setTimeout as elapsed } from 'node:timers/promises';
import * as vscode from 'vscode';
import { ViewFrames } from '@mcphub/host/contract';
import { describe } from '../hub/hubprocess.js';
import type { Output } from '../log/output.js';

/**
 * The maximum time in milliseconds that a page waits for the external address of the frame: the editor may have to
 * forward a port.
 */
const longestWait = 500;

export class Frames implements vscode.Disposable {
  readonly #html: string;
  readonly #output: Output;
  readonly #on: boolean;
  #opened: Promise<ViewFrames> | undefined;
  #outside: Promise<string> | undefined;

  /** `html` is the path of the outer frame's file. If `on` is false, there are no frames, and no port is opened. */
  constructor(html: string, output: Output, on: boolean) {
    this.#html = html;
    this.#output = output;
    this.#on = on;
  }

  /**
   * Returns the addresses of the frame for a webview, the most likely one first: the external address that the editor
   * gives, and the address on this machine, on which the window may run as well. If there is none, no views are shown.
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
