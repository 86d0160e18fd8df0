// The surface: what a host tells the page about the place where it is shown. It stands in data-surface of page.html.

/** A model that the host could run for sampling. */
export interface Model {
  readonly id: string;
  readonly name: string;
  readonly family: string;
}

/** The demo server that a host can add. */
export interface Demo {
  /** name of the server */
  readonly server: string;
  /** its config file, if the host itself passes the server to the hub */
  readonly file?: string;
  /** its command, if the server is an entry of a config file */
  readonly command?: string;
  /** the entry that adds the server to a config file */
  readonly entryJson?: string;
}

export interface Surface {
  /**
   * How messages go: "vscode": by acquireVsCodeApi of a webview; "frame": to the page around the frame, which
   * showFrame connects; "web": over a WebSocket to the server of the page.
   */
  readonly kind: 'vscode' | 'frame' | 'web';
  /** The part of the page that is shown: all (the default), what is live, or one thing that is opened. */
  readonly shows?: 'all' | 'now' | 'opened';
  /** The page opens URLs itself. Otherwise its host does. */
  readonly opensUrls?: boolean;
  /** Path of the WebSocket. Default: "/stream". */
  readonly socket?: string;
  /** Name of the model that the host runs for sampling. */
  readonly model?: string;
  /** The models that the host could run, its own choice first. */
  readonly models?: readonly Model[];
  /**
   * URLs of the outer frame of views. Each has an origin of its own. They are tried in turn. Without any URL there are
   * no views.
   */
  readonly apps?: readonly string[];
  /** Commands of the host that links may run. */
  readonly commands?: readonly string[];
  /** The page may change config files. */
  readonly configWrites?: boolean;
  /** Language of the host (BCP 47). Without it the languages of the browser count. */
  readonly language?: string;
  readonly demo?: Demo;
}
