-- The whole loop in a headless Neovim, over a real hub and the demo server:
--   nvim --headless -u NONE --cmd 'set rtp+=.' -c 'luafile test/loop.lua'
-- MCPHUB_BINARY names the program. It goes on when the hub says something, and never by the clock.
local mcphub = require('mcphub')
local binary, folder = assert(os.getenv('MCPHUB_BINARY')), vim.fn.tempname()
vim.fn.mkdir(folder, 'p')
local record = folder .. '/record.jsonl'
local demo = { command = binary, args = { 'demo-server', '--record', record },
  approvals = { ask_name = 'allow', ask_then_withdraw = 'allow', ['*'] = 'ask' } }
local servers = { demo = demo, old = vim.tbl_extend('force', demo, { era = 'legacy' }), -- there, servers can withdraw
  gone = { command = folder .. '/gone' } }
vim.fn.writefile({ vim.json.encode({ mcpServers = servers }) }, folder .. '/mcp.json')

local function keys(text)
  vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes(text, true, false, true), 'x', false)
end
local test
local function ended(ok, why)
  if not ok then io.stderr:write(tostring(why) .. '\n') end
  vim.cmd(ok and 'qall!' or 'cquit')
end
local said = {}
vim.notify = function(text) said[#said + 1] = text end
local function says(what) return table.concat(said, '\n'):find(what, 1, true) end
vim.cmd('runtime plugin/mcphub.lua')
mcphub.setup({ command = { binary, 'stdio', folder .. '/mcp.json', folder .. '/missing.json' },
  env = { MCPHUB_STATE_DIR = folder .. '/state' },
  on_event = function(event) vim.schedule(function() -- the float is there, and has the keys
    if coroutine.status(test) == 'dead' then return end
    local ok, why = coroutine.resume(test, event)
    if not ok or coroutine.status(test) == 'dead' then ended(ok, why) end
  end) end })

local function await(fits)
  while true do
    local event = coroutine.yield()
    if fits(event) then return event end
    if event.ended then error('the hub has ended', 0) end
  end
end
local function floats()
  return #vim.tbl_filter(function(w) return vim.api.nvim_win_get_config(w).relative ~= '' end, vim.api.nvim_list_wins())
end
-- Goes to the only float as a user does. Before that, a key that would answer it does not.
local function enter()
  keys('a<Esc>')
  assert(floats() == 1 and vim.api.nvim_win_get_config(0).relative == '', 'the cursor is where it was')
  keys('<C-w>w')
  assert(vim.api.nvim_win_get_config(0).relative ~= '', 'the cursor is in the float')
end

test = coroutine.create(function()
  await(function(e) return e.snapshot end)
  assert(mcphub.servers.demo, 'the server is known')
  assert(says('missing.json: there is no such file'), 'what is wrong with the config is told')
  for _, bad in ipairs({ 'demo', 'demo echo {bad', 'demo echo 7' }) do
    said = {}
    vim.cmd('McpCall ' .. bad)
    assert(says('McpCall SERVER TOOL {'), bad)
  end

  local progress, done
  local id = mcphub.call('demo', 'sleep', { seconds = 60 }, {
    on_progress = function(p) progress = p end, on_done = function(f) done = f end })
  await(function(e) return e.promptOpened end)
  enter()
  keys('a')
  await(function(e) return e.promptClosed end)
  assert(floats() == 0, 'an answered question has no float')
  await(function() return progress end)
  mcphub.cancel(id, 'seen enough in Neovim')
  await(function(e) return e.mcpRequestCancelled end)
  assert(done and done.requestId == id, 'the caller hears of the cancel')

  mcphub.call('demo', 'ask_name', {}, { on_done = function(f) done = f end })
  await(function(e) return e.promptOpened end)
  enter()
  vim.fn.search('^name:')
  keys('A Ada<Esc><CR>')
  await(function(e) return e.mcpRequestFinished and e.mcpRequestFinished.tool == 'ask_name' end)
  assert(done.resultJson:find('Ada'), done.resultJson)

  mcphub.call('old', 'ask_then_withdraw', { after_ms = 5000, reason = 'found elsewhere' }, {})
  await(function(e) return e.promptOpened end)
  enter()
  vim.fn.search('^name:')
  keys('A typed before<Esc>')
  local closed = await(function(e) return e.promptClosed end).promptClosed
  assert(closed.cause == 'PROMPT_CAUSE_WITHDRAWN', closed.cause)
  assert(floats() == 0, 'a withdrawn question has no float')
  assert(vim.fn.getreg('m'):find('typed before'), 'what was typed is kept')

  mcphub.list()
  await(function(e) return e.reply and (e.reply.response or {}).troubles end)
  local listed = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
  assert(listed:find('demo  sleep', 1, true) and listed:find('gone  .*there is no file'), listed)

  mcphub.stop()
  await(function(e) return e.ended end)
  done = nil
  mcphub.call('demo', 'sleep', {}, { on_done = function(f) done = f end })
  assert(done and done.hubError.message:find('does not run'), 'a call without a hub ends')
  mcphub.setup({ command = { folder .. '/no-mcphub' } })
  mcphub.start()
  assert(says('no-mcphub'), 'a missing program is told')
  local heard = table.concat(vim.fn.readfile(record))
  assert(heard:find('seen enough in Neovim', 1, true), heard)
  io.stdout:write('\nok\teditors/examples/neovim\n')
end)
coroutine.resume(test)
mcphub.start()
