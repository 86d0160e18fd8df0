// Which model answers a server's request for sampling. The page shows it before the user agrees, and the extension runs
// it. Like visible.ts it is part of the page, and has no imports.

export interface ModelName {
  readonly id: string;
  readonly name: string;
  readonly family: string;
}

/**
 * Returns the first model that a hint names, else the first model. An exact match takes precedence over a name that
 * contains the hint.
 */
export function chooseModel<M extends ModelName>(models: readonly M[], hints: readonly string[]): M | undefined {
  const names = ({ id, family, name }: M): string[] => [id, family, name].map((one) => one.toLowerCase());
  for (const hint of hints.filter((one) => one !== '')) {
    const wanted = hint.toLowerCase();
    const found =
      models.find(({ id }) => id === hint)
      ?? models.find((model) => names(model).includes(wanted))
      ?? models.find((model) => names(model).some((one) => one.includes(wanted)));
    if (found !== undefined) {
      return found;
    }
  }
  return models[0];
}
