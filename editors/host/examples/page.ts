// A page in an iframe, a webview or another process gets a window of the hub: it speaks proto3 JSON, see
// docs/protocol.md, and holds no secret.
import type { MessagePort } from 'node:worker_threads';
import type { AttachResponseJson, Hub, Relay } from '@mcphub/host';

export function showPage(hub: Hub, port: MessagePort, workspace: string): Relay {
  const page = {
    post: (message: AttachResponseJson) => port.postMessage(message),
    onMessage: (listener: (message: unknown) => void) => {
      port.on('message', listener);
      return () => port.off('message', listener);
    },
  };
  const relay = hub.relay(page, { hello: (hello) => ({ ...hello, title: 'side bar', roots: [{ uri: workspace }] }) });
  port.once('close', () => relay.dispose());
  return relay;
}
