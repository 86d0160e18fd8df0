-- McpHub in Neovim, over `mcphub stdio`. What servers ask is a float, which vanishes when the server takes it back.
-- Every text of a server is a stranger's: no line break of it makes a line here, which could look like ours.
local M = { servers = {}, requests = {}, prompts = {} }

local options = {
  command = { 'mcphub', 'stdio' },
  env = { MCPHUB_HOST_PROGRAM = 'neovim' },
  on_event = function(_) end, -- gets each message of the hub, after it was carried out here
}
local job, rest, messages, waiting = nil, '', 0, {}
local function cut(text, most)
  text = tostring(text or ''):gsub('%c+', ' ')
  return vim.fn.strchars(text) > most and vim.fn.strcharpart(text, 0, most) .. '…' or text
end
local function note(text, level) vim.notify('mcphub: ' .. cut(text, 500), level or vim.log.levels.INFO) end

-- Sends a message. reply, if given, gets the hub's reply to it.
local function send(message, reply)
  reply = reply or function(r) if r.error then note(r.error.message, vim.log.levels.WARN) end end
  if not job then return reply({ error = { message = 'it does not run; :McpStart starts it' } }) end
  messages = messages + 1
  message.messageId = 'm' .. messages
  waiting[message.messageId] = reply
  vim.fn.chansend(job, vim.json.encode(message) .. '\n')
end

-- Calls a method of the hub: docs/protocol.md and the .proto files have them all.
function M.method(service, name, request, reply)
  request['@type'] = 'type.googleapis.com/mcphub.v1.' .. name .. 'Request'
  send({ call = { method = '/mcphub.v1.' .. service .. '/' .. name, request = request } }, reply)
end

