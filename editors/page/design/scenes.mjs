// Ten scenes of the page as static HTML, to be looked at before they are built. Each returns what stands in <main>.

const paths = {
  add: '<path d="M8 2.5v11M2.5 8h11"/>',
  back: '<path d="M9.5 3.5 5 8l4.5 4.5"/>',
  cancelled: '<circle cx="8" cy="8" r="5.5"/><path d="M4.2 11.8 11.8 4.2"/>',
  check: '<path d="M3 8.5 6.5 12 13 4.5"/>',
  close: '<path d="M4 4l8 8M12 4l-8 8"/>',
  copy: '<path d="M5.5 5.5h7v8h-7zM3.5 10.5v-8h7"/>',
  down: '<path d="M4.5 6.5 8 10l3.5-3.5"/>',
  error: '<circle cx="8" cy="8" r="5.5"/><path d="M6 6l4 4M10 6l-4 4"/>',
  more: '<path class="filled" d="M3 7.2h1.6v1.6H3zM7.2 7.2h1.6v1.6H7.2zM11.4 7.2H13v1.6h-1.6z" stroke="none"/>',
  question: '<circle cx="8" cy="8" r="5.5"/><path d="M6.3 6.3a1.7 1.7 0 1 1 2.4 1.6c-.5.3-.7.6-.7 1.1M8 11v.2"/>',
  redo: '<path d="M12.5 8a4.5 4.5 0 1 1-1.4-3.2M11.5 1.8v3.3H8.2"/>',
  running: '<path d="M8 2.5A5.5 5.5 0 1 1 2.5 8"/>',
  search: '<circle cx="7" cy="7" r="4"/><path d="M10 10l3.5 3.5"/>',
  server: '<path d="M3 3.5h10v3.6H3zM3 8.9h10v3.6H3zM5 5.3h.1M5 10.7h.1"/>',
  start: '<path class="filled" d="M5 3.5v9L12 8z"/>',
  stop: '<path class="filled" d="M4 4h8v8H4z"/>',
  tool: '<path d="M9.8 3.2a3 3 0 0 0-3.7 4L3 10.3 5.7 13l3.1-3.1a3 3 0 0 0 4-3.7L11 8 8 5z"/>',
  undo: '<path d="M5.5 3 3 5.5 5.5 8M3 5.5h6.5a3.5 3.5 0 1 1 0 7H6"/>',
  warning: '<path d="M8 2.5 14 13H2zM8 6.5V10M8 11.6v.1"/>',
  clock: '<circle cx="8" cy="8" r="5.5"/><path d="M8 5v3.3l2 1.4"/>',
};
const icon = (name, more = '') =>
  `<svg class="glyph ${more}" viewBox="0 0 16 16" aria-hidden="true">${paths[name]}</svg>`;
const act = (name, label) => `<button class="icon" aria-label="${label}" title="${label}">${icon(name)}</button>`;
const split = (text, kind = '') =>
  `<span class="split"><button class="${kind}">${text}</button><button class="${kind}" aria-label="More">${icon('down')}</button></span>`;
const now = (...cards) => `<section class="now" aria-label="Now">${cards.join('')}</section>`;

function call({ title, about, time, progress, text, state = '' }) {
  return `<article class="card call"><div class="card-head">${icon('running')}<h3 class="grow one-line">${title}</h3>
    ${state ? `<button aria-disabled="true">${state}</button>` : split('Cancel')}</div>
    <p class="about quiet"><span class="grow one-line">${about}</span><span class="time">${time}</span></p>
    ${text ? `<p class="one-line">${text}</p>` : ''}
    ${progress === undefined ? '' : `<div class="bar"><span style="width:${progress}%"></span></div>`}</article>`;
}
function note({ mark = 'cancelled', title, time, truth, typed = '', pointed = false }) {
  return `<article class="card note ${pointed ? 'pointed' : ''}"><div class="card-head">${icon(mark)}
    <h3 class="grow one-line"><a href="#">${title}</a></h3><span class="time">${time}</span>
    <span class="acts">${typed ? '' : act('redo', 'Call again')}${act('close', 'Dismiss')}</span></div>
    <p class="truth quiet">${truth}</p>${typed ? `<p class="truth"><button class="plain">${typed}</button></p>` : ''}</article>`;
}

const serverRow = (name, what, { mark = 'server', acts = '', selected = false, extra = '' } = {}) =>
  `<li class="row ${extra}" aria-selected="${selected}">${icon(mark)}<span class="name one-line">${name}</span>
   <span class="what one-line">${what}</span>${acts}</li>`;
const servers = (selected = '') => `<section><h2><span class="grow">Servers</span>${act('add', 'Add server')}</h2><ul>
  ${serverRow('files', '', { selected: selected === 'files', extra: 'shown', acts: `<span class="acts">${act('stop', 'Stop')}${act('more', 'More')}</span>` })}
  ${serverRow('github', '', { selected: selected === 'github' })}
  ${serverRow('booking', '')}
  ${serverRow('tickets', 'Sign-in needed', { acts: '<span class="acts always"><button class="plain">Sign in</button></span>' })}
  ${serverRow('metrics', 'Stopped: exit code 1', { mark: 'error', acts: `<span class="acts always"><button class="plain">Start</button></span>` })}
  ${serverRow('reviews', 'Off')}</ul></section>`;

