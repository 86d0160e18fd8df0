// What people can choose for a question that is asked outside the page.
import type { ApprovalScope } from '@mcphub/host';

/** What a click chooses. Later: the question stays open, in the view and in the status bar. */
export type Choice =
  | { readonly kind: 'accept'; readonly scope: ApprovalScope; readonly launchHash?: string }
  | { readonly kind: 'decline' }
  | { readonly kind: 'dismiss' }
  | { readonly kind: 'open' }
  | { readonly kind: 'later' };

export interface ChoiceItem {
  readonly label: string;
  readonly detail?: string;
  readonly choice: Choice;
}
