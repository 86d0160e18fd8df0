package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const twoServers = `"mcpServers": {"files": {"command": "a"}, "git hub": {"command": "b"}}`

func profilesOf(t *testing.T, path, scope, text string) (profiles []Profile, problems []string) {
	t.Helper()
	sources := []Source{{Path: path, Scope: scope, JSON: []byte(text)}}
	_, found := Load(sources)
	for _, p := range found {
		if p.Fatal {
			t.Errorf("%v is fatal", p)
		}
		problems = append(problems, p.String())
	}
	return Read(sources).Profiles, problems
}

func TestProfiles(t *testing.T) {
	whole := Profile{Name: "review", Servers: []string{"files", "git*"}, Tools: map[string][]string{"files": {"read_*"}},
		Approval: "client", Questions: "either", ToolsMode: "search", MaxTokens: 10000, PlainNames: true}
	tests := []struct {
		name, path, scope, text string
		want                    []Profile
		problems                []string // a part of each
	}{
		{"whole", "mcp-config.json", "user", `{` + twoServers + `, "mcphub": {"profiles": {"review": {
			"servers": ["files", "git*"], "tools": {"files": ["read_*"]}, "approval": "client", "questions": "either",
			"toolsMode": "search", "maxTokens": 10000, "plainNames": true, "note": "for reviews"}}}}`, []Profile{whole}, nil},
		{"TOML", ".codex/config.toml", "user", "[mcp_servers.files]\ncommand = \"a\"\n[mcphub.profiles.review]\n" +
			"servers = [\"files\", \"git*\"]\napproval = \"client\"\nquestions = \"either\"\ntoolsMode = \"search\"\n" +
			"maxTokens = 10000\nplainNames = true\ntools = {files = [\"read_*\"]}\n", []Profile{whole}, nil},
		{"sorted, and nothing said", "mcp-config.json", "host", `{` + twoServers + `, "mcphub": {"profiles": {"b": {}, "a": {}}}}`,
			[]Profile{{Name: "a"}, {Name: "b"}}, nil},
		{"a file of profiles alone", "mcp-config.json", "user", `{"mcphub": {"profiles": {"a": {}}}}`, []Profile{{Name: "a"}},
			nil},
		{"a workspace's", ".mcp.json", "workspace", `{` + twoServers + `, "mcphub": {"profiles": {"a": {"approval": "client"}}}}`,
			nil, []string{`mcphub.profiles": profiles of a workspace's file are not read`}},
		{"unknown server", "mcp-config.json", "user", "{" + twoServers + ",\n" +
			`"mcphub": {"profiles": {"a": {"servers": ["fils", "x*"], "tools": {"no": ["x"]}}}}}`,
			[]Profile{{Name: "a", Servers: []string{"fils", "x*"}, Tools: map[string][]string{"no": {"x"}}}},
			[]string{`2:43: key "mcphub.profiles.a.servers[0]": there is no server "fils"`, `there is no server "no"`}},
		{"wrong values", "mcp-config.json", "user", `{` + twoServers + `, "mcphub": {"profiles": {
			"a": {"servers": "files"}, "b": {"approval": "never"}, "c": {"maxTokens": -1}, "d": {"tools": []},
			"e": {"plainNames": 1}, "f": {"servers": [""]}, "g": 1, "h": {"speed": 1}, "i": {"maxTokens": 1e3}}}}`,
			[]Profile{{Name: "h"}}, []string{`must be an array of names, is a string; the profile is left out`,
				`must be one of "window", "client", is "never"`, `must be a whole number of tokens`, `lists of tools, by server`,
				`must be true or false`, `a name, or a glob`, `must be an object`, `is not known and was ignored; known are`,
				`must be a whole number of tokens`}},
		{"unknown settings", "mcp-config.json", "user", `{` + twoServers + `, "mcphub": {"profile": {}}}`, nil,
			[]string{`key "mcphub.profile": is not known`}},
		{"no object", "mcp-config.json", "user", `{` + twoServers + `, "mcphub": 3}`, nil, []string{"must be an object"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, problems := profilesOf(t, tt.path, tt.scope, tt.text)
			if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreFields(Profile{}, "Origin", "Named")); diff != "" {
				t.Errorf("profiles (-want +got):\n%s", diff)
			}
			if len(problems) != len(tt.problems) {
				t.Fatalf("problems:\n%s", strings.Join(problems, "\n"))
			}
			for i, want := range tt.problems {
				if !strings.Contains(problems[i], want) {
					t.Errorf("problem %d is %q, want %q", i, problems[i], want)
				}
			}
		})
	}
}

