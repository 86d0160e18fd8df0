// The details of an ended request: how it ended and what is known of that first, then what can be done, what it
// brought, what it was given, and the facts behind one disclosure.

import { html, nothing, render } from 'lit-html';
import { facts, fullName } from '../questions/cardparts.js';
import { alertLine, h, replace, setText } from '../elements/dom.js';
import { icon } from '../elements/icon.js';
import { menuButton } from '../elements/menu.js';
import { againButton, argumentsPart, errorData, reportItem, resultPart } from '../results/endedparts.js';
import { commandLink } from '../surface.js';
import { restartButton } from '../now/cancelcontrol.js';
import { requestsOf } from '../hub/requestwords.js';
import { exactTime } from '../words/ago.js';
import { dotted, durationOf, visible } from '../words/text.js';
import { endWords, moreWords, outcomeIcons } from './endwords.js';
import { timeline } from './timeline.js';
import { plural, t } from '../words/t.js';
import type { MenuItem } from '../elements/menu.js';
import type { Ended } from '../hub/ended.js';
import type { Page } from '../page.js';

export interface EndedView {
  element: HTMLElement;
  /** shows what is known now of the same end; what is folded and focused stays so */
  update: (now: Ended) => void;
}

/** @param fresh a person has just made the request here: its arguments are above, and it is made again there */
export function endedView(page: Page, entry: Ended, fresh: boolean = false): EndedView {
  const element = h('div', { class: 'ended-details', dataset: { testid: 'ended-details' } });
  const problem = alertLine();
  const say = (text: string) => setText(problem, text);
  const trace = h('div', { class: 'trace' });
  const showTrace = () => void traceInto(page, entry, trace);
  const result = resultPart(page, entry, say);
  const given = fresh ? undefined : argumentsPart(page, entry, say);
  const items = (): MenuItem[] => [
    ...(result?.items() ?? []),
    ...(given?.items() ?? []),
    ...(fresh && !entry.earlier ? [{ text: t('Show timeline'), act: showTrace }] : []),
    ...timelineItem(page, entry),
    ...reportItem(page, entry, say),
  ];
  const more = items().length > 0 && menuButton('more', t('More actions'), items, 'ended-more').element;
  const buttons = [
    !fresh && againButton(page, entry, say),
    !fresh && !entry.earlier && h('button', { text: t('Show timeline'), onclick: showTrace }),
    restartFor(page, entry, say),
    !entry.earlier && page.offerView({ ...entry.about, requestId: entry.requestId }),
  ].filter((one) => one instanceof HTMLElement);
  const rest = h(
    'details',
    { dataset: { testid: 'facts' } },
    h('summary', { text: t('Details') }),
    factsOf(entry),
    entry.finished?.mcpError?.dataJson && errorData(entry.finished.mcpError.dataJson),
  );
  let mark = icon(outcomeIcons[entry.outcome]);

  function update(now: Ended) {
    const told = moreWords(now);
    if (now.outcome !== entry.outcome) mark = icon(outcomeIcons[now.outcome]);
    render(
      html`<div class="status" data-state=${now.outcome}>
          ${mark}<span class="grow one-end" dir="auto">${endWords(now)}</span
          >${result?.copy ?? nothing}${more || nothing}
        </div>
        ${told === '' ? nothing : html`<p class="told quiet">${told}</p>`}
        ${buttons.length > 0 ? html`<div class="buttons">${buttons}</div>` : nothing}
        ${problem}${trace}${result?.element ?? nothing}${given?.element ?? nothing}${rest}`,
      element,
    );
  }

  update(entry);
  return { element, update };
}

/** Returns the details of a request that a person has just made, to be placed below the button that made it. */
export const endedDetails = (page: Page, entry: Ended, fresh: boolean = false): HTMLElement =>
  endedView(page, entry, fresh).element;

async function traceInto({ call }: Page, { requestId }: Ended, place: HTMLElement) {
  const { error, response } = await call('GetTrace', { requestId, maxTraces: 1 });
  replace(place, error ? h('p', { class: 'problem', text: visible(error.message) }) : timeline(response?.traces?.[0]));
}

function timelineItem({ surface }: Page, { earlier, requestId }: Ended): MenuItem[] {
  const href = commandLink(surface, 'mcphub.showTrace', [requestId], '')?.getAttribute('href');
  return href && !earlier ? [{ text: t('Open timeline as document'), href }] : [];
}

/** Returns a button for a server that may go on with what nobody waits for any more. */
function restartFor(page: Page, { about, cancelled, finished }: Ended, say: (text: string) => void) {
  const { server = '' } = about;
  if (!(cancelled ?? finished)?.serverMayContinue || !page.state.servers.has(server)) return undefined;
  const question = () => {
    const open = requestsOf(page.state.requests, server).length;
    return open === 0
      ? ''
      : plural(open, 'Restart, which cancels {0} request of it?', 'Restart, which cancels {0} requests of it?');
  };
  return restartButton(page, server, question, say);
}

function factsOf(entry: Ended) {
  const { about, cancelled, finished } = entry;
  const end = cancelled ?? finished;
  const error = finished?.hubError ?? cancelled?.error;
  const task = about.task && dotted(about.task.taskId, about.task.status, about.task.message);
  return facts([
    [t('Server'), fullName(about.server)],
    [t('Tool'), about.tool && fullName(about.tool)],
    [t('About'), about.subject && fullName(about.subject)],
    [t('For'), about.caller && fullName(about.caller)],
    [t('Started'), about.startTime && exactTime(about.startTime)],
    [t('Ended'), exactTime(entry.endTime)],
    [t('Waited'), took(end?.timings?.queued)],
    [t('The server worked'), took(end?.timings?.active)],
    [t('You were asked'), took(end?.timings?.human)],
    [t('Task'), visible(task)],
    [
      t('Error'),
      error && `${visible(error.message)} (${[...new Set([error.code, error.reason])].filter(Boolean).join(', ')})`,
    ],
    [
      t('Error of the server'),
      finished?.mcpError && `${visible(finished.mcpError.message)} (${finished.mcpError.code ?? 0})`,
    ],
  ]);
}

/** Returns a duration, or false if it is too short to be shown. */
const took = (time: string | undefined) => parseFloat(time ?? '0') >= 0.05 && durationOf(time);
