local mcphub = require('mcphub')
local command = vim.api.nvim_create_user_command
command('McpStart', mcphub.start, {})
command('McpStop', mcphub.stop, {})
command('McpTools', mcphub.list, {})
command('McpCall', function(c) -- :McpCall SERVER TOOL {"argument": "value"}
  local server, tool, json = c.args:match('^(%S+)%s+(%S+)%s*(.*)$')
  local id = mcphub.call(server, tool, json ~= '' and vim.json.decode(json) or nil, {
    on_progress = function(p) vim.api.nvim_echo({ { tool .. ': ' .. (p.message or p.progress) } }, false, {}) end,
    on_done = function(f) vim.notify(tool .. ': ' .. (f.resultJson or (f.hubError or {}).message or 'cancelled')) end,
  })
  vim.g.mcphub_last_request = id
end, { nargs = '+' })
command('McpCancel', function(c) mcphub.cancel(vim.g.mcphub_last_request, c.args) end, { nargs = '*' })
