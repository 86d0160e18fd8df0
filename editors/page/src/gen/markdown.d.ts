/** A token of markdown-it. */
export interface Token {
  readonly type: string;
  readonly tag: string;
  readonly nesting: 1 | 0 | -1;
  readonly attrs: readonly (readonly [name: string, value: string])[] | null;
  readonly content: string;
  readonly info: string;
  readonly hidden: boolean;
  readonly children: readonly Token[] | null;
}

/** The blocks of a text; a throw is a fault of the parser. */
export function parse(text: string): readonly Token[];
