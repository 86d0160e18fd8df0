// What a person does with a server of the list, and with what it offers.

/** @typedef {import('./pagetest.js').Opened} Opened */

/** Opens a server from the list. @param {Opened} opened @param {string} [name] */
export async function openServer({ by, settle }, name = 'files') {
  await by(`server-${name}`).getByRole('button').first().click();
  await settle();
  await settle();
}

/** Opens a tool, of a server that is open. @param {Opened} opened @param {string} name */
export async function openTool({ by, settle }, name) {
  await by(`tool-${name}`).getByRole('button').first().click();
  await settle();
}

/**
 * Chooses an action from the menu of a server: of its row, or where the lists are not in view, of its page.
 * @param {Opened} opened
 * @param {string} server
 * @param {string} action test id
 */
export async function choose({ by, page, settle }, server, action) {
  const row = by(`server-${server}`);
  const place = (await row.isVisible()) ? row : page.locator('#opened');
  if (await row.isVisible()) await row.hover();
  await place.getByTestId('more').click();
  await place.getByTestId(action).click();
  await settle();
}
