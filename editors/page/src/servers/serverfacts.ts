// The facts about a server and its config entry.

import { disclosure, facts, prose } from '../questions/cardparts.js';
import { h } from '../elements/dom.js';
import { placeLink } from '../surface.js';
import { clockTime, dotted, shortName, visible } from '../words/text.js';
import { plural, t } from '../words/t.js';
import type {
  ConfigProblemJson as ConfigProblem,
  ServerJson as Server,
} from '../../../host/src/gen/mcphub/v1/server_pb.js';
import type { Surface } from '../surface.js';

const words: Record<string, string> = {
  SERVER_TRANSPORT_STDIO: t('process'),
  SERVER_TRANSPORT_HTTP: t('Streamable HTTP'),
  SERVER_TRANSPORT_SSE: t('HTTP with SSE'),
  ERA_LEGACY: t('legacy'),
  ERA_MODERN: t('modern'),
  SIGN_IN_STATE_NEEDED: t('required'),
  SIGN_IN_STATE_ASKING: t('under way'),
  SIGN_IN_STATE_SIGNED_IN: t('signed in'),
  LAUNCH_CONSENT_NEEDED: t('you will be asked before it starts'),
  LAUNCH_CONSENT_ASKING: t('you are being asked'),
  LAUNCH_CONSENT_GIVEN: t('given'),
  LAUNCH_CONSENT_DECLINED: t('declined; Start asks again'),
};
const counted: Record<string, (count: number) => string> = {
  lateResponses: (n) => plural(n, '{0} response after a cancel', '{0} responses after a cancel'),
  unknownResponses: (n) => plural(n, '{0} response to unknown requests', '{0} responses to unknown requests'),
  badLines: (n) => plural(n, '{0} invalid line', '{0} invalid lines'),
  unknownCancels: (n) => plural(n, '{0} cancel of unknown requests', '{0} cancels of unknown requests'),
  malformedCancels: (n) => plural(n, '{0} malformed cancel', '{0} malformed cancels'),
  suppressedResponses: (n) =>
    plural(n, '{0} answer to a withdrawn question, not sent', '{0} answers to withdrawn questions, not sent'),
  droppedNotifications: (n) => plural(n, '{0} dropped notification', '{0} dropped notifications'),
};

export function serverFacts(surface: Surface, server: Server) {
  const counters = Object.entries(server.counters ?? {})
    .filter(([, n]) => Number(n) > 0)
    .flatMap(([name, n]) => counted[name]?.(Number(n)) ?? []);
  return h(
    'div',
    {},
    facts([
      [t('Name and version'), dotted(shortName(server.title), shortName(server.version))],
      [t('Protocol'), dotted(server.protocolRevision && visible(server.protocolRevision), words[server.era ?? ''])],
      [
        t('Connection'),
        dotted(
          words[server.transport ?? ''],
          visible(server.url || server.command),
          server.processId && `pid ${server.processId}`,
        ),
      ],
      [t('Running since'), clockTime(server.readyTime)],
      [t('Last error'), visible(server.lastError)],
      [t('Last exit'), visible(server.lastExit)],
      [t('Sign-in'), words[server.signIn ?? '']],
      [
        t('Questions'),
        server.questionsMuted && t('silenced: declined without asking you, until the server is restarted by hand'),
      ],
      [t('Launch consent'), words[server.launchConsent ?? '']],
      [
        t('Name in the config'),
        server.configName !== server.name
          && server.configName
          && t(
            '{0}, which another entry has by itself: calls for {1} reach this one',
            visible(server.configName),
            visible(server.name),
          ),
      ],
      [t('Config file'), placeLink(surface, server.configFile, server.configLine)],
      [t('Config format'), dotted(server.configDialect, server.configScope)],
      [
        t('Waiting for your consent'),
        (server.waitingForConsent ?? []).map((s) => h('div', {}, placeLink(surface, s.file, s.line))),
      ],
      [t('Overrides'), (server.shadows ?? []).map((s) => h('div', {}, placeLink(surface, s.file, s.line)))],
      [t('Unexpected messages'), counters.join(', ')],
    ]),
    server.instructions && disclosure(t('Instructions for a model'), () => [h('div', {}, prose(server.instructions))]),
  );
}

export function problemLines(surface: Surface, problems: readonly ConfigProblem[]) {
  return problems.map((problem) =>
    h(
      'p',
      { class: problem.fatal ? 'problem' : 'warning' },
      h('strong', { text: problem.fatal ? t('Error:') : t('Warning:') }),
      ' ',
      visible([problem.key, problem.message].filter(Boolean).join(': ')),
      ' ',
      placeLink(surface, problem.file, problem.line),
    ),
  );
}
