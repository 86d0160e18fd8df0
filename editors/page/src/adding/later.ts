// Adds, changes and removes servers, as soon as their forms are loaded: most visits of the page need none.

import { t } from '../words/t.js';
import type { Page } from '../page.js';
import type { Forms, ServerList } from './adding.js';
import type { Adding } from './proposal.js';

export function addingLater(page: Page, list: ServerList): Adding & { promptsChanged: () => void } {
  let here: Forms | undefined;
  let loading: Promise<Forms> | undefined;

  function then(act: (forms: Forms) => void) {
    if (here) {
      act(here);
      return;
    }
    loading ??= import('./adding.js').then((part) => (here = new part.Forms(page, list)));
    loading.then(act, () => {
      loading = undefined; // the next click tries again
      page.announce(t('The forms for servers could not be loaded.'), 'assertive');
    });
  }
  return {
    openAddForm: (proposal) => then((forms) => forms.openAddForm(proposal)),
    openEditForm: (server) => then((forms) => forms.openEditForm(server)),
    openRemove: (server) => then((forms) => forms.openRemove(server)),
    wrote: (write, did) => then((forms) => forms.wrote(write, did)),
    promptsChanged: () => here?.promptsChanged(),
  };
}
