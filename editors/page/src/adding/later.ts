// Adds, changes and removes servers, as soon as their forms are loaded: most visits of the page need none.

import { t } from '../words/t.js';
import type { Page } from '../page.js';
import type { ServerList, adding } from './adding.js';
import type { Adding } from './proposal.js';

export function addingLater(page: Page, list: ServerList): Adding & { promptsChanged: () => void } {
  let here: ReturnType<typeof adding> | undefined;
  let loading: Promise<ReturnType<typeof adding>> | undefined;

  function then(act: (made: ReturnType<typeof adding>) => void) {
    if (here) {
      act(here);
      return;
    }
    loading ??= import('./adding.js').then((part) => (here = part.adding(page, list)));
    loading.then(act, () => {
      loading = undefined; // the next click tries again
      page.announce(t('The forms for servers could not be loaded.'), 'assertive');
    });
  }
  return {
    openAddForm: (proposal) => then((made) => made.openAddForm(proposal)),
    openEditForm: (server) => then((made) => made.openEditForm(server)),
    openRemove: (server) => then((made) => made.openRemove(server)),
    wrote: (write, did) => then((made) => made.wrote(write, did)),
    promptsChanged: () => here?.promptsChanged(),
  };
}