const ended = (
  mark,
  title,
  time,
  second,
) => `<li class="row two">${icon(mark, mark === 'check' ? 'done-mark' : mark === 'error' ? 'bad-mark' : '')}
  <div class="grow"><div class="one-line">${title}</div><div class="second"><span class="one-line">${second}</span></div></div>
  <span class="time">${time}</span></li>`;
const historyRows = [
  ended('cancelled', 'Index folder', '2 min', 'files · Cancelled by you: wrong folder'),
  ended('check', 'Read file', '3 min', 'files · src/orders/total.ts'),
  ended('undo', 'Which plan?', '5 min', 'booking · Withdrawn by the server: seat was sold'),
  ended('error', 'Write file', '7 min', 'files · Denied by you'),
  ended('check', 'Search issues', '12 min', 'github · Claude Code · label:bug'),
  ended('clock', 'Review change', '24 min', 'reviews · Timed out after 10 min'),
  ended('error', 'Create release', '1 h', 'github · The server said: tag exists'),
  ended('check', 'Search issues', '1 h', 'github · Claude Code · label:docs'),
  ended('check', 'Read file', 'yesterday', 'files · README.md'),
];
const history = (n = 5) =>
  `<section><h2><span class="grow">History</span>${act('search', 'Search')}</h2><ul>${historyRows.slice(0, n).join('')}</ul></section>`;

const lists = (selected, n) => `<div class="lists">${servers(selected)}${history(n)}</div>`;
const opened = (title, body, acts = '') =>
  `<section class="opened" aria-label="${title}"><div class="head"><span class="back">${act('back', 'Back')}</span>
   <h3 class="grow one-line">${title}</h3>${acts}</div>${body}</section>`;
const nothing = `<section class="opened empty"><p class="quiet">Select a server, or something that has ended.</p></section>`;

const review = call({
  title: 'Review change',
  about: 'reviews · Claude Code · {"change":"8f31c2"}',
  time: '1:15',
  progress: 25,
  text: 'Reading 12 files',
});

const form = `<article class="card asks"><div><div class="card-head"><h3 class="grow">Who travels on Friday?</h3>${act('more', 'More')}</div>
  <p class="from">booking asks, for Book seats · 6 s</p></div>
  <div class="fields"><div class="field"><label for="n">Full name</label><input id="n" type="text" value="Ada Lovelace"></div>
  <div class="field"><label for="s">Seats</label><input id="s" type="number" value="2"></div>
  <div class="field"><label for="c">Class</label><select id="c"><option>Second</option></select></div>
  <label class="check"><input type="checkbox" checked> Bring a bicycle</label></div>
  <div class="buttons"><button class="primary">Submit</button><button>Decline</button></div></article>`;

const approval = `<article class="card asks danger"><div><div class="card-head"><h3 class="grow">Run Delete branch of github?</h3>${act('more', 'More')}</div>
  <p class="from">Claude Code asks · 12 s</p></div>
  <p class="warning">${icon('warning')}<span>The server says that this tool destroys data and reaches outside this machine.</span></p>
  <dl class="given"><dt>repo</dt><dd class="code">mcphub/site</dd><dt>branch</dt><dd class="code">main</dd><dt>force</dt><dd class="code">true</dd></dl>
  <div class="buttons">${split('Allow once', 'primary')}<button>Deny</button></div></article>`;

const tools = [
  'Read file|Text of a file, whole or in part',
  'Write file|Puts a text in the place of a file|Asks first',
  'Delete file|Removes a file for good|Destructive',
  'List folder|Names, sizes and dates',
  'Search text|Lines that match an expression',
  'Index folder|Prepares a folder for search',
  'Move file|Renames, or moves between folders|Asks first',
  'Watch folder|Tells of changes until it is cancelled',
  'Copy file|',
  'File info|Size, dates, rights',
  'Make folder|',
  'Run formatter|Formats files with the project’s own settings|Asks first',
  'Compare files|Lines that differ',
  'Count lines|',
];
const toolRow = (t) => {
  const [name, what, flag = ''] = t.split('|');
  return `<li class="row"><span class="name one-line">${name}</span><span class="what one-line">${what}</span>${flag ? `<span class="time">${flag}</span>` : ''}</li>`;
};
const server = opened(
  'files',
  `<p class="quiet">Ready · its tools run without asking</p>
  <div class="tabs" role="tablist"><button aria-selected="true">Tools</button><button>Resources</button><button>Prompts</button><button>Log</button></div>
  <div class="search"><input type="search" placeholder="Filter 40 tools"></div><ul>${[...tools, ...tools, ...tools].slice(0, 40).map(toolRow).join('')}</ul>`,
  `${act('stop', 'Stop')}${act('more', 'More')}`,
);

