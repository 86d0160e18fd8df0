// How long a user waits in a real editor. The figures are printed and compared with the limits. Run this by hand on an
// idle machine.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readJson } from './readjson.mjs';
import { play, scenario } from './stage.mjs';
import { until } from './until.mjs';

/** @typedef {{ mcpRequestCancelling?: object, time: string }} Told an event of the hub, as the page gets it */
/** @typedef {{ came: number, given: number }} Traced when a cancel came, and when it was given to the connection */

const rounds = 21;

scenario(
  'our share of the way from a click on Cancel to the server is at most 2 ms (median of 21)',
  async (act) => {
    const workspace = act.workspace();
    const window = await act.open(workspace);
    const page = await window.openSideBar();
    // Another call is running: the status bar shows an animation, and the message of a click leaves a page with the
    // next frame.
    await page.call('demo', 'long_task', { steps: 10_000, step_ms: 200 });
    await window.timeEmptyView();
    const editors = [];
    for (let round = 0; round < rounds; round++) editors.push(await window.timeEmptyClick());
    await window.openSideBar();
    await page.cancel(page.request('long_task'));
    await page.shows('no request', async () => (await page.requests.count()) === 0);
    // The clock starts when the page sees the click: Playwright's way to the page is not the user's.
    await page.frame.locator('html').evaluate((html) => {
      const now = () => String(performance.timeOrigin + performance.now());
      const clicked = () => {
        html.dataset['clicked'] = now();
        delete html.dataset['accepted'];
      };
      html.ownerDocument.addEventListener('click', clicked, { capture: true });
      // When this listener runs, the other listeners have handled the click and have sent their messages.
      html.ownerDocument.defaultView?.addEventListener('click', () => void (html.dataset['handled'] = now()));
      // The hub puts a time into its events, and into this one the time at which it accepted the cancel.
      html.ownerDocument.defaultView?.addEventListener('message', (/** @type {MessageEvent<Told>} */ { data }) => {
        if (data.mcpRequestCancelling) html.dataset['accepted'] = data.time;
      });
    });
    const traced = join(workspace.folder, 'cancels.jsonl');
    await window.runCommand('Other: Trace Cancels');
    await until('cancels are traced', () => existsSync(traced));
    /** @type {Record<string, number[]>} */
    const parts = { page: [], editor: [], host: [], hub: [], server: [], own: [], whole: [] };
    for (let round = 1; round <= rounds; round++) {
      await page.call('demo', 'long_task', { steps: 10_000, step_ms: 200 });
      await workspace.journal.has({ event: 'started', tool: 'long_task' }, { count: round + 1 });
      await page.cancel(page.request('long_task'));
      const said = async (/** @type {string} */ name) => String(await page.frame.locator('html').getAttribute(name));
      await page.frame.locator('html[data-accepted]').waitFor({ state: 'attached' });
      const [clicked, handled] = [Number(await said('data-clicked')), Number(await said('data-handled'))];
      const accepted = instant(await said('data-accepted'));
      const heard = instant(
        String((await workspace.journal.has({ event: 'cancel_received' }, { count: round + 1 })).at(-1)?.time),
      );
      const { came, given } = await until('the cancel was traced', () => {
        const lines = readFileSync(traced, 'utf8').trim().split('\n');
        return lines.length === round ? /** @type {Traced} */ (JSON.parse(lines.at(-1) ?? '')) : undefined;
      });
      parts['page']?.push(handled - clicked);
      parts['editor']?.push(came - handled);
      parts['host']?.push(given - came);
      parts['hub']?.push(accepted - given);
      parts['server']?.push(heard - accepted);
      parts['own']?.push(heard - clicked - (came - handled));
      parts['whole']?.push(heard - clicked);
      await page.shows('no request', async () => (await page.requests.count()) === 0);
    }
    const of = (/** @type {string} */ name) => middle(parts[name] ?? []);
    const ms = (/** @type {string} */ name) => `${of(name).toFixed(1)} ms`;
    act.prints(
      `click on Cancel -> the server has the notification: median ${ms('whole')} of ${rounds}, worst ${Math.max(...(parts['whole'] ?? [])).toFixed(1)} ms`,
    );
    act.prints(
      `of that (medians): the page ${ms('page')}; the editor's way from the page to the extension ${ms('editor')} (from an empty view ${middle(editors).toFixed(1)} ms); relay ${ms('host')}; gRPC and hub ${ms('hub')}; hub -> server ${ms('server')}`,
    );
    act.prints(`page, relay, gRPC, hub and server together, all but the editor's way: ${ms('own')}`);
    // The rest is the editor's own way from a view to its extension, which an empty view takes, too.
    assert.ok(of('own') <= 2, ms('own'));
  },
  { alone: true },
);

