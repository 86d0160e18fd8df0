package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// everywhere returns a server with the text in each field that can have one.
func everywhere(dialect, text string) Server {
	return Server{
		Name: "srv", Command: text, Args: []string{text}, Dir: text, EnvFile: text,
		Env: map[string]*string{text: &text, "B": nil},
		URL: text, Header: map[string]string{"X-A": text},
		OAuth: OAuth{
			ClientID: text, ClientSecret: text, ClientMetadataURL: text, Scopes: []string{text}, PrivateKeyPEM: text,
			WorkloadToken: text, WorkloadTokenFile: text,
			IDP: IdentityProvider{text, text, text, text},
		},
		Watch: []string{text}, Tools: ToolFilter{Only: []string{text}}, Approvals: map[string]Policy{text: Allow},
		Origin: Origin{File: "/conf/mcp.json", Dialect: dialect, Folder: native("/repos/app")},
	}
}

func TestFieldsThatAreExpanded(t *testing.T) {
	all := "command args cwd envFile env url headers oauth"
	for dialect, tt := range map[string]struct{ reference, fields string }{
		DialectVSCode:   {"${env:TOKEN}", all},
		DialectPortable: {"${TOKEN}", "command args env url headers oauth"},
		DialectRoo:      {"${env:TOKEN}", all},
		DialectCline:    {"${env:TOKEN}", all},
		DialectCursor:   {"${env:TOKEN}", "command args envFile env url headers oauth"},
		DialectGemini:   {"$TOKEN", all},
		DialectOpencode: {"{env:TOKEN}", all},
		DialectCrush:    {"$TOKEN", "command args env url headers oauth"},
		DialectDesktop:  {"${TOKEN}", ""},
		DialectCodex:    {"${TOKEN}", ""},
	} {
		s := everywhere(dialect, tt.reference)
		e := newExpander(s, world())
		out := s.clone()
		found := map[string]bool{}
		out.eachText(e.grammar.fields, func(field string, text *string) {
			if *text = e.expand(field, *text); *text != "s3cret-token" {
				t.Errorf("%s: %s became %q", dialect, field, *text)
			}
			base, _, _ := strings.Cut(field, ".")
			base, _, _ = strings.Cut(base, "[")
			found[base] = true
		})
		for _, field := range strings.Fields(tt.fields) {
			if !found[field] {
				t.Errorf("%s: %s is not expanded", dialect, field)
			}
			delete(found, field)
		}
		if len(found) > 0 {
			t.Errorf("%s: %v should not be expanded", dialect, found)
		}
		// Names are never expanded, nor patterns, scopes and the workload's token file.
		for name := range out.Env {
			if name != tt.reference && name != "B" {
				t.Errorf("%s: a name became %q", dialect, name)
			}
		}
		if out.Watch[0] != tt.reference || out.Tools.Only[0] != tt.reference || out.OAuth.Scopes[0] != tt.reference ||
			out.OAuth.WorkloadTokenFile != tt.reference {
			t.Errorf("%s: %+v", dialect, out)
		}
		if diff := cmp.Diff(everywhere(dialect, tt.reference), s); diff != "" {
			t.Errorf("%s: the server itself was changed: %s", dialect, diff)
		}
	}
}

