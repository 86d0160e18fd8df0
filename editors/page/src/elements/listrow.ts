// A row of a list, as in VS Code's trees: a mark, a name, what is known of it, and at the right what is not the normal
// case. It opens what it stands for.

import { html, nothing } from 'lit-html';
import type { TemplateResult } from 'lit-html';

export interface ListRow {
  testid: string;
  /** the key of what the row opens */
  opens: string;
  mark?: TemplateResult | Node | undefined;
  name: string;
  what?: string;
  flag?: string;
  /** the whole text, where the row may cut it */
  title?: string;
  open: () => void;
  /** actions, shown with pointer and focus */
  acts?: Node;
  /** stands below the row */
  below?: Node;
  selected?: boolean;
}

export const listRow = ({ testid, opens, mark, name, what, flag, title, open, acts, below, selected }: ListRow) =>
  html`<li data-testid=${testid}>
    <div class="row ${selected ? 'selected' : ''}">
      <button
        class="open"
        data-opens=${opens}
        aria-current=${selected ? 'true' : nothing}
        title=${title || nothing}
        @click=${open}
      >
        ${mark}<span class="name one-line" dir="auto">${name}</span>
        <span class="what one-line" dir="auto">${what}</span>${flag ? html` <span class="time">${flag}</span>` : ''}
      </button>
      ${acts}
    </div>
    ${below}
  </li>`;
