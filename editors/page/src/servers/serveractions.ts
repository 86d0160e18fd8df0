// What can be done with a server, as its state is.

import { plural, t } from '../words/t.js';
import type { ServerJson as Server } from '../../../host/src/gen/mcphub/v1/server_pb.js';
import type { Page, Reply } from '../page.js';

export interface Action {
  label: string;
  testid: string;
  /** the state asks for it; icon: it is shown beside the menu; otherwise it is in the menu */
  place?: 'primary' | 'icon';
  /** returns the question that is asked first if running calls would end */
  loses?: (calls: number) => string;
  /** opens a form, or asks the hub */
  act: (page: Page, server: string) => Promise<Reply> | undefined;
}

// An entry of the workspace counts only after the consent of the user. The question shows what it would run.
const review: Action = {
  label: t('Review the workspace’s entry'),
  testid: 'review-entry',
  act: (page, server) => page.call('StartServer', { server, workspaceEntry: true }),
};
const signIn: Action = {
  label: t('Sign in'),
  testid: 'sign-in',
  place: 'primary',
  act: (page, server) => page.call('SignIn', { server }),
};
const start: Action = {
  label: t('Start'),
  testid: 'start-server',
  place: 'primary',
  act: (page, server) => page.call('StartServer', { server }),
};
const startAnyway: Action = { label: start.label, testid: start.testid, act: start.act };
const stop: Action = {
  label: t('Stop'),
  testid: 'stop-server',
  place: 'icon',
  loses: (n) => plural(n, 'Stop, which cancels {0} request?', 'Stop, which cancels {0} requests?'),
  act: (page, server) => page.call('StopServer', { server }),
};
const restart: Action = {
  label: t('Restart'),
  testid: 'restart-server',
  loses: (n) => plural(n, 'Restart, which cancels {0} request?', 'Restart, which cancels {0} requests?'),
  act: (page, server) => page.call('RestartServer', { server }),
};
const allowQuestions: Action = {
  label: t('Allow questions'),
  testid: 'allow-questions',
  act: (page, server) => page.call('MuteServer', { server, muted: false }),
};
const signOut: Action = {
  label: t('Sign out'),
  testid: 'sign-out',
  loses: (n) => plural(n, 'Sign out, which cancels {0} request?', 'Sign out, which cancels {0} requests?'),
  act: (page, server) => page.call('SignOut', { server }),
};
const enable: Action = {
  label: t('Enable'),
  testid: 'enable-server',
  act: (page, server) => page.call('SetServerEnabled', { server, enabled: true }),
};
const disable: Action = {
  label: t('Disable'),
  testid: 'disable-server',
  loses: (n) => plural(n, 'Disable, which cancels {0} request?', 'Disable, which cancels {0} requests?'),
  act: (page, server) => page.call('SetServerEnabled', { server, enabled: false }),
};
// These are for entries of files. An entry in a text that the host has passed to the hub cannot be written.
const edit: Action = {
  label: t('Edit…'),
  testid: 'edit-entry',
  act: (page, server) => {
    page.adding?.openEditForm(server);
    return undefined;
  },
};
const remove: Action = {
  label: t('Remove…'),
  testid: 'remove-entry',
  act: (page, server) => {
    page.adding?.openRemove(server);
    return undefined;
  },
};

/** @param writes the page may change config files */
export function actionsOf(server: Server, writes: boolean): Action[] {
  const { state, signIn: signedIn } = server;
  const ends = state === 'SERVER_STATE_STOPPED' || state === 'SERVER_STATE_FAILED' || state === 'SERVER_STATE_GIVEN_UP';
  const runs = state === 'SERVER_STATE_READY' || state === 'SERVER_STATE_CONNECTING';
  const off = state === 'SERVER_STATE_DISABLED';
  const needed = signedIn === 'SIGN_IN_STATE_NEEDED';
  const all: (Action | false)[] = [
    needed && signIn,
    ends && (needed ? startAnyway : start),
    runs && stop,
    runs && restart,
    (server.waitingForConsent?.length ?? 0) > 0 && review,
    server.questionsMuted === true && allowQuestions,
    signedIn === 'SIGN_IN_STATE_SIGNED_IN' && signOut,
    off && enable,
    !off && state !== 'SERVER_STATE_BROKEN' && disable,
    writes && edit,
    writes && remove,
  ];
  return all.filter((one) => one !== false);
}