func TestWorkingDirectory(t *testing.T) {
	all := world()
	for _, tt := range []struct {
		dialect, dir, folder, file, scope string
		vars                              Variables
		want                              string
	}{
		{DialectPortable, "sub", "/repos/x", "/conf/f", "", all, "/repos/x/sub"},
		{DialectPortable, "../y", "/repos/x", "/conf/f", "", all, "/repos/y"},
		{DialectPortable, "sub", "", "/conf/f", "", all, "/repos/app/sub"},
		{DialectPortable, "sub", "", "/conf/f", "", Variables{}, "/conf/sub"},
		{DialectPortable, "sub", "", "inline", "", Variables{Cwd: "/run"}, "/run/sub"},
		{DialectPortable, "sub", "", "dir/mcp.json", "", Variables{Cwd: "/run"}, "/run/dir/sub"},
		{DialectPortable, "sub", "", "inline", "", Variables{}, "sub"},
		{DialectPortable, "/abs/./x", "/repos/x", "/conf/f", "", all, "/abs/./x"},
		{DialectPortable, "~/x", "/repos/x", "/conf/f", "", all, "/h/me/x"},
		{DialectPortable, "~", "/repos/x", "/conf/f", "", all, "/h/me"},
		{DialectPortable, "~x", "/repos/x", "/conf/f", "", all, "/repos/x/~x"},
		{DialectPortable, "~/x", "/repos/x", "/conf/f", "", Variables{}, "/repos/x/~/x"},
		{DialectVSCode, "${workspaceFolder}/s", "/repos/x", "/conf/f", "", all, "/repos/x/s"},
		{DialectVSCode, "${env:HOST}", "/repos/x", "/conf/f", "", all, "/repos/x/s3cret.example.com"},
		{DialectVSCode, "", "/repos/x", "/conf/f", "workspace", all, "/repos/x"},
		{DialectVSCode, "", "", "/conf/f", "workspace", all, "/repos/app"}, // the only folder
		{DialectRoo, "", "", "/conf/f", "workspace", all, "/repos/app"},
		{DialectRoo, "", "", "/conf/f", "user", Variables{Home: "/h"}, "/conf"},
		{DialectDesktop, "", "/repos/x", "/conf/f", "user", all, "/h/me"},
		{DialectPortable, "", "", "/conf/f", "workspace", all, "/conf"},
		{DialectPortable, "", "", "inline", "workspace", all, "/h/me"},
		// Finding D2: where the file is, unless that is the place of an application's settings.
		{DialectPortable, "", "", "/conf/f", "user", all, "/conf"},
		{DialectPortable, "", "", "/h/me/work/mcp.json", "host", all, "/h/me/work"},
		{DialectPortable, "", "", "/h/me/mcp.json", "user", all, "/h/me"},
		{DialectCursor, "", "", "/h/me/.cursor/mcp.json", "user", all, "/h/me"},
		{DialectCursor, "", "", "/repos/x/.cursor/mcp.json", "user", all, "/repos/x"},
		{DialectCline, "", "", "/h/me/.config/Code/User/globalStorage/c/cline_mcp_settings.json", "user", all, "/h/me"},
		{DialectCline, "", "", "/h/me/Library/Application Support/Code/cline_mcp_settings.json", "user", all, "/h/me"},
		{DialectMcpServers, "", "", "", "host", all, "/run/hub"}, // a text, where the host runs
		{DialectMcpServers, "", "", "dir/mcp.json", "host", all, "/run/hub/dir"},
		{DialectMcpServers, "", "", "", "host", Variables{Cwd: "/", Home: "/h"}, "/h"},
		{DialectMcpServers, "", "", "/nowhere/mcp.json", "host", Variables{Home: "/h", IsFolder: func(string) bool {
			return false
		}},
			"/h"},
		{DialectMcpServers, "", "", "", "host", Variables{}, ""},
	} {
		dir := tt.dir
		if strings.HasPrefix(dir, "/") {
			dir = filepath.ToSlash(native(dir)) // the file may spell it so
		}
		s := Server{Command: "c", Dir: dir, Origin: Origin{Dialect: tt.dialect, Folder: native(tt.folder),
			File: native(tt.file), Scope: tt.scope}}
		tt.vars.Home, tt.vars.Cwd = native(tt.vars.Home), native(tt.vars.Cwd)
		r, err := s.Resolve(tt.vars)
		if err != nil || r.Dir != native(tt.want) {
			t.Errorf("%+v: %q, %v", tt, r.Dir, err)
		}
		if shown := s.Shown(tt.vars); !strings.Contains(tt.dir, "env:") && shown.Dir != r.Dir {
			t.Errorf("%+v: shown as %q", tt, shown.Dir)
		}
	}
	if r, err := (Server{URL: "https://x.example", Origin: Origin{Folder: "/w"}}).Resolve(all); err != nil || r.Dir != "" {
		t.Errorf("no process has no directory: %q, %v", r.Dir, err)
	}
}

