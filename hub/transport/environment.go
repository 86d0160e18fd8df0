package transport

import (
	"runtime"
	"slices"
	"strings"
)

// What a server inherits is a list of names that programs need to find
// themselves, their user, their files, their language and the network, and names
// of rights that the user's tools use. Everything else has to be asked for in the
// server's own configuration: the hub's environment is that of an editor, and
// editors are started from shells full of tokens. docs/config.md has the lists.
//
// Left out on purpose, although many servers could use them: NODE_OPTIONS,
// LD_PRELOAD, PYTHONPATH and their like, which change what a program runs.
var (
	inheritUnix = []string{
		"PATH", "HOME", "USER", "LOGNAME", "SHELL",
		"LANG", "LANGUAGE", "LC_*", "TZ", "TERM",
		"TMPDIR", "XDG_*",
	}
	inheritWindows = []string{
		"PATH", "PATHEXT", "COMSPEC",
		"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "OS",
		"PROCESSOR_ARCHITECTURE", "NUMBER_OF_PROCESSORS",
		"USERNAME", "USERDOMAIN", "USERPROFILE", "HOMEDRIVE", "HOMEPATH",
		"APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "ALLUSERSPROFILE", "PUBLIC",
		"PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMW6432",
		"COMMONPROGRAMFILES", "COMMONPROGRAMFILES(X86)", "COMMONPROGRAMW6432",
		"TEMP", "TMP", "LANG",
	}
	// inheritSettings are, on every system, the way into the network, whose word counts there, and where the managers of
	// versions and packages have their folders: without it most servers of a company's machine do not start.
	inheritSettings = []string{
		"HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "ALL_PROXY", "NO_PROXY",
		"http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy",
		"NODE_USE_ENV_PROXY", "NODE_USE_SYSTEM_CA",
		"NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
		"AWS_CA_BUNDLE", "GIT_SSL_CAINFO", "PIP_CERT", "CARGO_HTTP_CAINFO", "DENO_CERT", "DENO_TLS_CA_STORE",
		"NVM_DIR", "FNM_DIR", "VOLTA_HOME", "ASDF_DIR", "ASDF_DATA_DIR", "MISE_DATA_DIR",
		"PNPM_HOME", "BUN_INSTALL", "DENO_INSTALL", "CARGO_HOME", "RUSTUP_HOME", "GOPATH",
	}
	// inheritRights are no settings: they let a server sign with the user's keys, and act in the user's containers and
	// clusters.
	inheritRights = []string{
		"SSH_AUTH_SOCK", "KUBECONFIG",
		"DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY",
	}
	// neverInherit holds whatever the lists above may become: a server that is
	// itself a go-plugin host or plugin, or an Electron program, would take
	// these for its own.
	neverInherit = []string{"PLUGIN_*", "MCPHUB_PLUGIN_COOKIE", "VSCODE_*", "ELECTRON_*"}
)

// Heir is whose server gets an environment.
type Heir uint8

const (
	// Own is a server of the user's or the host's.
	Own Heir = iota
	// Stranger is a server that a workspace brings. A person has agreed to what was shown of it, so it gets none of the
	// rights and passwords that its entry does not name.
	Stranger
)

// Environment builds the complete environment of a child: a safe base list taken
// from parent (the form of os.Environ), with extra on top. A nil value in extra
// removes the variable. What extra sets was asked for, so it is passed on
// whatever its name. Names that no environment can hold (empty, with '=' or a
// zero byte) are left out. The result is sorted; it is never nil.
//
// On Windows names are compared without case.
func Environment(parent []string, heir Heir, extra map[string]*string) []string {
	return environment(runtime.GOOS, parent, heir, extra)
}

// Inherited are the names of those variables of parent that such a child gets beyond what every program needs to find
// its user and its files, sorted: settings of the network, folders, rights.
func Inherited(parent []string, heir Heir) (names []string) {
	base, _ := baseNames(runtime.GOOS)
	for _, kv := range environment(runtime.GOOS, parent, heir, nil) {
		name, _, _ := strings.Cut(kv, "=")
		if !matchAny(base, folder(runtime.GOOS)(name)) {
			names = append(names, name)
		}
	}
	return names
}

func baseNames(goos string) (base, all []string) {
	base = inheritUnix
	if goos == "windows" {
		base = inheritWindows
	}
	return base, slices.Concat(base, inheritSettings)
}

// folder gives what names are compared by.
func folder(goos string) func(name string) string {
	if goos == "windows" {
		return strings.ToUpper
	}
	return func(name string) string { return name }
}

func environment(goos string, parent []string, heir Heir, extra map[string]*string) []string {
	_, allowed := baseNames(goos)
	fold := folder(goos)
	if heir == Own {
		allowed = slices.Concat(allowed, inheritRights)
	}
	env := make(map[string]string) // folded name -> NAME=value
	for _, kv := range parent {
		name, value, ok := strings.Cut(kv, "=")
		key := fold(name)
		// Bash exports functions as values that begin with "()": code, not a setting.
		if !ok || strings.HasPrefix(value, "()") || !matchAny(allowed, key) || matchAny(neverInherit, strings.ToUpper(name)) {
			continue
		}
		if heir == Stranger && matchAny(inheritSettings, key) {
			kv = name + "=" + withoutUser(value)
		}
		env[key] = kv
	}
	names := make([]string, 0, len(extra))
	for name := range extra {
		names = append(names, name)
	}
	slices.Sort(names) // two names that differ only in case must not depend on map order
	for _, name := range names {
		switch value := extra[name]; {
		case name == "" || strings.ContainsAny(name, "=\x00"):
		case value == nil:
			delete(env, fold(name))
		default:
			env[fold(name)] = name + "=" + *value
		}
	}
	out := make([]string, 0, len(env))
	for _, kv := range env {
		out = append(out, kv)
	}
	slices.Sort(out)
	return out
}

func matchAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		if prefix, ok := strings.CutSuffix(p, "*"); ok {
			return strings.HasPrefix(name, prefix)
		}
		return p == name
	})
}

// lookupEnv returns the value that a child with this environment sees.
func lookupEnv(env []string, name string) string {
	for _, kv := range slices.Backward(env) { // the last one counts, as in os/exec
		if k, v, ok := strings.Cut(kv, "="); ok && (k == name || runtime.GOOS == "windows" && strings.EqualFold(k, name)) {
			return v
		}
	}
	return ""
}
