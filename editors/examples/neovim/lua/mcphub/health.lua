local health = vim.health or require('health')
local report = { start = health.start or health.report_start, ok = health.ok or health.report_ok,
  error = health.error or health.report_error }
return { check = function()
  report.start('mcphub')
  local program = require('mcphub').program()
  local version = vim.fn.executable(program) == 1 and vim.trim(vim.fn.system({ program, 'version' }))
  if version then report.ok(version) else report.error(program .. ' is missing: install it, or name one in setup') end
end }