// What a user's own entry runs does not depend on the folder that happens to be open, which may be anybody's: npx,
// python -m and node look for what they run where they run. It runs in the folder only if it says so, in every dialect.
func TestUsersEntryDoesNotRunInTheFolder(t *testing.T) {
	const settings = "/h/me/.config/app/mcp.json"
	for dialect := range dialects {
		for _, scope := range []string{"user", "host"} {
			for _, c := range [][3]string{
				{"", settings, "/h/me"}, {"", "/h/me/.app.json", "/h/me"}, {"", "/conf/mcp.json", "/conf"}, {"sub", "/conf/mcp.json",
					"/conf/sub"}, {".", "/conf/mcp.json", "/conf"}, {"~/x", settings, "/h/me/x"},
			} {
				if dialect == DialectDesktop && c[0] == "" {
					c[2] = "/h/me"
				}
				s := Server{Command: "npx", Dir: c[0], EnvFile: ".env", Origin: Origin{Dialect: dialect, Folder: native("/repos/x"),
					File: native(c[1]), Scope: scope}}
				read := ""
				v := Variables{Home: native("/h/me"), Cwd: native("/repos/x"), Folders: map[string]string{"x": native("/repos/x")},
					ReadFile: func(name string) ([]byte, error) {
						read = name
						return nil, nil
					}}
				r, err := s.Resolve(v)
				if err != nil || r.Dir != native(c[2]) || s.Shown(v).Dir != r.Dir {
					t.Errorf("%s %s %q in %s: runs in %s, shown as %s (%v)", dialect, scope, c[0], c[1], r.Dir, s.Shown(v).Dir, err)
				}
				if read != filepath.Join(filepath.Dir(native(c[1])), ".env") {
					t.Errorf("%s %s: reads %s", dialect, scope, read)
				}
			}
		}
	}
	s := Server{Command: "c", Dir: "${workspaceFolder}/s", Origin: Origin{Dialect: DialectVSCode, Folder: native("/repos/x"),
		File: native(settings), Scope: "user"}}
	if r, err := s.Resolve(world()); err != nil || r.Dir != native("/repos/x/s") {
		t.Errorf("an entry that names the folder: %s, %v", r.Dir, err)
	}
	s.Origin.Folder = "" // nobody has trusted it
	if r, err := s.Resolve(Variables{Home: native("/h/me")}); err == nil {
		t.Errorf("without a folder: %s", r.Dir)
	}
	// A text that a host hands over, with the folder for it, has no place of its own.
	s = Server{Command: "c", Origin: Origin{Dialect: DialectMcpServers, Folder: native("/repos/x"), Scope: "host"}}
	if r, err := s.Resolve(world()); err != nil || r.Dir != native("/repos/x") {
		t.Errorf("a host's text: %s, %v", r.Dir, err)
	}
}

func TestWhatAValueMustNotBringIn(t *testing.T) {
	root := filepath.ToSlash(native("/"))
	for _, tt := range []struct {
		server    Server
		key, want string
	}{
		{Server{Command: "${env:NUL}"}, "command", "zero byte"},
		{Server{Command: "${env:EMPTY}"}, "command", "is empty"},
		{Server{Command: "c", Args: []string{"a", "${env:NUL}"}}, "args[1]", "zero byte"},
		{Server{Command: "c", Dir: root + "${env:NUL}"}, "cwd", "zero byte"},
		{Server{Command: "c", EnvFile: root + "${env:NUL}"}, "envFile", "zero byte"},
		{Server{Command: "c", EnvFile: root + "${env:TOKEN}"}, "envFile",
			fmt.Sprintf("the file %q cannot be read", native("/")+"${env:TOKEN}")},
		{Server{Command: "c", Env: map[string]*string{"A": new("${env:NUL}")}}, "env.A", "zero byte"},
		{Server{URL: "https://x.example", Header: map[string]string{"X-A": "${env:LINE}"}}, "headers.X-A", "line ends"},
		{Server{URL: "https://x.example", Header: map[string]string{"X-A": "${env:NUL}"}}, "headers.X-A",
			"control characters"},
		{Server{URL: "${env:TOKEN}"}, "url", "must begin with https"},
		{Server{URL: "https://${env:LINE}"}, "url", "is not a URL"},
		{Server{URL: "https:///${env:TOKEN}"}, "url", "has no host"},
		{Server{URL: "https://${env:TOKEN}@x.example"}, "url", "user name"},
		{Server{URL: "https://x.example/#${env:TOKEN}"}, "url", "fragment"},
		{Server{URL: "${env:EMPTY}"}, "url", "is empty"},
	} {
		s := tt.server
		s.Name = "srv"
		s.Origin = Origin{File: "f", Line: 2, Dialect: DialectVSCode}
		base, _, _ := strings.Cut(tt.key, "[")
		s.Fields = map[string]Place{base: {4, 6, base}}
		_, err := s.Resolve(world())
		if err == nil || !strings.HasPrefix(err.Error(), `f:4:6: server "srv": key "`+tt.key+`": `) ||
			!strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "s3c") {
			t.Errorf("%s, %s: %v", tt.key, tt.want, err)
		}
	}
	r, err := Server{URL: "https://${env:HOST}/x?k=${env:TOKEN}", Origin: Origin{Dialect: DialectVSCode}}.Resolve(world())
	if err != nil || r.URL != "https://s3cret.example.com/x?k=s3cret-token" ||
		!slices.Contains(r.Secrets, "s3cret-token") {
		t.Errorf("%+v, %v", r, err)
	}
}

