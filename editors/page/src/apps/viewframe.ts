// The frame of an open view, from the first message to it on: the protocol with the view, its height, the keyboard,
// and what the view is told of the page around it.

import { nativeParse } from '../words/jsontext.js';
import { t } from '../words/t.js';
import { openBridge } from './bridge.js';
import { followContext, hostContext } from './hostcontext.js';
import { KeptKeyboard } from './keyboard.js';
import type { Asked, Bridge } from './bridge.js';
import type { Outer } from './outerframe.js';
import type { Named } from './policy.js';
import type { Resource } from './resource.js';

const leastHeight = 40;
const mostHeight = 1200;
const firstHeight = 240;
/** The shortest time between two changes of the size that a view asks for, in milliseconds. */
const sizePause = 100;

/** The texts for the reasons for which the outer frame or this page ends a view. */
const endings: Record<string, string> = {
  flood: t('It sent too many messages.'),
  size: t('It sent a message that is too long.'),
  navigated: t('It tried to become another page.'),
  keyboard: t('It took the keyboard from what you were doing.'),
};

export interface Framing {
  /** names the view */
  about: string;
  resource: Resource;
  /** of the tool */
  definitionJson: string;
  hubVersion: string;
  asked: Omit<Asked, 'resized'>;
}

export class ViewFrame {
  readonly bridge: Bridge;
  readonly #outer: Outer;
  readonly #ended: Asked['ended'];
  readonly #unfollow: () => void;
  readonly #keyboard: KeptKeyboard;
  #sizeDue = 0;
  #sized = 0;

  /** @param place contains the outer frame */
  constructor(outer: Outer, place: HTMLElement, { about, resource, definitionJson, hubVersion, asked }: Framing) {
    this.#outer = outer;
    this.#ended = asked.ended;
    this.bridge = openBridge({
      send: (message) => outer.send(message),
      hostInfo: { name: 'McpHub', version: hubVersion || '0' },
      capabilities: capabilitiesFor(resource.named),
      context: () => ({
        ...hostContext(place, mostHeight, this.bridge.mode),
        toolInfo: { tool: nativeParse(definitionJson) },
      }),
      asked: { ...asked, resized: (height) => this.#resize(height) },
    });
    outer.listen(
      (data) => this.#hear(data),
      () => this.#endNow('flood'),
    );
    this.#keyboard = new KeptKeyboard(outer.element, t('Use the view of {0}', about), () => this.#endNow('keyboard'));
    place.append(this.#keyboard.cover);
    this.#unfollow = followContext(place, mostHeight, (changed) => this.bridge.contextChanged(changed));
    outer.element.style.setProperty('height', `${firstHeight}px`);
    outer.send({
      jsonrpc: '2.0',
      method: 'ui/notifications/sandbox-resource-ready',
      params: { html: resource.html },
    });
  }

  close() {
    clearTimeout(this.#sizeDue);
    this.#outer.close();
    this.#keyboard.stop();
    this.#unfollow();
  }

  #hear(data: unknown) {
    const { method, params } = (data ?? {}) as { method?: unknown; params?: { reason?: unknown } };
    if (method === 'ui/notifications/sandbox-ended') this.#endFor(params?.reason);
    else this.bridge.receive(data);
  }

  #endFor(reason: unknown) {
    this.#ended(endings[String(reason)] ?? t('It has ended itself.'));
  }

  /** Ends a view that gets no time for it. */
  #endNow(reason: string) {
    this.close();
    this.#endFor(reason);
  }

  #resize(height: number) {
    const bounded = Math.round(Math.min(mostHeight, Math.max(leastHeight, height)));
    clearTimeout(this.#sizeDue);
    const wait = Math.max(0, this.#sized + sizePause - performance.now());
    this.#sizeDue = window.setTimeout(() => {
      this.#sized = performance.now();
      this.#outer.element.style.setProperty('height', `${bounded}px`);
    }, wait);
  }
}

const capabilitiesFor = ({ domains }: Named) => ({
  openLinks: {},
  serverTools: {},
  serverResources: {},
  logging: {},
  sandbox: {
    permissions: {},
    csp: Object.fromEntries(Object.entries(domains).filter(([, list]) => list.length > 0)),
  },
});
