// A page in an iframe, a webview or another process gets a window of the hub: it speaks proto3 JSON, see
// docs/protocol.md, and holds no secret.
import type { MessagePort } from 'node:worker_threads';
import type { OwnedHub, Page } from '@mcphub/host';

export function showPage(hub: OwnedHub, port: MessagePort): Page {
  const page = hub.showPage(
    {
      post: (message) => port.postMessage(message),
      onMessage: (listener) => {
        port.on('message', listener);
        return () => port.off('message', listener);
      },
    },
    { title: 'side bar' },
  );
  port.once('close', () => page.dispose());
  return page;
}
