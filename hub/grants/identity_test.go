package grants

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/process"
)

// What can make a launch something else than its words say is found: variables that load or fetch code, a program of an
// open folder, and what npx prefers to the package that it is told to run.
func TestIdentityFindsWhatMisleads(t *testing.T) {
	value := func(s string) *string { return &s }
	folder := t.TempDir()
	below := filepath.Join(folder, "a", "b")
	if err := os.MkdirAll(below, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		what      string
		s         config.Server
		program   string
		file      string // of the folder, with its text
		loading   []string
		inArgs    []string
		nearby    string
		ofTheHost bool
	}{
		{what: "nothing", s: config.Server{Command: "npx", Args: []string{"-y", "@acme/notes"}, Env: map[string]*string{
			"TOKEN": value("x"), "PATH": nil}, Origin: config.Origin{Scope: "host"}}, ofTheHost: true},
		{what: "written by a program", s: config.Server{Command: "x", Origin: config.Origin{Scope: "host",
			Writer: config.Writer{Name: "p"}}}},
		{what: "variables", s: config.Server{Command: "npx", Env: map[string]*string{"PATH": value("/x"),
			"NODE_OPTIONS": value(""), "Npm_Config_Registry": value("x"), "UV_INDEX_URL": value("x"), "https_proxy": value("x"),
			"LD_PRELOAD": value("x"), "NODE_EXTRA_CA_CERTS": value("x"), "DOCKER_HOST": value("x"), "DEBUG": value("1")}},
			loading: []string{"DOCKER_HOST", "LD_PRELOAD", "NODE_EXTRA_CA_CERTS", "NODE_OPTIONS", "Npm_Config_Registry", "PATH",
				"UV_INDEX_URL", "https_proxy"}},
		{what: "variables of a container", s: config.Server{Command: "docker", Args: []string{"run", "-e", "TOKEN", "-e",
			"NODE_OPTIONS=-r/x", "-e", "PYTHONPATH"}}, inArgs: []string{"NODE_OPTIONS=-r/x", "PYTHONPATH"}},
		{what: "a program of the folder", s: config.Server{Command: "uvx"}, program: filepath.Join(folder, "bin", "uvx"),
			nearby: "of a folder that is open"},
		{what: "a registry of the folder", s: config.Server{Command: "npx", Args: []string{"-y", "@acme/notes@1.0.0"}},
			file: ".npmrc", nearby: ".npmrc may change"},
		{what: "the package in the folder", s: config.Server{Command: "npx", Args: []string{"-y", "@acme/notes@1.0.0"}},
			file: "node_modules/@acme/notes", nearby: "notes may change"},
		{what: "its program in the folder", s: config.Server{Command: "bunx", Args: []string{"@acme/notes"}},
			file: "a/node_modules/.bin/notes", nearby: "notes may change"},
		{what: "another package in the folder", s: config.Server{Command: "npx", Args: []string{"-y", "@acme/notes"}},
			file: "node_modules/other"},
		{what: "a package of the folder itself", s: config.Server{Command: "npx", Args: []string{"-y", "@acme/notes"}},
			file: "package.json", nearby: "package.json may change"},
		{what: "uvx, which looks at no file there", s: config.Server{Command: "uvx", Args: []string{"notes"}}, file: ".npmrc"},
	} {
		if tt.file != "" {
			path := filepath.Join(folder, filepath.FromSlash(tt.file))
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(`{"bin": "x.js"}`), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var m Resolver
		m.SetFolders([]string{folder})
		r := config.Resolved{Server: tt.s}
		r.Dir = below
		id := m.IdentityOf(r, process.Program{Path: tt.program, Target: tt.program})
		if diff := cmp.Diff(tt.loading, id.Loading); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", tt.what, diff)
		}
		if diff := cmp.Diff(tt.inArgs, id.LoadingArgs); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", tt.what, diff)
		}
		if (tt.nearby == "") != (id.Nearby == "") || !strings.Contains(id.Nearby, tt.nearby) || id.Host != tt.ofTheHost {
			t.Errorf("%s: nearby %q, of the host: %v", tt.what, id.Nearby, id.Host)
		}
		if tt.file != "" {
			if err := os.RemoveAll(filepath.Join(folder, strings.Split(tt.file, "/")[0])); err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(below, 0o700); err != nil {
				t.Fatal(err)
			}
		}
	}
}
