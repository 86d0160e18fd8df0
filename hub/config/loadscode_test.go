package config

import "testing"

// Finding C1: the variables that the launch question warns of.
func TestLoadsCode(t *testing.T) {
	for _, name := range []string{
		"PATH", "LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "NODE_OPTIONS", "NODE_PATH",
		"NODE_REPL_EXTERNAL_MODULE", "BASH_ENV", "ENV", "PYTHONPATH",
		"PYTHONSTARTUP", "PYTHONHOME", "PERL5LIB", "PERL5OPT", "RUBYOPT", "RUBYLIB", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS",
		"JDK_JAVA_OPTIONS", "GIT_SSH_COMMAND", "GIT_EXEC_PATH",
		"GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_0", "PROMPT_COMMAND", "SHELLOPTS", "DOTNET_STARTUP_HOOKS", "LUA_PATH",
		"LUA_PATH_5_4", "GCONV_PATH", "npm_config_script_shell",
		"NPM_CONFIG_REGISTRY", "ELECTRON_RUN_AS_NODE", "BASH_FUNC_ls%%", "HOME",
		"NODE_TLS_REJECT_UNAUTHORIZED", "KUBECONFIG", "DOCKER_CONFIG", "AWS_CONFIG_FILE", "MAKEFLAGS", "GNUMAKEFLAGS",
		"MAKEFILES",
	} {
		if !loadsCode(name, "linux") {
			t.Errorf("%s loads code", name)
		}
	}
	for _, name := range []string{
		"TOKEN", "API_KEY", "NODE_ENV", "PYTHONUNBUFFERED", "PYTHONIOENCODING", "GIT_AUTHOR_NAME", "GITHUB_TOKEN",
		"LOG_LEVEL", "PORT", "path", "ld_preload", "DEBUG", "LANG", "TMPDIR",
		"DOCKER_HOST", "AWS_PROFILE", "AWS_REGION", "NODE_EXTRA_CA_CERTS",
	} {
		if loadsCode(name, "linux") {
			t.Errorf("%s loads nothing", name)
		}
	}
	for _, name := range []string{"Path", "pathext", "Node_Options", "SystemRoot"} {
		if !loadsCode(name, "windows") {
			t.Errorf("%s loads code on Windows, where case does not count", name)
		}
	}
}
