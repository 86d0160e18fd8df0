// The choices for a prompt that is shown outside the page.
import type { ApprovalScope } from '@mcphub/host/contract';

/** The effect of a click. later: the prompt stays open, in the view and in the status bar. */
export type Choice =
  | { readonly kind: 'accept'; readonly scope: ApprovalScope; readonly launchHash?: string }
  | { readonly kind: 'decline' }
  | { readonly kind: 'open' }
  | { readonly kind: 'later' };

export interface ChoiceItem {
  readonly label: string;
  readonly detail?: string;
  readonly choice: Choice;
}
