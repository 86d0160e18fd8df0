// What VS Code adds to a webview before the page runs: acquireVsCodeApi with a state that survives a reload, and the
// theme. Playwright's init scripts install it, which no CSP blocks. The test keeps the state, since VS Code keeps it
// outside the page, too.

/**
 * Runs inside the page. It is sent as text, so it may use only its argument and the globals of the page.
 *
 * @param {{ state: unknown, sheet: string, vscode: boolean }} setup
 */
export function installVsCode(setup) {
  /**
   * @typedef {{ __frames: object, __sent: number, __hub(message: unknown): void, __keep(state: unknown): void, __violation(text: string):
   * void, acquireVsCodeApi?: () => unknown }} Installed
   */
  const installed = /** @type {Installed} */ (/** @type {unknown} */ (window));
  document.addEventListener('securitypolicyviolation', (event) => {
    installed.__violation(
      `${event.effectiveDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber} ${event.sample}`,
    );
  });
  installed.__sent = 0;
  // The page draws with the browser's own frames, not with those of Playwright's clock, which stands still: an element
  // that a test waits for comes by itself.
  Object.assign(window, installed.__frames);
  if (!setup.vscode) return;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(setup.sheet);
  document.adoptedStyleSheets = [sheet];
  let state = setup.state;
  let acquired = false;
  installed.acquireVsCodeApi = () => {
    if (acquired) throw new Error('An instance of the VS Code API has already been acquired');
    acquired = true;
    return Object.freeze({
      /** @param {unknown} message */
      postMessage(message) {
        installed.__sent++;
        installed.__hub(structuredClone(message));
      },
      getState: () => state,
      /** @param {unknown} value */
      setState(value) {
        state = structuredClone(value);
        installed.__keep(state);
        return value;
      },
    });
  };
}
