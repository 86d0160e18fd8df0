// The choice of the config file that an entry is added to. It offers the files that the hub reads and can write, and
// says why the others cannot be chosen.

import { plural, t } from '../words/t.js';
import { h, replace, show } from '../elements/dom.js';
import { labelled } from './field.js';
import { placeLink } from '../surface.js';
import { shortName, visible } from '../words/text.js';
import type { ConfigFileJson as ConfigFile } from '../../../host/src/gen/mcphub/v1/config_pb.js';
import type { Page } from '../page.js';

const scopes: Record<string, string> = { user: t('yours'), workspace: t('of the workspace') };

/**
 * Returns the file that an entry goes to if nobody chooses: the hub's default, or the last writable file, which has
 * precedence.
 */
export function likeliestFile(files: readonly ConfigFile[]) {
  const good = files.filter((file) => !file.notWritable);
  return good.find((file) => file.isDefault) ?? good.at(-1);
}

export function fileChoice({ call, surface }: Page, changed: () => void) {
  const select = h('select', { dataset: { testid: 'adding-file' }, onchange: changed });
  const others = h('ul', { class: 'lines' });
  const why = h('details', { hidden: true }, h('summary', {}), others);
  const field = labelled(t('Config file'), select, { after: why });
  let files: ConfigFile[] = [];

  return {
    ...field,
    get chosen() {
      return files.find((file) => file.path === select.value && !file.notWritable);
    },
    /** Returns the files that have an entry of this name. */
    having: (name: string) => files.filter((file) => file.servers?.includes(name)),
    list: async () => {
      const { error, response } = await call('ListConfigFiles', {});
      const before = select.value;
      files = response?.files ?? [];
      const good = files.filter((file) => !file.notWritable);
      const seen = new Set();
      select.replaceChildren(
        ...good.flatMap((file) => {
          if (seen.has(file.path)) return [];
          seen.add(file.path);
          const notes = [scopes[file.scope ?? ''], file.exists ? '' : t('not there yet')].filter(Boolean).join(', ');
          return [
            h('option', { value: file.path, text: notes ? `${visible(file.path)} (${notes})` : visible(file.path) }),
          ];
        }),
      );
      const first = good.find((file) => file.path === before) ?? likeliestFile(files);
      if (first?.path) select.value = first.path;
      const bad = files.filter((file) => file.notWritable);
      show(why, bad.length > 0);
      replace(
        why.firstElementChild ?? why,
        plural(bad.length, 'Not possible: {0} other file', 'Not possible: {0} other files'),
      );
      replace(
        others,
        ...bad.map((file) => h('li', {}, placeLink(surface, file.path, file.line), ` ${visible(file.notWritable)}`)),
      );
      field.say(
        error
          ? (error.message ?? '')
          : good.length === 0
            ? t(
                'There is no config file that a server can be added to. Make one by hand, or name one in the settings of McpHub.',
              )
            : '',
      );
    },
    /** Returns what is wrong with a name: because of the chosen file (here), or of another one (elsewhere). */
    clash: (name: string) => {
      const having = files.filter((file) => file.servers?.includes(name));
      const here = having.some((file) => file.path === select.value);
      return {
        here: here
          ? t('“{0}” stands in this file already: choose another name, or change that entry.', shortName(name))
          : '',
        elsewhere:
          !here && having[0]
            ? t(
                '{0} has an entry of this name, too. One of them counts: the one of the later file.',
                visible(having[0].path),
              )
            : '',
      };
    },
  };
}
