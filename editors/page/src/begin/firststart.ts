// What a new user sees while there are no servers: a box for what the instructions of a server say, and the demo. It
// depends only on the present state and disappears with the first server. Nothing is stored, and it never asks again.

import { html, render } from 'lit-html';
import { likeliestFile } from '../adding/writing.js';
import { h, setText, show } from '../elements/dom.js';
import { copyButton } from '../elements/icon.js';
import { byId } from '../page.js';
import { commandLink } from '../surface.js';
import { visible } from '../words/text.js';
import { t } from '../words/t.js';
import type { Page } from '../page.js';
import type { Surface } from '../surface.js';

export const firstStart = (page: Page): { element: HTMLElement; box: HTMLElement; update: () => void } =>
  new FirstStart(page);

class FirstStart {
  readonly element = h('div', {
    'class': 'first',
    'role': 'group',
    'aria-labelledby': 'first-title',
    'hidden': true,
    'dataset': { testid: 'first-start' },
  });
  /** Takes the focus. */
  readonly box: HTMLElement;
  readonly #page: Page;
  readonly #problem = h('p', { class: 'problem', role: 'alert' });
  #begunByPaste = false;
  readonly #text = h('textarea', {
    'rows': 2,
    'class': 'code',
    'aria-label': t('Command, URL or config'),
    'placeholder': t('npx -y @modelcontextprotocol/server-everything'),
    'autocomplete': 'off',
    'spellcheck': 'false',
    'dataset': { testid: 'first-command' },
    'onpaste': () => {
      this.#begunByPaste = this.#text.value.trim() === '';
    },
    // What is pasted into the empty box is the whole of it: the form shows it, and can be left.
    'oninput': () => {
      if (this.#begunByPaste) this.#continue();
      this.#begunByPaste = false;
    },
    'onkeydown': (event: KeyboardEvent) => {
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing || event.repeat) return;
      event.preventDefault();
      this.#continue();
    },
  });

  constructor(page: Page) {
    this.#page = page;
    const { configWrites } = page.surface;
    this.box = configWrites ? this.#text : this.element;
    render(
      html`<h2 id="first-title">${t('Connect your first MCP server')}</h2>
        ${configWrites ? this.#paste() : typed('mcphub config add NAME -- COMMAND')} ${this.#problem}
        <p class="quiet">
          ${t('Just looking?')} ${demoLink(page, (text) => setText(this.#problem, text))}
          ${t('It has a slow call that you can cancel, and a question that it withdraws.')}
        </p>
        ${elsewhere(page.surface)}`,
      this.element,
    );
  }

  /** Is called when the servers have changed. */
  update() {
    const { surface, state } = this.#page;
    const empty = state.hubId !== '' && state.servers.size === 0;
    const begins = empty && this.element.hidden;
    show(this.element, empty);
    byId('main').toggleAttribute('data-alone', empty);
    if (!empty) setText(this.#problem, '');
    // With the command in the clipboard, the box is the only thing that is needed.
    if (begins && surface.configWrites && document.activeElement === document.body)
      this.box.focus({ preventScroll: true });
  }

  #continue() {
    const text = this.#text.value;
    setText(this.#problem, text.trim() === '' ? t('Paste a command, a URL or a config first.') : '');
    if (text.trim() === '') this.#text.focus();
    else this.#page.adding?.openAddForm({ text });
  }

  #paste() {
    const find = () => this.#page.adding?.openAddForm({ way: 'registry' });
    return html`<p class="quiet">${t('Paste a command, a URL, or an entry of another editor’s config.')}</p>
      ${this.#text}
      <div class="buttons">
        <button class="primary" data-testid="first-continue" @click=${() => this.#continue()}>${t('Continue')}</button>
        <button class="plain" data-testid="first-registry" @click=${find}>${t('Find in the registry')}</button>
      </div>`;
  }
}

/** Returns where else servers can come from: config files, and what is said of them. */
function elsewhere(surface: Surface) {
  const links = [
    commandLink(surface, 'mcphub.createConfig', [], t('Open or create a config file')),
    commandLink(surface, 'mcphub.getStarted', [], t('Open the walkthrough')),
  ].filter((link) => link !== undefined);
  return html`${links.length > 0 ? html`<p class="links">${links}</p>` : ''}
  ${
    surface.kind === 'web'
      ? html`<p class="quiet">
            ${t('McpHub also reads the config files of VS Code, Claude, Cursor, Codex and others. To list them:')}
          </p>
          ${typed('mcphub config places')}`
      : ''
  }`;
}

/**
 * Returns what adds the demo server: in an editor a link, in a browser a button, or else the command for a terminal.
 */
function demoLink({ surface, call }: Page, say: (text: string) => void) {
  const { demo } = surface;
  const text = t('Try the demo server');
  const link = commandLink(surface, 'mcphub.addDemoServer', [], text);
  link?.setAttribute('data-testid', 'add-demo');
  if (link) return link;
  if (!demo?.entryJson) return typed('mcphub demo --web');
  return h('button', {
    class: 'plain',
    text,
    dataset: { testid: 'add-demo' },
    onclick: async () => {
      say('');
      const { response } = await call('ListConfigFiles', {});
      const configFile = likeliestFile(response?.files ?? [])?.path ?? '';
      const { error } = await call('AddServer', { server: demo.server, entryJson: demo.entryJson ?? '', configFile });
      const start = error ?? (await call('StartServer', { server: demo.server })).error;
      say(visible(start?.message));
    },
  });
}

/** Returns a command for the terminal, with a button that copies it. */
const typed = (command: string) =>
  html`<span class="place"
    ><code class="code">${command}</code> ${copyButton(t('Copy {0}', command), () => command)}</span
  >`;
