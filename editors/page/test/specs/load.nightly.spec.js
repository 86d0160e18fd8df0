// 100 progress events a second for 5 s, with 200 requests. The test checks how often the page paints and how much it
// changes, not how fast the machine is.

import assert from 'node:assert/strict';
import { pageTest } from '../harness/pagetest.js';
import { finished, request, server } from '../harness/world.js';

/**
 * @typedef {object} Figures
 * @property {number} paints bursts of changes
 * @property {number} mutations
 * @property {number} added nodes added or removed
 * @property {number} frames
 * @property {number} extra bursts beyond one a frame
 * @property {number} seconds
 * @property {number} moved rows that were touched
 * @property {string[]} touched what was, by its name
 */

const requests = Array.from({ length: 200 }, (_, index) => request(`r-${index}`, { tool: `crawl_${index}` }));
const history = Array.from({ length: 1000 }, (_, index) => finished(`h-${index}`, {}, index - 1000));

pageTest(
  '100 progress events a second with 200 requests: one paint a frame at most, and only what has changed is touched',
  { snapshot: { servers: [server('files')], requests, history }, realTime: true },
  async ({ by, page, settle }) => {
    await by('request-r-199').waitFor();
    const session = await page.context().newCDPSession(page);
    await session.send('Performance.enable');
    /** @param {string} name */
    const metric = async (name) =>
      (await session.send('Performance.getMetrics')).metrics.find((one) => one.name === name)?.value ?? 0;
    const before = {
      script: await metric('ScriptDuration'),
      layout: await metric('LayoutDuration'),
      layouts: await metric('LayoutCount'),
      nodes: await metric('Nodes'),
    };
    const figures = await page.evaluate(
      /** @returns {Promise<Figures>} */ () =>
        new Promise((resolve) => {
          let paints = 0;
          let mutations = 0;
          let added = 0;
          let frames = 0;
          /** @type {Set<string>} */
          const touched = new Set();
          // All callbacks of a frame run before the next frame, and a microtask of the observer runs after each: so the
          // observer counts the bursts of changes.
          let lastFrame = -1;
          const observer = new MutationObserver((records) => {
            mutations += records.length;
            for (const record of records) {
              added += record.addedNodes.length + record.removedNodes.length;
              const element = record.target instanceof Element ? record.target : record.target.parentElement;
              touched.add(
                element?.closest('[data-testid^="request-"]')?.getAttribute('data-testid')
                  ?? element?.closest('[data-testid], section, header')?.id
                  ?? 'elsewhere',
              );
            }
            if (lastFrame === frames) extra++;
            lastFrame = frames;
            paints++;
          });
          let extra = 0;
          observer.observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
          const countFrames = () => {
            frames++;
            running = requestAnimationFrame(countFrames);
          };
          let running = requestAnimationFrame(countFrames);
          let sent = 0;
          const started = performance.now();
          // Only ten requests have progress. The other rows must not change.
          const timer = setInterval(() => {
            const due = Math.min(500, Math.floor((performance.now() - started) / 10));
            for (; sent < due; sent++) {
              const requestId = `r-${sent % 10}`;
              window.postMessage(
                {
                  time: new Date().toISOString(),
                  mcpRequestProgressed: {
                    requestId,
                    server: 'files',
                    state: 'REQUEST_STATE_RUNNING',
                    progress: { progress: sent, total: 500, message: `page ${sent}` },
                  },
                },
                '*',
              );
            }
            if (sent === 500) {
              clearInterval(timer);
              requestAnimationFrame(() =>
                requestAnimationFrame(() =>
                  requestAnimationFrame(() => {
                    observer.disconnect();
                    cancelAnimationFrame(running);
                    resolve({
                      paints,
                      mutations,
                      added,
                      frames,
                      extra,
                      seconds: (performance.now() - started) / 1000,
                      moved: [...touched].filter((id) => /^request-r-\d$/.test(id)).length,
                      touched: [...touched].sort(),
                    });
                  }),
                ),
              );
            }
          }, 10);
        }),
    );
    await settle();
    const script = (await metric('ScriptDuration')) - before.script;
    console.log(
      `100 events/s for ${figures.seconds.toFixed(1)} s: ${figures.frames} frames, ${figures.paints} paints, ${figures.mutations} changes, ${figures.added} nodes added or removed; `
        + `scripting ${(script * 1000).toFixed(0)} ms (${((script * 1000) / Math.max(1, figures.paints)).toFixed(2)} ms a paint), layout ${(((await metric('LayoutDuration')) - before.layout) * 1000).toFixed(0)} ms in ${(await metric('LayoutCount')) - before.layouts}`,
    );
    assert.match(await by('request-r-9').innerText(), /page 499/, 'the newest progress is shown');
    assert.ok(figures.paints <= figures.frames + 2, `${figures.paints} bursts of changes in ${figures.frames} frames`);
    assert.ok(figures.mutations <= 500 * 6 + 200 * 6 * 2, `${figures.mutations} changes for 500 events`);
    assert.ok(figures.added <= 1_500, `${figures.added} nodes were added or removed: rows are patched, not built anew`);
    assert.equal(figures.moved, 10, 'the ten that moved were painted');
    assert.ok((await metric('Nodes')) < before.nodes * 1.5 + 500, 'no nodes pile up');
  },
);

pageTest(
  'a burst of 2,000 events in one turn is one paint',
  { snapshot: { servers: [server('files')], requests: requests.slice(0, 5) }, realTime: true },
  async ({ by, page }) => {
    await by('request-r-4').waitFor();
    const bursts = await page.evaluate(
      /** @returns {Promise<number>} */ () =>
        new Promise((resolve) => {
          let bursts = 0;
          let done = false;
          const observer = new MutationObserver(() => {
            bursts++;
            if (done) return;
            if (document.body.innerText.includes('step 1999')) {
              done = true;
              requestAnimationFrame(() =>
                requestAnimationFrame(() => {
                  observer.disconnect();
                  resolve(bursts);
                }),
              );
            }
          });
          observer.observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
          for (let index = 0; index < 2000; index++) {
            window.dispatchEvent(
              new MessageEvent('message', {
                data: {
                  time: new Date().toISOString(),
                  mcpRequestProgressed: {
                    requestId: `r-${index % 5}`,
                    server: 'files',
                    state: 'REQUEST_STATE_RUNNING',
                    progress: { progress: index, total: 2000, message: `step ${index}` },
                  },
                },
                origin: location.origin,
                source: window,
              }),
            );
          }
        }),
    );
    assert.ok(bursts <= 3, `${bursts} bursts of changes`);
  },
);
