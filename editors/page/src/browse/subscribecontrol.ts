// The button that subscribes this window to a resource, and unsubscribes it.

import { h, setAttribute, setText, show } from '../elements/dom.js';
import { subscribedTo } from '../hub/subscribed.js';
import { shortName, visible } from '../words/text.js';
import { t } from '../words/t.js';
import type { Page } from '../page.js';

export interface SubscribeControl {
  button: HTMLElement;
  problem: HTMLElement;
  /** uri: the resource that the button is for from now on, '' for none */
  update: (uri?: string) => void;
}

/** Returns what is known of a resource that this window is subscribed to; '' for others. */
export function subscriptionWords({ state }: Page, server: string, uri: string) {
  const subscribed = subscribedTo(state.subscriptions, server, uri);
  if (!subscribed) return '';
  if (!subscribed.changed) return t('Subscribed');
  return subscribed.sure ? t('● Changed since you read it') : t('● May have changed since you read it');
}

/** @param offered the server takes subscriptions */
export function subscribeControl(page: Page, server: string, uri: string, offered: () => boolean): SubscribeControl {
  let of = uri;
  let busy = false;
  const problem = h('p', { class: 'problem', role: 'alert' });
  const button = h('button', {
    class: 'secondary',
    dataset: { testid: 'subscribe' },
    onclick: () => void turn(),
  });
  const subscribed = () => subscribedTo(page.state.subscriptions, server, of);

  async function turn() {
    if (busy) return;
    const [mine, on] = [of, subscribed() === undefined];
    busy = true;
    update();
    const { error } = await page.call(on ? 'SubscribeResource' : 'UnsubscribeResource', { server, uri: mine });
    busy = false;
    if (!error) page.subscribed(server, mine, on);
    setText(problem, visible(error?.message));
    if (!error) page.announce(on ? t('Subscribed') : t('Unsubscribed'));
    update();
  }

  function update(next: string = of) {
    of = next;
    const verb = subscribed() ? t('Unsubscribe') : t('Subscribe');
    setText(button, verb);
    setAttribute(button, 'aria-label', `${verb}: ${shortName(of)}`);
    setAttribute(button, 'aria-disabled', busy ? 'true' : undefined);
    show(button, of !== '' && (offered() || subscribed() !== undefined));
  }
  update();
  return { button, problem, update };
}
