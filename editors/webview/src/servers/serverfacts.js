// What there is to read of a server and of its config entry.

import { disclosure, facts, prose } from '../questions/cardparts.js';
import { h } from '../elements/dom.js';
import { placeLink } from '../surface.js';
import { bytes, clockTime, shortName, visible } from '../words/text.js';

/** @typedef {import('../../../host/src/gen/mcphub/v1/server_pb.js').ServerJson} Server */
/** @typedef {import('../../../host/src/gen/mcphub/v1/server_pb.js').ConfigProblemJson} ConfigProblem */
/** @typedef {import('../surface.js').Surface} Surface */

/** @type {Record<string, string>} */
const words = {
  SERVER_TRANSPORT_STDIO: 'process',
  SERVER_TRANSPORT_HTTP: 'Streamable HTTP',
  SERVER_TRANSPORT_SSE: 'HTTP with SSE',
  ERA_LEGACY: 'legacy',
  ERA_MODERN: 'modern',
  SIGN_IN_STATE_NEEDED: 'required',
  SIGN_IN_STATE_ASKING: 'under way',
  SIGN_IN_STATE_SIGNED_IN: 'signed in',
  LAUNCH_CONSENT_NEEDED: 'you will be asked before it starts',
  LAUNCH_CONSENT_ASKING: 'you are being asked',
  LAUNCH_CONSENT_GIVEN: 'given',
  LAUNCH_CONSENT_DECLINED: 'declined; Start asks again',
};
/** @type {Record<string, string>} */
const counted = {
  lateResponses: 'responses after a cancel',
  unknownResponses: 'responses to unknown requests',
  badLines: 'invalid lines',
  unknownCancels: 'cancels of unknown requests',
  malformedCancels: 'malformed cancels',
  suppressedResponses: 'answers to withdrawn questions, not sent',
  droppedNotifications: 'dropped notifications',
};

/** @param {Surface} surface @param {Server} server */
export function serverFacts(surface, server) {
  const counters = Object.entries(server.counters ?? {})
    .filter(([name, n]) => counted[name] && Number(n) > 0)
    .map(([name, n]) => `${n} ${counted[name]}`);
  const list = (/** @type {unknown[]} */ parts) => parts.filter(Boolean).join(' · ');
  return h(
    'div',
    {},
    facts([
      ['Name and version', list([shortName(server.title), shortName(server.version)])],
      ['Protocol', list([server.protocolRevision && visible(server.protocolRevision), words[server.era ?? '']])],
      [
        'Connection',
        list([
          words[server.transport ?? ''],
          visible(server.url || server.command),
          server.processId && `pid ${server.processId}`,
        ]),
      ],
      ['Running since', clockTime(server.readyTime)],
      ['Last error', visible(server.lastError)],
      ['Last exit', visible(server.lastExit)],
      ['Sign-in', words[server.signIn ?? '']],
      [
        'Questions',
        server.questionsMuted && 'silenced: declined without asking you, until the server is restarted by hand',
      ],
      ['Launch consent', words[server.launchConsent ?? '']],
      ['Config file', placeLink(surface, server.configFile, server.configLine)],
      ['Config format', list([server.configDialect, server.configScope])],
      [
        'Waiting for your consent',
        (server.waitingForConsent ?? []).map((s) => h('div', {}, placeLink(surface, s.file, s.line))),
      ],
      ['Overrides', (server.shadows ?? []).map((s) => h('div', {}, placeLink(surface, s.file, s.line)))],
      ['Memory limit', Number(server.memoryLimitBytes ?? 0) > 0 && bytes(server.memoryLimitBytes ?? 0)],
      ['Unexpected messages', counters.join(', ')],
    ]),
    server.instructions && disclosure('Instructions for a model', () => [h('div', {}, prose(server.instructions))]),
  );
}

/** @param {Surface} surface @param {readonly ConfigProblem[]} problems */
export function problemLines(surface, problems) {
  return problems.map((problem) =>
    h(
      'p',
      { class: problem.fatal ? 'problem' : 'warning' },
      h('strong', { text: problem.fatal ? 'Error: ' : 'Warning: ' }),
      visible([problem.key, problem.message].filter(Boolean).join(': ')),
      ' ',
      placeLink(surface, problem.file, problem.line),
    ),
  );
}
