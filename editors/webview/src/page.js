// What every section of the page is given, and what the page wants of it.

/** @typedef {import('../../host/src/gen/mcphub/v1/editor_pb.js').ReplyJson} Reply */
/** @typedef {import('../../host/src/gen/mcphub/v1/request_pb.js').HubErrorJson} HubError */

/**
 * @typedef {object} Page
 * @property {import('./surface.js').Surface} surface
 * @property {import('./hub/state.js').State} state
 * @property {import('./hub/stream.js').Stream['ask']} ask
 * @property {Pick<import('./hub/stream.js').Stream, 'draft' | 'keepDraft' | 'dismissed'>} drafts
 * @property {typeof import('./elements/announce.js').announce} announce
 * @property {(server: string, uri: string, on: boolean) => void} subscribed notes what the hub has replied to an order
 * to subscribe or unsubscribe
 * @property {(promptId: string) => void} reveal brings the card of a question into view
 * @property {Views['offer']} offerView
 * @property {import('./adding/proposal.js').Adding} [adding] where the host lets the page change config files
 */

/**
 * A tool call whose tool has a view (MCP Apps).
 * @typedef {{ requestId: string, server: string, tool: string, title: string, uri: string, definitionJson: string }} ViewOf
 */

/**
 * @typedef {object} Views
 * @property {(call: Pick<import('../../host/src/gen/mcphub/v1/request_pb.js').RequestJson,
 * 'requestId' | 'server' | 'tool' | 'method'>) => HTMLElement} offer a button that opens the view of a call
 */

/**
 * @typedef {object} Section
 * @property {(changed: import('./hub/state.js').Changed) => void} paint
 * @property {() => boolean} [ticks] something of it shows how long it takes
 * @property {() => void} [tick] a second has passed
 */

/**
 * Writes how many there are behind a section's heading.
 * @param {string} section id
 * @param {number} count
 */
export function setCount(section, count) {
  const place = document.querySelector(`#${section}-title .count`);
  if (place && place.textContent !== String(count || '')) place.textContent = String(count || '');
}

/** The element of page.html with this id. @param {string} id @returns {HTMLElement} */
export function byId(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`page.html has no element with the id ${id}`);
  return element;
}
