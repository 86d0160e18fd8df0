// How much memory ended requests take in the page after garbage collection. Time is not measured.

import assert from 'node:assert/strict';
import { pageTest } from '../harness/pagetest.js';
import { finished, request, server } from '../harness/world.js';

const most = 10 << 20;

pageTest(
  'after 1,000 requests the heap of the page has grown by at most 10 MB',
  { snapshot: { servers: [server('files')] }, realTime: true },
  async ({ hub, page, settle }) => {
    const session = await page.context().newCDPSession(page);
    const heap = async () => {
      await session.send('HeapProfiler.collectGarbage');
      return (await session.send('Runtime.getHeapUsage')).usedSize;
    };
    /** @param {string} run @param {number} count */
    const requests = async (run, count) => {
      for (let i = 0; i < count; i++) {
        const id = `${run}-${i}`;
        const argumentsPreview = `path: "/repos/shop/orders-${i}.csv", depth: ${i}`;
        const title = 'Read a file';
        await hub.say({ mcpRequestStarted: { request: request(id, { title, argumentsPreview }) } });
        const { finished: end } = finished(id, { title, argumentsPreview, resultSizeBytes: '2000' });
        await hub.say({ mcpRequestFinished: end ?? {} });
      }
      await settle();
    };
    await requests('first', 50);
    const before = await heap();
    await requests('then', 1000);
    const grown = (await heap()) - before;
    console.log(`heap of the page: ${(grown / (1 << 20)).toFixed(2)} MB more after 1,000 requests`);
    assert.equal(await page.locator('#running li').count(), 0);
    assert.ok(grown <= most, `${grown} bytes`);
  },
);
