import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pidOf, stage } from './stage.js';

test(
  'a hub that is stopped by a signal is unresponsive, goes on as it was, and can be ended while it is stopped',
  { skip: process.platform === 'win32' },
  async (t) => {
    const s = stage(t);
    const hub = s.hub({ answerTimeoutMs: 300, stopTimeoutMs: 1000, restart: false });
    await hub.start();
    const window = hub.window({ title: 'test' });
    const changes: boolean[] = [];
    let wake = (): void => {};
    hub.onResponsive((responsive) => {
      changes.push(responsive);
      wake();
    });
    const becomes = async (responsive: boolean): Promise<void> => {
      while (hub.responsive !== responsive) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    };
    process.kill(pidOf(hub), 'SIGSTOP');
    const asked = hub.requests.getInfo({}); // so that the test need not wait five seconds for the next question
    await becomes(false);
    assert.equal(hub.state, 'ready');
    process.kill(pidOf(hub), 'SIGCONT');
    await becomes(true);
    assert.equal((await asked).processId, hub.processId);
    for await (const { event } of window) {
      if (event.case === 'snapshot') {
        break;
      }
    }
    process.kill(pidOf(hub), 'SIGSTOP');
    await becomes(false);
    await hub.stop();
    assert.deepEqual([hub.state, hub.responsive], ['stopped', true]);
    assert.equal(changes.at(-1), false);
  },
);
