// The cards that open a page in the outside browser: for a server's URL, and for a sign-in. They show where the address
// really leads.
import { h } from '../elements/dom.js';
import { asked, block, exact, facts, lines, quiet } from './cardparts.js';
import { shortName, visible } from '../words/text.js';
import { t } from '../words/t.js';
import type { Kind, Kit } from './cardparts.js';
import type { ElicitationUrlJson, SignInJson } from '../../../host/src/gen/mcphub/v1/prompt_pb.js';

/**
 * Returns how a browser would read an address, with warnings about what is unusual in it.
 * @param hubHost the host as the hub reads it
 */
export function aboutUrl(text: string, hubHost?: string) {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return { host: '', opens: false, warnings: [t('This is no address that a browser could open.')] };
  }
  const name = url.hostname;
  const opens = url.protocol === 'https:' || url.protocol === 'http:';
  const local = /^((.*\.)?localhost\.?|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[::1?\]|\[::ffff:7f[\da-f]{2}:[\da-f]+\])$/.test(
    name,
  );
  const warnings: (string | false)[] = [
    !opens && t('It is no web page but “{0}”: it is not opened.', url.protocol),
    opens
      && url.protocol !== 'https:'
      && !local
      && t('It is not encrypted (no https): others can read and change it on its way.'),
    name.split('.').some((label) => label.startsWith('xn--'))
      && t('Its name has letters that can look like others (xn--).'),
    (url.username !== '' || url.password !== '')
      && t('The user name before “@” says nothing about where it leads: to {0}.', name),
    local && t('It leads to a program on this computer, which may be that of another user.'),
    url.port !== '' && t('It leads to the port {0}.', url.port),
    /^(\[.*\]|\d+\.\d+\.\d+\.\d+)$/.test(name) && t('It leads to a number (an IP address) and not to a name.'),
    hubHost !== undefined
      && hubHost !== ''
      && ![url.host, name].includes(hubHost.toLowerCase())
      && t('Programs read this address differently: as {0}, too.', visible(hubHost)),
  ];
  return { host: name, opens, warnings: warnings.filter((one) => one !== false) };
}

function pageCard(
  ask: { url?: string; urlHost?: string; waiting?: boolean },
  kit: Kit,
  words: Pick<Kind, 'title' | 'body'> & { stop: string },
): Kind {
  const address = ask.url ?? '';
  const { host, opens, warnings } = aboutUrl(address, ask.urlHost);
  return {
    title: words.title,
    body: [
      ...words.body,
      host && h('p', { class: 'host exact', text: visible(host) }),
      warnings.length
        ? h(
            'ul',
            { 'class': 'warning', 'aria-label': t('Warnings') },
            ...warnings.map((text) => h('li', { text: visible(text) })),
          )
        : undefined,
      block(t('Address'), address),
      ask.waiting && quiet(t('The page was opened in your browser. Go on here when you have finished there.')),
    ],
    accept: ask.waiting
      ? { text: t('I have finished'), content: () => ({}) }
      : opens
        ? {
            text: t('Open in browser'),
            content: () => ({}),
            ...(kit.surface.opensUrls ? { opens: address } : {}),
          }
        : undefined,
    decline: ask.waiting ? t('Stop') : words.stop,
  };
}

export function urlCard(ask: ElicitationUrlJson, kit: Kit) {
  const { title, whole } = asked(ask.message, ask.waiting ? t('Finish on the page') : t('Open a page?'));
  return pageCard(ask, kit, { title, body: [whole], stop: t('Decline') });
}

export const signInCard = (ask: SignInJson, server: string, kit: Kit) =>
  pageCard(ask, kit, {
    title: ask.waiting ? t('Finish signing in to {0}', shortName(server)) : t('Sign in to {0}?', shortName(server)),
    body: [
      facts([
        [t('Issued by'), ask.issuer && exact(ask.issuer)],
        [t('For'), ask.resource && exact(ask.resource)],
        [t('Asks for'), lines(ask.scopes)],
      ]),
    ],
    stop: t('Do not sign in'),
  });
