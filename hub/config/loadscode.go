package config

import (
	"runtime"
	"slices"
	"strings"
)

// LoadsCode reports whether an environment variable can make a program, or what the program starts, load other code:
// because it names the code, the places that are searched for it, or the settings that are read, or because it lets
// whoever is on the way to a registry give other code. It compares the name
// with a list of known names. No such list is complete, so LoadsCode serves to warn a person about what a file sets,
// and to refuse what nobody sees. It does not make another variable harmless.
func LoadsCode(name string) bool { return loadsCode(name, runtime.GOOS) }

func loadsCode(name, goos string) bool {
	if goos == "windows" {
		name = strings.ToUpper(name)
	}
	if strings.HasPrefix(strings.ToLower(name), "npm_config_") { // npm reads these variables in upper and lower case
		return true
	}
	matches := func(pattern string) bool { return Match(pattern, name) }
	return slices.ContainsFunc(loadingNames, matches) && !slices.ContainsFunc(harmlessNames, matches)
}

// loadingNames are names and patterns, grouped by the programs that read them. Those of the last line name files with
// programs that give credentials.
var loadingNames = strings.Fields(`
	PATH PATHEXT HOME USERPROFILE APPDATA LOCALAPPDATA XDG_CONFIG_HOME XDG_CONFIG_DIRS
	XDG_DATA_HOME XDG_DATA_DIRS SYSTEMROOT WINDIR
	LD_* DYLD_* GCONV_PATH GLIBC_TUNABLES GTK_MODULES GIO_EXTRA_MODULES QT_PLUGIN_PATH
	OPENSSL_CONF OPENSSL_MODULES OPENSSL_ENGINES
	SHELL COMSPEC BASH_ENV BASH_FUNC_* ENV SHELLOPTS BASHOPTS PROMPT_COMMAND PS4 ZDOTDIR FPATH CDPATH
	EDITOR VISUAL PAGER MANPAGER BROWSER LESSOPEN LESSCLOSE SSH_ASKPASS SUDO_ASKPASS VIMINIT EXINIT
	NODE_OPTIONS NODE_PATH NODE_REPL_* NODE_COMPILE_CACHE NODE_TLS_REJECT_UNAUTHORIZED
	ELECTRON_RUN_AS_NODE NVM_* FNM_* VOLTA_* BUN_* DENO_*
	YARN_* PNPM_* COREPACK_*
	PYTHON* PIP_* UV_* PYENV_* CONDA_* PIPX_*
	PERL5* PERLLIB PERL_UNICODE PERL_MM_OPT PERL_MB_OPT
	RUBY* GEM_HOME GEM_PATH BUNDLE_* RBENV_*
	JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS JDK_JAVAC_OPTIONS JAVA_OPTS JAVA_HOME
	CLASSPATH MAVEN_OPTS GRADLE_OPTS JBANG_*
	DOTNET_* CORECLR_* COR_* COMPLUS_* NUGET_*
	GIT_*
	LUA_PATH* LUA_CPATH* LUA_INIT* TCLLIBPATH PHPRC PHP_INI_SCAN_DIR R_PROFILE* R_ENVIRON*
	R_LIBS* JULIA_LOAD_PATH JULIA_DEPOT_PATH JULIA_PROJECT
	ERL_FLAGS ERL_AFLAGS ERL_ZFLAGS ERL_LIBS GOFLAGS GOROOT GOPROXY GOTOOLCHAIN GOENV RUSTC* RUSTUP_* CARGO_*
	ASDF_* MISE_* DIRENV_*
	MAKEFLAGS MAKEFILES GNUMAKEFLAGS
	KUBECONFIG DOCKER_CONFIG AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE`)

// harmlessNames match a pattern above but are known to load nothing: people would stop reading warnings that are always
// wrong.
var harmlessNames = strings.Fields(`
	PYTHONUNBUFFERED PYTHONIOENCODING PYTHONUTF8 PYTHONDONTWRITEBYTECODE PYTHONHASHSEED PYTHONFAULTHANDLER
	PYTHONOPTIMIZE PYTHONVERBOSE PYTHONNOUSERSITE
	PYTHONSAFEPATH PYTHONLEGACYWINDOWSSTDIO PYTHONCOERCECLOCALE
	GIT_AUTHOR_* GIT_COMMITTER_* GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS GIT_TRACE* GIT_MERGE_VERBOSITY GIT_PS1_*
	DOTNET_CLI_TELEMETRY_OPTOUT DOTNET_NOLOGO DOTNET_ENVIRONMENT
	DOTNET_SYSTEM_GLOBALIZATION_INVARIANT DOTNET_SKIP_FIRST_TIME_EXPERIENCE
	PIP_DISABLE_PIP_VERSION_CHECK PIP_NO_CACHE_DIR UV_NO_PROGRESS UV_NO_CACHE CARGO_TERM_*`)
