package transport

import (
	"runtime"
	"slices"
	"strings"
)

// What a server inherits is a list of names that programs need to find
// themselves, their user, their files and their language. Everything else has to
// be asked for in the server's own configuration: the hub's environment is that
// of an editor, and editors are started from shells full of tokens.
//
// Left out on purpose, although many servers could use them: SSH_AUTH_SOCK,
// which is the right to sign with the user's keys and not a setting; proxy
// variables, which often carry a password; NODE_OPTIONS, LD_PRELOAD,
// PYTHONPATH and their like, which change what a program runs.
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
	// neverInherit holds whatever the list above may become: a server that is
	// itself a go-plugin host or plugin, or an Electron program, would take
	// these for its own.
	neverInherit = []string{"PLUGIN_*", "MCPHUB_PLUGIN_COOKIE", "VSCODE_*", "ELECTRON_*"}
)

// Environment builds the complete environment of a child: a safe base list taken
// from parent (the form of os.Environ), with extra on top. A nil value in extra
// removes the variable. What extra sets was asked for, so it is passed on
// whatever its name. Names that no environment can hold (empty, with '=' or a
// zero byte) are left out. The result is sorted; it is never nil.
//
// On Windows names are compared without case.
func Environment(parent []string, extra map[string]*string) []string {
	return environment(runtime.GOOS, parent, extra)
}

func environment(goos string, parent []string, extra map[string]*string) []string {
	allowed, fold := inheritUnix, func(s string) string { return s }
	if goos == "windows" {
		allowed, fold = inheritWindows, strings.ToUpper
	}
	env := make(map[string]string) // folded name -> NAME=value
	for _, kv := range parent {
		name, value, ok := strings.Cut(kv, "=")
		key := fold(name)
		// Bash exports functions as values that begin with "()": code, not a setting.
		if !ok || strings.HasPrefix(value, "()") || !matchAny(allowed, key) || matchAny(neverInherit, strings.ToUpper(name)) {
			continue
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
