// Indents a JSON text that may come in pieces, without reading its values: numbers, spellings and the order of keys
// stay unchanged, and a text that is no JSON keeps all its characters except blanks. Nesting that is deeper than a
// person can follow is not indented further. The VS Code extension imports this file, too.

const deepest = 50;
export class Indenter {
  #depth = 0;
  #inString = false;
  #escaped = false;
  #opened = false; // a container was opened, and none of its content has come
  #blanks: number;

  /**
   * @param mostBlanks of all indentation. Without a bound, a text with nesting at every character would need far more
   * blanks than it has characters.
   */
  constructor(mostBlanks: number = 16 << 20) {
    this.#blanks = mostBlanks;
  }

  /** Returns the next piece, indented. */
  add(piece: string): string {
    let out = '';
    let from = 0; // start of a run that is copied unchanged
    for (let at = 0; at < piece.length; at++) {
      const char = piece.charCodeAt(at);
      if (this.#inString) {
        if (this.#escaped) {
          this.#escaped = false;
        } else if (char === 0x5c) {
          this.#escaped = true;
        } else if (char === 0x22) {
          this.#inString = false;
        }
        continue;
      }
      if (char === 0x20 || char === 0x0a || char === 0x0d || char === 0x09) {
        out += piece.slice(from, at);
        from = at + 1;
        continue;
      }
      const closes = char === 0x7d || char === 0x5d;
      if (this.#opened && !closes) {
        out += piece.slice(from, at) + this.#line();
        from = at;
      }
      if (closes) {
        this.#depth = Math.max(0, this.#depth - 1);
        out += piece.slice(from, at) + (this.#opened ? '' : this.#line());
        from = at;
      }
      this.#opened = char === 0x7b || char === 0x5b;
      if (this.#opened) {
        this.#depth++;
      } else if (char === 0x22) {
        this.#inString = true;
      } else if (char === 0x2c) {
        out += piece.slice(from, at + 1) + this.#line();
        from = at + 1;
      } else if (char === 0x3a) {
        out += `${piece.slice(from, at + 1)} `;
        from = at + 1;
      }
    }
    return out + piece.slice(from);
  }

  #line(): string {
    const blanks = this.#blanks > 0 ? 2 * Math.min(this.#depth, deepest) : 0;
    this.#blanks -= blanks;
    return `\n${' '.repeat(blanks)}`;
  }
}