// The place of an error is that of the field, or of the list that it is in, or else of the entry.
func TestResolveErrorHasAPlace(t *testing.T) {
	for _, tt := range []struct {
		fields map[string]Place
		want   string
	}{
		{map[string]Place{"env.A": {4, 6, "environment.A"}, "env": {3, 2, "environment"}},
			`f:4:6: server "srv": key "environment.A": `},
		{map[string]Place{"env": {3, 2, "environment"}}, `f:3:2: server "srv": key "env.A": `},
		{nil, `f:2:1: server "srv": key "env.A": `},
	} {
		s := Server{Name: "srv", Command: "c", Env: map[string]*string{"A": new("${config:x}")}, Fields: tt.fields,
			Origin: Origin{File: "f", Line: 2, Dialect: DialectVSCode}}
		if _, err := s.Resolve(world()); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
	s := Server{Name: "srv", Command: "${config:x}", Origin: Origin{Dialect: DialectVSCode}}
	if _, err := s.Resolve(world()); err == nil || !strings.HasPrefix(err.Error(), `server "srv": key "command": `) {
		t.Errorf("no file: %v", err)
	}
}

func TestMissingInputComesLast(t *testing.T) {
	s := Server{Command: "c", URL: "", Args: []string{"${input:never}", "${input:stale}"}, Inputs: testInputs,
		Origin: Origin{Dialect: DialectVSCode}}
	_, err := s.Resolve(world())
	var missing *MissingInputError
	if !errors.As(err, &missing) || missing.Input.ID != "never" {
		t.Errorf("the first one: %v", err)
	}
	s.Args = append(s.Args, "${command:x}") // asking would be in vain
	if _, err = s.Resolve(world()); errors.As(err, &missing) || err == nil {
		t.Errorf("got %v", err)
	}
	// An address that is not known yet is not called wrong.
	s = Server{URL: "${input:never}", Inputs: testInputs, Origin: Origin{Dialect: DialectVSCode}}
	if _, err := s.Resolve(world()); !errors.As(err, &missing) {
		t.Errorf("got %v", err)
	}
	v := world()
	v.Input = nil
	if _, err := s.Resolve(v); !errors.As(err, &missing) {
		t.Errorf("nobody to ask: %v", err)
	}
}

// The file decides what is run: an input can be a command only if it has options, and then chooses among them.
func TestInputAsACommand(t *testing.T) {
	s := Server{Command: "${input:c}", Inputs: []Input{{ID: "c"}}, Origin: Origin{Dialect: DialectVSCode}}
	v := Variables{Input: func(string) (string, bool) { return "node", true }}
	if _, err := s.Resolve(v); err == nil || !strings.Contains(err.Error(),
		`key "command": must not come from an input`) || len(s.InputIDs()) != 0 {
		t.Errorf("any text: %v, asked for %q", err, s.InputIDs())
	}
	s.Inputs[0].Options = []InputOption{{Value: "node"}, {Value: "bun"}}
	if r, err := s.Resolve(v); err != nil || r.Command != "node" || len(s.InputIDs()) != 1 {
		t.Errorf("options: %v, %v", r.Command, err)
	}
}

// The expansion of a text ends as soon as it has become too large: a short text could ask for gigabytes.
func TestTooLargeIsGivenUpEarly(t *testing.T) {
	asked := 0
	v := Variables{Getenv: func(string) (string, bool) { asked++; return strings.Repeat("x", maxText/2+1), true }}
	_, err := Server{Command: strings.Repeat("${env:A}", 1000), Origin: Origin{Dialect: DialectVSCode}}.Resolve(v)
	if err == nil || !strings.Contains(err.Error(), "is larger than") || asked != 2 {
		t.Errorf("asked %d times: %v", asked, err)
	}
}

func TestInputIDs(t *testing.T) {
	s := Server{
		Command: "${input:b}", Args: []string{"${input:a} ${input:b}", "$input:x ${env:y}"},
		Env:    map[string]*string{"Z": new("${input:d}"), "A": new("${input:c}"), "N": nil},
		Header: map[string]string{"H": "Bearer ${input:e f}"}, Origin: Origin{Dialect: DialectVSCode},
	}
	if diff := cmp.Diff([]string{"b", "a", "c", "d", "e f"}, s.InputIDs()); diff != "" {
		t.Error(diff)
	}
	s.Origin.Dialect = DialectPortable
	if got := s.InputIDs(); got != nil {
		t.Errorf("another dialect: %v", got)
	}
}

func TestShown(t *testing.T) {
	text := "${workspaceFolder}|${userHome}|${env:TOKEN}|${input:plain}|${input:key}|${command:x}"
	s := everywhere(DialectVSCode, text)
	got := s.Shown(world())
	want := native("/repos/app") + "|" + native("/h/me") + "|${env:TOKEN}|${input:plain}|${input:key}|${command:x}"
	// A reference that can be nothing but an error leaves the whole text as it is spelled: that is what a user should
	// see.
	if got.Command != text {
		t.Errorf("with a command: %q", got.Command)
	}
	text = strings.TrimSuffix(text, "|${command:x}")
	want = strings.TrimSuffix(want, "|${command:x}")
	s = everywhere(DialectVSCode, text)
	s.Dir = "${workspaceFolder}/sub"
	got = s.Shown(world())
	if got.Command != want || got.Args[0] != want || *got.Env[text] != want || got.URL != want ||
		got.Header["X-A"] != want || got.EnvFile != want || filepath.Clean(got.Dir) != native("/repos/app/sub") {
		t.Errorf("got %q %q %q %q, folder %q, %+v", got.Command, got.URL, got.EnvFile, *got.Env[text], got.Dir, got)
	}
	s.Dir = "${env:TOKEN}"
	if got = s.Shown(world()); got.Dir != "${env:TOKEN}" {
		t.Errorf("a directory that is not known: %q", got.Dir)
	}
	for dialect, texts := range map[string][2]string{
		DialectPortable:   {"${TOKEN} ${UNSET:-x}", "${TOKEN} ${UNSET:-x}"},
		DialectRoo:        {"${env:TOKEN} ${workspaceFolder}", "${env:TOKEN} " + filepath.ToSlash(native("/repos/app"))},
		DialectCursor:     {"${env:TOKEN} ${userHome}", "${env:TOKEN} " + native("/h/me")},
		DialectGemini:     {"$TOKEN ${UNSET:-x}", "$TOKEN ${UNSET:-x}"},
		DialectOpencode:   {"{env:TOKEN} {file:/conf/key.txt}", "{env:TOKEN} {file:/conf/key.txt}"},
		DialectCrush:      {`$TOKEN ${UNSET:-x} \$A`, `$TOKEN ${UNSET:-x} \$A`},
		DialectMcpServers: {"${TOKEN}", "${TOKEN}"},
	} {
		if got := everywhere(dialect, texts[0]).Shown(world()); got.Command != texts[1] {
			t.Errorf("%s: %q", dialect, got.Command)
		}
	}
}
