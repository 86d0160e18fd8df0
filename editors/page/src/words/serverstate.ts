// What is said of the state of a server. Only what is not the normal state is said in a list.

import { serverStateWord as wordOf } from '../../../host/src/serverwords.js';
import { duration, visible } from './text.js';
import { t } from './t.js';
import type { ServerJson as Server } from '../../../host/src/gen/mcphub/v1/server_pb.js';

/** Reports whether a server cannot do its work because of a fault. */
export const hasFailed = ({ state }: Server) =>
  state === 'SERVER_STATE_FAILED' || state === 'SERVER_STATE_GIVEN_UP' || state === 'SERVER_STATE_BROKEN';

/** @param now milliseconds since 1970, by the hub's clock */
export function serverStateWords(server: Server, now: number): string {
  const { state = 'SERVER_STATE_UNSPECIFIED', nextStartTime, signIn, launchConsent } = server;
  const parts = [];
  if (signIn === 'SIGN_IN_STATE_NEEDED') parts.push(t('Sign-in needed'));
  else if (signIn === 'SIGN_IN_STATE_ASKING') parts.push(t('Signing in'));
  else if (launchConsent === 'LAUNCH_CONSENT_DECLINED') parts.push(t('Start declined'));
  else if (hasFailed(server) && server.lastExit) parts.push(t('Stopped: {0}', visible(server.lastExit)));
  else parts.push(serverStateWord(state));
  if (nextStartTime) {
    const left = Math.max(0, Math.ceil((Date.parse(nextStartTime) - now) / 1000) * 1000);
    parts.push(t('next start in {0}', duration(left)));
  }
  if (server.questionsMuted) parts.push(t('questions are silenced'));
  if (server.waitingForConsent?.length) parts.push(t('another entry waits for your consent'));
  return parts.join(' · ');
}

/** Returns what a list says beside the name of a server: nothing, if it is ready and nothing else is to be known. */
export function unusualState(server: Server, now: number): string {
  const text = serverStateWords(server, now);
  return text === serverStateWord('SERVER_STATE_READY')
    ? ''
    : text.replace(`${serverStateWord('SERVER_STATE_READY')} · `, '');
}

/** Returns the word for a state alone. */
export const serverStateWord = (state: Server['state']) => wordOf(state, { t });