// TestProfilesOfSeveralFiles: the later file counts, and servers of all files are known.
func TestProfilesOfSeveralFiles(t *testing.T) {
	sources := []Source{
		{Path: "a.json", Scope: "user", JSON: []byte(`{"mcphub": {"profiles": {"p": {"servers": ["files"], "maxTokens": 1}}}}`)},
		{Path: "b.json", Scope: "user",
			JSON: []byte(`{` + twoServers + `, "mcphub": {"profiles": {"p": {"maxTokens": 2}}}}`)},
	}
	got := Read(sources).Profiles
	if len(got) != 1 || got[0].MaxTokens != 2 || got[0].Origin.File != "b.json" {
		t.Errorf("profiles: %+v", got)
	}
	if _, problems := Load(sources); len(problems) != 1 || !strings.Contains(problems[0].String(), "at a.json:1") {
		t.Errorf("problems: %v", problems)
	}
}

func TestProfileHas(t *testing.T) {
	p := &Profile{Servers: []string{"files", "git*"}, Tools: map[string][]string{"files": {"read_*", "list"}, "g*": {"log"}}}
	for _, tt := range []struct {
		profile      *Profile
		server, tool string
		want         bool
	}{
		{nil, "any", "tool", true}, {&Profile{}, "any", "tool", true}, {&Profile{Servers: []string{}}, "any", "tool", false},
		{p, "files", "read_file", true}, {p, "files", "list", true}, {p, "files", "write", false},
		{p, "git", "log", true}, {p, "git", "push", false}, {p, "web", "fetch", false},
		{&Profile{Tools: map[string][]string{"files": {}}}, "files", "read", false},
		{&Profile{Tools: map[string][]string{"files": {}}}, "web", "fetch", true},
	} {
		if got := tt.profile.Has(tt.server, tt.tool); got != tt.want {
			t.Errorf("%+v has %s of %s: %v", tt.profile, tt.tool, tt.server, got)
		}
	}
}

// TestProfileSchemaHasTheKeysThatAreRead keeps the schema for editors in line with the reader.
func TestProfileSchemaHasTheKeysThatAreRead(t *testing.T) {
	for key := range profileSchemas {
		_, problems := profilesOf(t, "mcp-config.json", "user", `{`+twoServers+`, "mcphub": {"profiles": {"p": {"`+key+`": null}}}}`)
		if len(problems) != 1 || !strings.Contains(problems[0], "is null; the profile is left out") {
			t.Errorf("%s: %v", key, problems)
		}
	}
	_, problems := profilesOf(t, "mcp-config.json", "user", `{`+twoServers+`, "mcphub": {"profiles": {"p": {"x": null}}}}`)
	for key := range profileSchemas {
		if len(problems) != 1 || !strings.Contains(problems[0], key) {
			t.Errorf("known keys are told as %v, without %s", problems, key)
		}
	}
}

// TestProfileNamesTools: a tool that a profile names, of a server that it names, is reported with its place if the
// server does not have it.
func TestProfileNamesTools(t *testing.T) {
	contents := Read([]Source{{Path: "a.json", Scope: "user", JSON: []byte("{" + twoServers + `,
		"mcphub": {"profiles": {"p": {"tools": {
			"files": ["read", "wirte", "list_*"],
			"f*": ["nothing"]}}}}}`)}})
	if len(contents.Profiles) != 1 || len(contents.Problems) != 0 {
		t.Fatalf("%+v", contents)
	}
	p := contents.Profiles[0]
	missing := p.MissingTools("files", map[string]bool{"read": true, "write": true})
	if len(missing) != 1 || missing[0].Line != 3 || missing[0].File != "a.json" || missing[0].Fatal ||
		!strings.Contains(missing[0].String(), `server "files" has no tool "wirte"`) {
		t.Errorf("missing are %v", missing)
	}
	if more := p.MissingTools("folders", nil); more != nil {
		t.Errorf("of another server: %v", more)
	}
}
