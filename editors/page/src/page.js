// What every section of the page gets, and the interface that a section implements.

/** @typedef {import('../../host/src/gen/mcphub/v1/request_pb.js').HubErrorJson} HubError */
/** What every reply has. @typedef {Pick<import('./hub/methods.js').Reply, 'error' | 'errorPlace'>} Reply */

/**
 * @typedef {object} Page
 * @property {import('./surface.js').Surface} surface
 * @property {import('./hub/state.js').State} state
 * @property {import('./hub/stream.js').Stream['call']} call
 * @property {import('./hub/stream.js').Stream['ask']} ask
 * @property {Pick<import('./hub/stream.js').Stream, 'draft' | 'keepDraft'>} drafts
 * @property {typeof import('./elements/announce.js').announce} announce
 * @property {(server: string, uri: string, on: boolean) => void} subscribed records the hub's reply to a message that
 * subscribes to a resource or unsubscribes from it
 * @property {(promptId: string) => void} reveal brings the card of a question into view
 * @property {Views['offer']} offerView
 * @property {import('./adding/proposal.js').Adding} [adding] only where the host lets the page change config files
 */

/**
 * A tool call whose tool has a view (MCP Apps).
 * @typedef {{ requestId: string, server: string, tool: string, title: string, uri: string, definitionJson: string }} ViewOf
 */

/**
 * @typedef {object} Views
 * @property {(call: Pick<import('../../host/src/gen/mcphub/v1/request_pb.js').RequestJson,
 * 'requestId' | 'server' | 'tool' | 'method'>) => HTMLElement} offer returns a button that opens the view of a call
 */

/**
 * @typedef {object} Section
 * @property {(changed: import('./hub/state.js').Changed) => void} paint
 * @property {() => boolean} [ticks] reports whether the section shows a running time
 * @property {() => void} [tick] is called every second while ticks of some section reports true
 */

/**
 * Shows a count after the heading of a section. 0 shows nothing.
 * @param {string} section id of the section
 * @param {number} count
 */
export function setCount(section, count) {
  const place = document.querySelector(`#${section}-title .count`);
  if (place && place.textContent !== String(count || '')) place.textContent = String(count || '');
}

/** Returns the element of page.html with this id. Throws without one. @param {string} id @returns {HTMLElement} */
export function byId(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`page.html has no element with the id ${id}`);
  return element;
}
