local mcphub, command = require('mcphub'), vim.api.nvim_create_user_command
for name, f in pairs({ Start = 'start', Stop = 'stop', Tools = 'list' }) do command('Mcp' .. name, mcphub[f], {}) end
command('McpCall', function(c) -- :McpCall SERVER TOOL {"argument": "value"}
  local server, tool, json = c.args:match('^(%S+)%s+(%S+)%s*(.*)$')
  local ok, arguments = pcall(vim.json.decode, json ~= '' and json or '{}')
  local fits = tool and ok and type(arguments) == 'table'
  if not fits then return vim.notify('Usage: McpCall SERVER TOOL {"argument": "value"}', vim.log.levels.ERROR) end
  local id = mcphub.call(server, tool, arguments, {
    on_progress = function(p) vim.api.nvim_echo({ { tool .. ': ' .. (p.message or p.progress) } }, false, {}) end,
    on_done = function(f) vim.notify(tool .. ': ' .. (f.resultJson or (f.hubError or {}).message or 'cancelled')) end,
  })
  vim.g.mcphub_last_request = id
end, { nargs = '+' })
command('McpCancel', function(c) mcphub.cancel(vim.g.mcphub_last_request, c.args) end, { nargs = '*' })
