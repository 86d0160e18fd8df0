local health = vim.health or require('health')
local report = { start = health.start or health.report_start, ok = health.ok or health.report_ok,
  error = health.error or health.report_error }
return { check = function()
  report.start('mcphub')
  local version = vim.fn.executable('mcphub') == 1 and vim.trim(vim.fn.system({ 'mcphub', 'version' }))
  if version then report.ok(version) else report.error('mcphub is not in PATH: install it, or give setup a command') end
end }
