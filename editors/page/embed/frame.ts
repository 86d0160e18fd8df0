// Shows the page in a frame, for hosts whose own user interface is a page: Electron, or a browser. It runs there.

/** The way to the program that has the hub: over ipcRenderer, a MessagePort or a socket. It must keep the order. */
export interface FramePort {
  /** Hands a message of the page to the program, whose connectPage gets it. */
  post(message: unknown): void;
  /** Registers the listener for messages to the page. The returned function unregisters it. */
  onMessage(listener: (message: unknown) => void): () => void;
}

// Without allow-same-origin the page has no origin: what it shows can reach neither the page around it nor its data.
const allowed = ['allow-scripts', 'allow-downloads', 'allow-popups', 'allow-popups-to-escape-sandbox'];

/**
 * Adds a frame with the page to an element, and returns what removes it. The page is at `address`, filled by `pageHtml`
 * with the surface `{ kind: 'frame' }`. The port must be connected when this is called: the page says hello at once.
 */
export function showFrame(element: Element, address: string, port: FramePort): () => void {
  const frame = document.createElement('iframe');
  frame.title = 'McpHub';
  frame.sandbox.add(...allowed);
  frame.allow = 'clipboard-write';
  frame.src = address;
  const heard = ({ source, data }: MessageEvent): void => {
    if (source !== null && source === frame.contentWindow) {
      port.post(data);
    }
  };
  window.addEventListener('message', heard);
  // What has no origin can be named by no other target. The page leads its own frame nowhere else.
  const unregister = port.onMessage((message) => frame.contentWindow?.postMessage(message, '*'));
  element.append(frame);
  return () => {
    unregister();
    window.removeEventListener('message', heard);
    frame.remove();
  };
}
