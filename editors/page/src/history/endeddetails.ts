// The details of an ended request: everything that the page knows of it.

import { facts, fullName } from '../questions/cardparts.js';
import { h, replace, setText } from '../elements/dom.js';
import { outcomeText } from '../hub/ended.js';
import { byWhom, cancelWords } from '../running/requestwords.js';
import { againButton, argumentsPart, errorData, reportAction, resultPart } from '../results/endedparts.js';
import { commandLink } from '../surface.js';
import { confirmButton } from '../running/stopcontrol.js';
import { clockTime, durationOf, shortName, visible } from '../words/text.js';
import { timeline } from './timeline.js';
import { plural, t } from '../words/t.js';
import type { Ended } from '../hub/ended.js';
import type { Page } from '../page.js';

/** @param resultFirst where a person has just made the request: the result stands before the other facts */
export function endedDetails(page: Page, entry: Ended, resultFirst: boolean = false): HTMLElement {
  const { about, cancelled, finished, outcome } = entry;
  const { surface, state, call } = page;
  const end = cancelled ?? finished;
  const error = end && 'hubError' in end ? end.hubError : cancelled?.error;
  const mcpError = finished?.mcpError;
  const mayContinue = end?.serverMayContinue ?? false;
  const problem = h('p', { class: 'problem', role: 'alert' });
  const say = (text: string) => setText(problem, text);
  const server = about.server ?? '';
  const open = () => [...state.requests.values()].filter((r) => r.server === server).length;
  const restart =
    mayContinue
    && state.servers.has(server)
    && confirmButton({
      label: t('Restart server'),
      about: shortName(server),
      testid: 'restart-server',
      question: () =>
        open()
          ? plural(open(), 'Restart, which cancels {0} request of it?', 'Restart, which cancels {0} requests of it?')
          : '',
      act: async () => {
        const { error: refusal } = await call('RestartServer', { server });
        problem.textContent = visible(refusal?.message);
      },
    });
  const trace = h('div', { class: 'trace' });
  const showTrace = h('button', {
    class: 'link',
    text: t('Show the timeline'),
    onclick: async () => {
      const read = await call('GetTrace', { requestId: entry.requestId, maxTraces: 1 });
      replace(
        trace,
        read.error
          ? h('p', { class: 'problem', text: visible(read.error.message) })
          : timeline(read.response?.traces?.[0]),
      );
    },
  });

  const known = h(
    'div',
    {},
    facts([
      [t('Outcome'), outcomeText(entry)],
      [t('Server'), fullName(server)],
      [t('Tool'), about.tool && fullName(about.tool)],
      [t('About'), about.subject && fullName(about.subject)],
      [t('For'), about.caller && fullName(about.caller)],
      [t('Arguments'), about.argumentsPreview && visible(about.argumentsPreview)],
      [t('Cancelled'), cancelled && byWhom(cancelled.cancellation)],
      [t('The server'), cancelled && cancelWords(cancelled)],
      [
        t('The server'),
        !cancelled && mayContinue && t('It may go on all the same: work and side effects cannot be ruled out.'),
      ],
      [
        t('The hub'),
        outcome === 'lost' && t('It ended while this was open. Whether the server has carried it out is not known.'),
      ],
      [t('Started'), about.startTime && clockTime(about.startTime)],
      [t('Ended'), clockTime(entry.endTime)],
      [t('Waited before'), took(end?.timings?.queued)],
      [t('Server worked'), took(end?.timings?.active)],
      [t('Waited for people'), took(end?.timings?.human)],
      [
        t('Task'),
        about.task && visible([about.task.taskId, about.task.status, about.task.message].filter(Boolean).join(' · ')),
      ],
      [t('Error'), error && `${visible(error.message)} (${[error.code, error.reason].filter(Boolean).join(', ')})`],
      [t('Error of the server'), mcpError && `${visible(mcpError.message)} (${mcpError.code ?? 0})`],
    ]),
    mcpError?.dataJson && errorData(mcpError.dataJson),
    argumentsPart(page, entry),
  );
  const folded = resultFirst && outcome === 'done';
  return h(
    'div',
    { class: 'ended-details' },
    !folded && known,
    resultPart(page, entry),
    folded && h('details', {}, h('summary', { text: t('About this request') }), known),
    h(
      'div',
      { class: 'actions' },
      restart,
      !entry.earlier && page.offerView({ ...about, requestId: entry.requestId }),
      againButton(page, entry, say),
      !entry.earlier && showTrace,
      !entry.earlier
        && commandLink(surface, 'mcphub.showTrace', [entry.requestId], t('Open the timeline as a document')),
      reportAction(page, entry, say),
    ),
    problem,
    trace,
  );
}

/** Returns a duration, or false if it is too short to be shown. */
const took = (time: string | undefined) => parseFloat(time ?? '0') >= 0.05 && durationOf(time);