local function float(title, lines, enter)
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
  local width = math.max(20, math.min(80, vim.o.columns - 4))
  local height = math.max(1, math.min(#lines + 1, vim.o.lines - 6))
  local window = vim.api.nvim_open_win(buffer, enter, {
    relative = 'editor', style = 'minimal', border = 'rounded', width = width, height = height,
    row = 2, col = math.floor((vim.o.columns - width) / 2),
  })
  vim.wo[window].wrap = true
  vim.api.nvim_buf_set_name(buffer, 'mcphub://' .. buffer .. '/' .. title)
  return buffer, window
end

-- The fields of a form, as lines of the float that the user fills in.
local function fieldLines(form)
  local schema, lines = vim.json.decode(form.schemaJson or '{}'), {}
  local names = vim.tbl_keys(schema.properties or {})
  table.sort(names)
  for _, name in ipairs(names) do
    local field = schema.properties[name]
    local kinds = field.enum and table.concat(vim.tbl_map(tostring, field.enum), ', ') or field.type
    lines[#lines + 1] = '# ' .. cut(field.description or field.title or name, 200) .. ' (' .. cut(kinds, 200) .. ')'
    lines[#lines + 1] = name .. ': ' .. (field.default ~= nil and tostring(field.default) or '')
  end
  return lines, schema
end

-- What the user has filled in, as the content that the schema asks for. An empty field is left out.
local function contentOf(buffer, schema)
  local content = vim.empty_dict()
  for _, line in ipairs(vim.api.nvim_buf_get_lines(buffer, 0, -1, false)) do
    local name, text = line:match('^([^#:][^:]*):%s*(.-)%s*$')
    local field = name and (schema.properties or {})[name]
    if field and text ~= '' then
      local number = (field.type == 'number' or field.type == 'integer') and tonumber(text)
      content[name] = field.type == 'array' and vim.split(text, '%s*,%s*') or number or text
      if field.type == 'boolean' and (text == 'true' or text == 'false') then content[name] = text == 'true' end
    end
  end
  return vim.json.encode(content)
end

-- What a question shows, and the keys that answer it.
local function faceOf(p)
  if p.toolApproval then
    local a = p.toolApproval
    return { p.server .. ': run ' .. cut(a.title or a.tool, 200) .. ' (' .. cut(a.tool, 200) .. ')?',
      cut(a.argumentsJson, math.huge), '',
      'a: allow once   w: allow in this window   d: deny   q: dismiss' }
  elseif p.serverLaunch then
    local lines = { 'Start ' .. p.server .. '?' } -- with all that there is to agree to
    for key, value in pairs(p.serverLaunch) do lines[#lines + 1] = key .. ': ' .. vim.inspect(value) end
    return vim.list_extend(lines, { '', 'a: start   d: do not   q: dismiss' })
  elseif p.elicitationForm then
    local lines, schema = fieldLines(p.elicitationForm)
    return vim.list_extend({ '# ' .. p.server .. ' asks: ' .. cut(p.elicitationForm.message, 2000),
      '# Enter: send   d: decline   q: dismiss' }, lines), schema
  end
end

local function open(p)
  local lines, schema = faceOf(p)
  if not lines then return end -- a kind that hello does not name
  -- It does not take the cursor: a key that was meant for the user's text would answer it.
  local buffer, window = float(p.promptId, lines, false)
  local map = function(key, action, value)
    vim.keymap.set('n', key, function() -- if the hub refuses the answer, the question stays open
      send({ answerPrompt = { promptId = p.promptId, [action] = value and value() or vim.empty_dict() } })
    end, { buffer = buffer, nowait = true })
  end
  local hash = (p.serverLaunch or {}).launchHash
  local accept = function(scope) return function() return { scope = scope, launchHash = hash } end end
  if schema then
    map('<CR>', 'accept', function() return { contentJson = contentOf(buffer, schema) } end)
  else
    vim.bo[buffer].modifiable = false
    map('a', 'accept', accept('APPROVAL_SCOPE_ONCE'))
    map('w', 'accept', accept('APPROVAL_SCOPE_WINDOW'))
  end
  for key, action in pairs({ d = 'decline', q = 'dismiss' }) do map(key, action) end
  local empty = schema and vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
  M.prompts[p.promptId] = { prompt = p, buffer = buffer, window = window, empty = empty }
end

-- A question is closed: by an answer here or elsewhere, or because its server took it back. What was typed is kept in
-- the register m.
local function close(closed)
  local shown = M.prompts[closed.promptId]
  if not shown then return end
  M.prompts[closed.promptId] = nil
  local answered = closed.cause == 'PROMPT_CAUSE_ANSWERED'
  local typed = vim.api.nvim_buf_get_lines(shown.buffer, 0, -1, false)
  if shown.empty and not answered and not vim.deep_equal(typed, shown.empty) then vim.fn.setreg('m', typed) end
  if vim.api.nvim_win_is_valid(shown.window) then vim.api.nvim_win_close(shown.window, true) end
  vim.api.nvim_buf_delete(shown.buffer, { force = true })
  if closed.cause == 'PROMPT_CAUSE_WITHDRAWN' then
    note(shown.prompt.server .. ' took its question back: ' .. (closed.reason or ''))
  end
end

local function finished(f)
  local request = M.requests[f.requestId]
  M.requests[f.requestId] = nil
  if request and request.on_done then request.on_done(f) end
end

local handlers = {
  snapshot = function(s)
    M.servers = {}
    for _, server in ipairs(s.servers or {}) do M.servers[server.name] = server end
    for _, p in ipairs(s.prompts or {}) do open(p) end
    for _, p in ipairs(s.problems or {}) do note(p.file .. ': ' .. p.message, vim.log.levels.WARN) end
  end,
  serverChanged = function(c) M.servers[c.server.name] = not c.removed and c.server or nil end,
  mcpRequestProgressed = function(p)
    local on_progress = (M.requests[p.requestId] or {}).on_progress
    if p.progress and on_progress then on_progress(p.progress) end
  end,
  mcpRequestFinished = finished, mcpRequestCancelled = finished,
  promptOpened = function(o) open(o.prompt) end, promptClosed = close,
  reply = function(r)
    local reply = waiting[r.messageId or '']
    waiting[r.messageId or ''] = nil
    if reply then reply(r) elseif r.error then note(r.error.message, vim.log.levels.WARN) end
  end,
}

local function receive(line)
  local message = vim.json.decode(line)
  for kind, handle in pairs(handlers) do -- what one message does costs no other one
    local ok, why = pcall(function() if message[kind] then handle(message[kind]) end end)
    if not ok then note(why, vim.log.levels.ERROR) end
  end
  options.on_event(message)
end

function M.program() return options.command[1] end
function M.setup(given) options = vim.tbl_deep_extend('force', options, given or {}) end
function M.start()
  if job then return end
  rest, waiting = '', {}
  local ok, started = pcall(vim.fn.jobstart, options.command, {
    env = options.env,
    on_stdout = function(_, data)
      data[1] = rest .. data[1]
      rest = table.remove(data)
      for _, line in ipairs(data) do receive(line) end
    end,
    on_stderr = function(_, data) if #data > 1 then note(table.concat(data, '\n'), vim.log.levels.WARN) end end,
    stderr_buffered = true,
    on_exit = function(_, code)
      job = nil
      for id in pairs(M.prompts) do close({ promptId = id, cause = 'PROMPT_CAUSE_SHUTDOWN' }) end
      M.servers = {}
      for id in pairs(M.requests) do finished({ requestId = id, hubError = { message = 'the hub has ended' } }) end
      if code ~= 0 then note('it has ended with ' .. code, vim.log.levels.ERROR) end
      options.on_event({ ended = code })
    end,
  })
  if not ok or started <= 0 then return note(ok and 'it cannot be started' or started, vim.log.levels.ERROR) end
  job = started
  send({ hello = { title = 'neovim', promptKinds = { 'PROMPT_KIND_TOOL_APPROVAL', 'PROMPT_KIND_SERVER_LAUNCH',
    'PROMPT_KIND_ELICITATION_FORM' } } })
end

-- Closing the input is the goodbye: what runs is cancelled, and the servers hear of it.
function M.stop() if job then vim.fn.chanclose(job, 'stdin') end end

-- Calls a tool, and returns the id of the request. more: on_progress(progress), on_done(how it has ended).
function M.call(server, tool, arguments, more)
  local id = ('nvim-%d-%d'):format(vim.fn.getpid(), vim.loop.hrtime())
  M.requests[id] = vim.tbl_extend('force', { server = server, tool = tool }, more or {})
  M.method('McpHubService', 'CallTool',
    { requestId = id, server = server, tool = tool, -- an empty table would be []
      argumentsJson = next(arguments or {}) and vim.json.encode(arguments) or '{}' },
    function(r) if r.error then finished({ requestId = id, hubError = r.error }) end end)
  return id
end

function M.cancel(id, reason) send({ cancelMcpRequest = { requestId = id, reason = reason } }) end

-- Lists the tools of all servers in a float.
function M.list()
  M.method('McpServerService', 'ListTools', {}, function(r)
    local lines, response = {}, r.response or {}
    for _, tool in ipairs(response.tools or {}) do
      lines[#lines + 1] = tool.server .. '  ' .. cut(tool.name, 100) .. '  ' .. cut(tool.description, 100)
    end
    for _, t in ipairs(response.troubles or {}) do lines[#lines + 1] = t.server .. '  ' .. cut(t.error.message, 500) end
    float('tools', #lines > 0 and lines or { r.error and cut(r.error.message, 500) or 'No server has a tool.' }, true)
  end)
end

return M
