// What is known of a request that did not come to its end by itself, in one or two sentences.

import { duration, originWord, visible } from '../words/text.js';
import { number, t } from '../words/t.js';
import type { LateAnswerJson } from '../../../host/src/gen/mcphub/v1/request_pb.js';
import type { Ended } from './ended.js';

/** Returns what has become of a request, and whether its server knows. It changes when more is known. */
export function truthOf({ outcome, cancelled }: Ended): string {
  if (outcome === 'lost') return t('McpHub ended while it ran. Whether the server has carried it out is not known.');
  return [endOf(outcome, cancelled), toldOf(cancelled)].filter(Boolean).join(' ');
}

function endOf(outcome: Ended['outcome'], cancelled: Ended['cancelled']): string {
  const { origin, reason } = cancelled?.cancellation ?? {};
  const why = visible(reason);
  if (outcome === 'timed-out') return why ? t('Timed out: {0}.', why) : t('Timed out.');
  if (origin === 'ORIGIN_PARENT') return `${t('The call ended first')}.`;
  if (origin === 'ORIGIN_USER') return why ? t('Cancelled: {0}.', why) : t('Cancelled.');
  const who = originWord(origin);
  return why ? t('Cancelled by {0}: {1}.', who, why) : t('Cancelled by {0}.', who);
}

function answeredOf({ after = '', isError }: LateAnswerJson): string {
  const seconds = Math.max(parseFloat(after) || 0, 0.1); // what is sooner would be said to be 0 s
  const later = seconds < 9.95 ? `${number(seconds)} s` : duration(seconds * 1000);
  return isError
    ? t('The server answered {0} later, with an error.', later)
    : t('The server answered {0} later; its result was dropped.', later);
}

/** Returns what the server has answered since or, as long as it has not, whether it knows of the cancel. */
export function toldOf(cancelled: Ended['cancelled']): string {
  if (cancelled?.lateAnswer) return answeredOf(cancelled.lateAnswer);
  switch (cancelled?.delivery ?? (cancelled?.serverNotified ? 'CANCEL_DELIVERY_DELIVERED' : undefined)) {
    case 'CANCEL_DELIVERY_DELIVERED':
      return cancelled?.serverMayContinue
        ? t('The server was told; it may still be working.')
        : t('The server was told.');
    case 'CANCEL_DELIVERY_PENDING':
      return t('The server is being told.');
    case 'CANCEL_DELIVERY_FAILED':
      return t('The server could not be told: {0}.', visible(cancelled?.deliveryError));
    case 'CANCEL_DELIVERY_NOT_NEEDED':
      return t('The server had nothing to stop.');
    default:
      return '';
  }
}
