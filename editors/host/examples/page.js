export function showPage(hub, port, workspace) {
  const page = {
    post: (message) => port.postMessage(message),
    onMessage: (listener) => {
      port.on('message', listener);
      return () => port.off('message', listener);
    },
  };
  const relay = hub.relay(page, { hello: (hello) => ({ ...hello, title: 'side bar', roots: [{ uri: workspace }] }) });
  port.once('close', () => relay.dispose());
  return relay;
}
