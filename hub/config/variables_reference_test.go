package config

import (
	"slices"
	"testing"
)

// References returns every reference that Resolve would follow, whatever else is wrong with the server, and no other.
func TestReferences(t *testing.T) {
	tests := map[string]struct {
		server     Server
		env, files []string
	}{
		"vscode": {Server{
			Origin: Origin{Dialect: DialectVSCode, Folder: "/w"}, Command: "${env:SHELL}", Args: []string{"${workspaceFolder}",
				"${env:B}-${env:A}", "${input:gone}", "$C"},
			Env: map[string]*string{"X": new("${env:A}")}, EnvFile: "${workspaceFolder}/.env",
		}, []string{"A", "B", "SHELL"}, nil},
		"portable": {Server{Origin: Origin{Dialect: DialectPortable}, Command: "c", Args: []string{"${A:-${B}}", "${C}"}},
			[]string{"A", "C"}, nil},
		"opencode": {Server{Origin: Origin{Dialect: DialectOpencode, File: native("/w/opencode.json")},
			Command: "c", Args: []string{"{env:A}", "{file:secret.txt}", "{file:" + native("/etc/x") + "}"}}, []string{"A"},
			[]string{native("/etc/x"), native("/w/secret.txt")}},
		"codex": {Server{Origin: Origin{Dialect: DialectCodex}, URL: "https://example.com/",
			EnvRefs: map[string]string{"X-Key": "KEY"}, BearerEnv: "TOKEN"}, []string{"KEY", "TOKEN"}, nil},
		"no grammar": {Server{Origin: Origin{Dialect: DialectDesktop}, Command: "c", Args: []string{"${A}", "${env:B}"}},
			nil, nil},
		"after error": {Server{Origin: Origin{Dialect: DialectVSCode}, Command: "${command:x}", Args: []string{"${env:A}"}},
			[]string{"A"}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			env, files := tt.server.References(Variables{Home: "/h"})
			if !slices.Equal(env, tt.env) || !slices.Equal(files, tt.files) {
				t.Errorf("env %q, files %q; want %q, %q", env, files, tt.env, tt.files)
			}
		})
	}
}