scenario(
  'the view is filled within 1.5 s of its opening (median of 5 windows)',
  async (act) => {
    const ours = [];
    const empty = [];
    for (let round = 0; round < 6; round++) {
      const window = await act.open(act.workspace());
      const bare = await window.timeEmptyView();
      const start = performance.now();
      const page = await window.openSideBar();
      await page.server('demo').waitFor();
      const filled = performance.now() - start;
      await window.close();
      if (round === 0) continue; // the first round fills the browser's caches
      ours.push(filled);
      empty.push(bare);
    }
    act.prints(
      `click on the view's icon -> the servers are there: median ${middle(ours).toFixed(0)} ms of 5; an empty view: ${middle(empty).toFixed(0)} ms`,
    );
    assert.ok(middle(ours) <= 1_500);
  },
  { alone: true },
);

scenario(
  'a result of 64 MiB opens in the editor and holds up neither the page nor the extension host for 50 ms (medians of 5)',
  async (act) => {
    const workspace = act.workspace();
    const window = await act.open(workspace);
    const page = await window.openSideBar();
    await page.call('demo', 'big', { bytes: (64 << 20) - 1000 });
    await page.ended('big', /done/i).click();
    const { frame } = await window.tab();
    const link = frame.getByTestId('result').getByRole('link', { name: 'Open result in editor' });
    await link.waitFor();
    await frame.locator('html').evaluate((html) => {
      new PerformanceObserver((list) => {
        const longest = Math.max(
          Number(html.dataset['longest'] ?? 0),
          ...list.getEntries().map(({ duration }) => duration),
        );
        html.dataset['longest'] = String(longest);
      }).observe({ type: 'longtask' }); // of 50 ms and more
    });
    const [watched, told] = [join(workspace.folder, 'loop.watched'), join(workspace.folder, 'loop.json')];
    const hosts = [];
    const pages = [];
    const opened = [];
    for (let round = 0; round < 5; round++) {
      await frame.locator('html').evaluate((html) => void (html.dataset['longest'] = '0'));
      await window.runCommand('Other: Watch the Loop');
      await until('the loop is watched', () => existsSync(watched));
      const start = performance.now();
      await link.click();
      await window.page.locator('.tabs-container .tab.active').filter({ hasText: 'demo-big-result' }).waitFor();
      opened.push(performance.now() - start);
      await window.runCommand('Other: Watch the Loop');
      const loop = await until('the loop was watched', () => readJson(readFileSync(told, 'utf8')));
      hosts.push(/** @type {{ max: number }} */ (loop).max);
      pages.push(Number(await frame.locator('html').getAttribute('data-longest')));
      rmSync(watched);
      rmSync(told);
      await window.runCommand('View: Close Editor'); // the page's tab is below it
    }
    const ms = (/** @type {number[]} */ numbers) =>
      `median ${middle(numbers).toFixed(0)} ms, worst ${Math.max(...numbers).toFixed(0)} ms`;
    act.prints(`Open in Editor of 64 MiB -> its tab is there: ${ms(opened)}`);
    act.prints(
      `longest hold-up of the extension host meanwhile: ${ms(hosts)}; of the page (0: none of 50 ms): ${ms(pages)}`,
    );
    assert.ok(middle(hosts) <= 50 && middle(pages) <= 50);
  },
  { alone: true },
);

play();

/** @param {number[]} numbers */
function middle(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? NaN;
}

/**
 * Milliseconds since 1970, with the fraction that Date drops.
 *
 * @param {string} time RFC 3339 with up to nine decimals, as Go writes it
 */
function instant(time) {
  const fraction = /\.(\d+)/.exec(time)?.[1] ?? '';
  return Date.parse(time.replace(/\.\d+/, '')) + Number(`0.${fraction || 0}`) * 1_000;
}