const picture =
  'data:image/svg+xml,'
  + encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg" width="360" height="120"><rect width="360" height="120" fill="#23395d"/><path d="M0 95 60 70 120 82 180 40 240 55 300 20 360 34V120H0z" fill="#7fb2e5"/></svg>',
  );
const result = opened(
  'Search text',
  `<p class="quiet">files · Lines that match an expression.</p>
  <div class="stack" style="margin-top:8px"><div class="field"><label for="q">Expression</label><input id="q" type="text" value="total\\("></div>
  <div class="field"><label for="f">Folder</label><input id="f" type="text" value="src/orders"></div>
  <div class="buttons"><button class="primary">Call</button></div></div>
  <div class="result"><p class="status">${icon('check', 'done-mark')}<span class="grow">Done in 1.2 s</span>${act('copy', 'Copy result')}${act('more', 'More')}</p>
  <p>Two of 14 files match.</p>
  <div class="part"><span class="acts">${act('copy', 'Copy')}</span><pre class="json">{
  <span class="key">"matches"</span>: [
    { <span class="key">"file"</span>: "src/orders/total.ts", <span class="key">"line"</span>: 31 },
    { <span class="key">"file"</span>: "src/orders/tax.ts", <span class="key">"line"</span>: 8 }
  ],
  <span class="key">"truncated"</span>: false
}</pre></div><img alt="Matches by file" src="${picture}"></div>
  <details style="margin-top:8px"><summary>Details</summary></details>`,
);

const endedDetail = opened(
  'Index folder',
  `<p class="status">${icon('cancelled')}<span>Cancelled by you: wrong folder</span></p>
  <p class="quiet" style="margin:0 0 8px 22px">The server was told at once. It answered 3.4 s later; its result was dropped.</p>
  <div class="buttons"><button>Call again</button><button>Show timeline</button></div>
  <div class="stack" style="margin-top:12px"><h3>Arguments</h3><pre class="json">{ <span class="key">"folder"</span>: "src/archive" }</pre></div>
  <details open style="margin-top:8px"><summary>Details</summary><dl class="facts"><dt>Server</dt><dd>files</dd><dt>Started</dt><dd>14:32:05</dd><dt>Ended</dt><dd>14:32:17</dd><dt>The server worked</dt><dd>11.8 s</dd><dt>You were asked</dt><dd>4 s</dd></dl></details>`,
);

const first = `<div class="lists"><section class="first"><div><h3>Connect your first MCP server</h3>
  <p class="quiet">Paste a command, a URL, or an entry of another editor’s config.</p></div>
  <textarea rows="2" aria-label="Command, URL or config" placeholder="npx -y @modelcontextprotocol/server-everything"></textarea>
  <div class="buttons"><button class="primary">Continue</button><button class="plain">Find in the registry</button></div>
  <p class="quiet">Only looking? <a href="#">Try the demo server</a>: a slow call that you can cancel, and a question that it takes back.</p></section></div>`;

export const scenes = {
  'nothing-live': { main: `${lists('', 6)}${nothing}` },
  'running': {
    main: `${now(review, call({ title: 'Index folder', about: 'files · {"folder":"src/orders"}', time: '0:04', progress: 64, text: 'src/orders, 640 of 1,000 files' }), call({ title: 'Search issues', about: 'github · Claude Code · {"query":"label:bug"}', time: '0:01' }))}${lists()}${nothing}`,
  },
  'just-cancelled': {
    main: `${now(
      call({
        title: 'Review change',
        about: 'reviews · Claude Code · {"change":"8f31c2"}',
        time: '1:15',
        progress: 25,
        text: 'Reading 12 files',
        state: 'Cancelling…',
      }),
      note({
        title: 'Index folder',
        time: '4 s ago',
        pointed: true,
        truth: 'Cancelled: wrong folder. The server answered 3.4 s later; its result was dropped.',
      }),
      note({
        title: 'Search issues',
        time: '9 s ago',
        truth: 'Cancelled. The server was told; it may still be working.',
      }),
    )}${lists()}${nothing}`,
  },
  'form': { main: `${now(form, review)}${lists()}${nothing}` },
  'withdrawn': {
    main: `${now(
      `<article class="card asks"><div><div class="card-head"><h3 class="grow">Replace 3 files in dist?</h3>${act('more', 'More')}</div><p class="from">files asks, for Run formatter · 3 s</p></div>
       <label class="check"><input type="checkbox"> Keep a copy</label><div class="buttons"><button class="primary">Submit</button><button>Decline</button></div></article>`,
      note({
        mark: 'undo',
        title: 'Who travels on Friday?',
        time: '2 s ago',
        truth: 'Withdrawn by booking: the train is full. Nothing was sent.',
        typed: 'Copy what you typed',
      }),
    )}${lists()}${nothing}`,
  },
  'approval': { main: `${now(approval, review)}${lists()}${nothing}` },
  'server': { main: `${lists('files')}${server}`, has: true },
  'result': { main: `${lists('files')}${result}`, has: true },
  'history': { main: `${lists('', 9)}${endedDetail}`, narrow: endedDetail, has: true },
  'first-start': { main: first, alone: true },
};
