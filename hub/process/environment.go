package process

import (
	"maps"
	"net/url"
	"runtime"
	"slices"
	"strings"
)

// A server inherits the variables in these lists: those that programs need to find themselves, their user, their files,
// their language and the network, and those that give the user's tools their rights. Every other variable has to be set
// in the server's entry: the hub's environment is that of an editor, and editors are started from shells full of
// tokens. docs/config.md has the lists.
//
// NODE_OPTIONS, LD_PRELOAD, PYTHONPATH and the like are left out on purpose, although many servers could use them: they
// change which code a program runs.
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
	// inheritSettings apply on every system: proxies, certificates, and the folders of version and package managers.
	// Without them most servers on a company's machine do not start.
	inheritSettings = []string{
		"HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "ALL_PROXY", "NO_PROXY",
		"http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy",
		"NODE_USE_ENV_PROXY", "NODE_USE_SYSTEM_CA",
		"NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
		"AWS_CA_BUNDLE", "GIT_SSL_CAINFO", "PIP_CERT", "CARGO_HTTP_CAINFO", "DENO_CERT", "DENO_TLS_CA_STORE",
		"NVM_DIR", "FNM_DIR", "VOLTA_HOME", "ASDF_DIR", "ASDF_DATA_DIR", "MISE_DATA_DIR",
		"PNPM_HOME", "BUN_INSTALL", "DENO_INSTALL", "CARGO_HOME", "RUSTUP_HOME", "GOPATH",
	}
	// inheritRights are rights rather than settings: they let a server sign with the user's keys, and act in the user's
	// containers and clusters.
	inheritRights = []string{
		"SSH_AUTH_SOCK", "KUBECONFIG",
		"DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY",
	}
	// neverInherit overrides the lists above, however they may change: a server that is itself a go-plugin host or plugin,
	// or an Electron program, would take these variables for its own.
	neverInherit = []string{"PLUGIN_*", "MCPHUB_PLUGIN_COOKIE", "VSCODE_*", "ELECTRON_*"}
)

// Heir says whose server gets an environment.
type Heir uint8

const (
	// Own is a server of the user or of the host.
	Own Heir = iota
	// Stranger is a server that a workspace brings. The user has agreed only to what was shown of it, so it gets no rights
	// and no passwords but those that its entry names.
	Stranger
)

// Environment returns the complete environment of a child: the variables of parent (in the form of os.Environ) that are
// safe to inherit, with extra on top. A nil value in extra removes the variable. A variable in extra is passed on
// whatever its name, since the server's entry asks for it. Names that no environment can hold (empty, with '=' or a
// zero byte) are left out. The result is sorted and never nil.
//
// On Windows, names are compared without regard to case.
func Environment(parent []string, heir Heir, extra map[string]*string) []string {
	return environment(runtime.GOOS, parent, heir, extra)
}

// Inherited returns the sorted names of the variables of parent that a child inherits beyond those that every program
// needs to find its user and its files: network settings, folders and rights.
func Inherited(parent []string, heir Heir) (names []string) {
	base, _ := baseNames(runtime.GOOS)
	for _, kv := range environment(runtime.GOOS, parent, heir, nil) {
		name, _, _ := strings.Cut(kv, "=")
		if !matchAny(base, nameFold(runtime.GOOS)(name)) {
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

// nameFold returns the function that brings a name into the form in which names are compared.
func nameFold(goos string) func(name string) string {
	if goos == "windows" {
		return strings.ToUpper
	}
	return func(name string) string { return name }
}

func environment(goos string, parent []string, heir Heir, extra map[string]*string) []string {
	_, allowed := baseNames(goos)
	fold := nameFold(goos)
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
	for _, name := range slices.Sorted(maps.Keys(extra)) { // two names may differ only in case
		switch value := extra[name]; {
		case name == "" || strings.ContainsAny(name, "=\x00"):
		case value == nil:
			delete(env, fold(name))
		default:
			env[fold(name)] = name + "=" + *value
		}
	}
	out := slices.AppendSeq([]string{}, maps.Values(env))
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

// userOf finds the user part ("name:password") of an address: text[from:to]. The address may lack its scheme, as
// proxies are often given ("name:password@proxy:8080"). A password may hold "/", "?" or "#" unescaped, since some
// programs accept that. ok is false if there is no user part.
func userOf(text string) (from, to int, ok bool) {
	if i := strings.Index(text, "://"); i >= 0 {
		from = i + len("://")
	} else if strings.ContainsAny(text, "/\\") || !strings.Contains(text, ":") {
		return 0, 0, false // a path, or a name
	}
	to = strings.LastIndexByte(text[from:], '@')
	return from, from + to, to > 0
}

// withoutUser returns an address without its user part. It returns any other text unchanged.
func withoutUser(text string) string {
	from, to, ok := userOf(text)
	if !ok {
		return text
	}
	return text[:from] + text[to+1:]
}

// Credentials returns the user names and passwords in the addresses that servers may inherit from parent, mostly those
// of proxies, in the forms in which a program may repeat them. A user name alone is among them only if it has no
// password: it is a token then.
func Credentials(parent []string) (values []string) {
	base, _ := baseNames(runtime.GOOS)
	for _, kv := range environment(runtime.GOOS, parent, Own, nil) {
		variable, value, _ := strings.Cut(kv, "=")
		from, to, ok := userOf(value)
		if !ok || matchAny(base, nameFold(runtime.GOOS)(variable)) {
			continue
		}
		name, password, both := strings.Cut(value[from:to], ":")
		secret := name
		if both && password != "" {
			secret = password
			values = append(values, name+":"+password)
		}
		values = append(values, secret)
		// Programs show it as it is or unescaped; Basic authorization holds it together with the name.
		if plain, err := url.PathUnescape(secret); err == nil && plain != secret {
			values = append(values, plain)
			if user, err := url.PathUnescape(name); err == nil && both {
				values = append(values, user+":"+plain)
			}
		}
	}
	return values
}
