// What a person must see before a server is started or connected to. The card of the page and the dialog of the
// extension draw the same facts. Like visible.ts it is part of the page, and imports only types.
import type { LaunchVariableJson, ServerLaunchJson } from './gen/mcphub/v1/prompt_pb.js';
import type { Translator } from './serverwords.js';

/** The names and values are as the hub sent them: whoever draws them makes them visible. */
export interface LaunchFact {
  readonly label: string;
  readonly values: readonly string[];
}

/** The part of a ServerLaunch that the facts are made of. Its message, its JSON and the question of the API all fit. */
export type Launch = Unchanging<Omit<ServerLaunchJson, 'changes' | 'writtenBy'>> & {
  readonly writtenBy?: { readonly name?: string } | undefined;
};

type Unchanging<T> = { readonly [K in keyof T]: T[K] extends (infer E)[] | undefined ? readonly E[] : T[K] };

/** Returns whose entry it is, in one sentence. */
export function launchOrigin({ writtenBy }: Launch, l10n: Translator): string {
  return writtenBy === undefined
    ? l10n.t('A file of this workspace brings this server. Once started, it can do what you can do.')
    : l10n.t(
        'The program “{0}” wrote the entry of this server into a config file. Once started, it can do what you can do.',
        writtenBy.name ?? '',
      );
}

/** Returns the variables that can make the program load other code than its name suggests. They need a warning. */
export function loadsCode({ environment = [] }: Launch, l10n: Translator): string[] {
  return environment.filter((variable) => variable.loadsCode).map((variable) => setting(variable, l10n));
}

/** Returns the facts that hold, without the command, the address and the place of the entry, which stand apart. */
export function launchFacts(launch: Launch, l10n: Translator): LaunchFact[] {
  const one = (text = ''): string[] => (text === '' ? [] : [text]);
  const unresolved = one(launch.unresolved).map((text) => l10n.t('Not known: {0}', text));
  return [
    {
      label: l10n.t('Runs the program'),
      values: [...one(launch.resolvedCommand), ...one(launch.resolvedTarget), ...unresolved],
    },
    { label: l10n.t('Found in'), values: one(launch.resolvedFrom) },
    { label: l10n.t('Folder'), values: one(launch.directory) },
    { label: l10n.t('Sets variables'), values: settings(launch, l10n) },
    { label: l10n.t('Would see your variables'), values: launch.environmentReferences ?? [] },
    { label: l10n.t('Inherits your settings'), values: launch.inheritedNames ?? [] },
    { label: l10n.t('Would see the inputs'), values: launch.inputReferences ?? [] },
    { label: l10n.t('Variables from the file'), values: one(launch.envFile) },
    { label: l10n.t('That file sets'), values: launch.envFileNames ?? [] },
    { label: l10n.t('Sends headers'), values: launch.headerNames ?? [] },
    { label: l10n.t('Reads the files'), values: launch.files ?? [] },
    { label: l10n.t('Wants to call without asking'), values: launch.allowedTools ?? [] },
  ].filter(({ values }) => values.length > 0);
}

/**
 * Returns the variables that the file sets, without those of loadsCode. If the hub has sent only the name of a
 * variable, it comes without a value.
 */
function settings({ environment = [], environmentNames = [] }: Launch, l10n: Translator): string[] {
  const told = new Set(environment.map(({ name }) => name));
  return [
    ...environment.filter((variable) => !variable.loadsCode).map((variable) => setting(variable, l10n)),
    ...environmentNames.filter((name) => !told.has(name)),
  ];
}

const setting = ({ name = '', value = '', unset = false }: LaunchVariableJson, l10n: Translator): string =>
  unset ? l10n.t('{0} (removed)', name) : `${name}=${value}`;
