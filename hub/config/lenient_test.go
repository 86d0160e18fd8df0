package config

import (
	"fmt"
	"strings"
	"testing"
)

// In every dialect a server is disabled if "enabled" or "disabled" says so, even if the other one says the opposite.
func TestOffInEveryDialect(t *testing.T) {
	for name := range dialects {
		for switches, off := range map[string]bool{
			`"enabled": false`: true, `"disabled": true`: true, `"enabled": true`: false, `"disabled": false`: false,
			`"enabled": false, "disabled": false`: true, `"disabled": true, "enabled": true`: true,
			`"enabled": true, "disabled": true`: true,
		} {
			command := `"c"`
			if name == DialectOpencode {
				command = `["c"]`
			}
			s, problems := one(t, name, `{"type": "stdio", "command": `+command+`, `+switches+`}`)
			if s.Disabled != off || name != DialectCodex && len(problems) != 0 {
				t.Errorf("%s %s: disabled %v, %v", name, switches, s.Disabled, problems)
			}
		}
	}
	if s, problems := one(t, DialectMcpServers, `{"command": "c", "isActive": false}`); !s.Disabled || len(problems) != 0 {
		t.Errorf("isActive: %v, %v", s, problems)
	}
}

// In dialects of applications that merge their files, an entry may have nothing but "enabled" or "disabled". It can
// disable the entry of another file, but not enable it, and is not reported as broken.
func TestOnlyASwitch(t *testing.T) {
	entry := func(dialect string) string {
		if dialect == DialectOpencode {
			return `{"type": "local", "command": ["c"], "enabled": %v}`
		}
		return `{"type": "stdio", "command": "c", "disabled": %v}`
	}
	for _, dialect := range []string{DialectOpencode, DialectCodex, DialectCrush, DialectGemini} {
		for _, tt := range []struct {
			theirs            string // the dialect of the switch
			mine, theirFolder string
			full, only        string // the switch in the full entry, and the entry that is only one
			off               bool
			told              string
		}{
			{dialect, "", "/w", "on", `{"enabled": false}`, true, ""},
			{dialect, "", "/w", "on", `{"disabled": true}`, true, ""},
			{dialect, "/w", "/w", "on", `{"disabled": true}`, true, ""},
			{dialect, "/v", "/w", "on", `{"disabled": true}`, false, ""},
			{dialect, "", "/w", "off", `{"enabled": true}`, true, "not followed"},
			{dialect, "", "/w", "off", `{"disabled": false}`, true, "not followed"},
			{dialect, "", "/w", "on", `{"enabled": 0}`, false, "is missing"},
			{DialectRoo, "", "/w", "on", `{"disabled": true}`, false, "is missing"},
		} {
			value := (tt.full == "off") != (dialect == DialectOpencode)
			full := inFile(dialect, `"s": `+fmt.Sprintf(entry(dialect), value))
			// for entries of the user see TestWorkspaceSwitchesNothingOfTheUsersOff
			full.Scope, full.Folder, full.Path = "workspace", tt.mine, "full"
			full.Dialect = dialect
			only := inFile(tt.theirs, `"s": `+tt.only)
			only.Scope, only.Folder, only.Path = "workspace", tt.theirFolder, "only"
			for _, sources := range [][]Source{{full, only}, {only, full}} {
				servers, problems := All(sources)
				var about []string
				for _, p := range problems {
					if p.File == "only" {
						about = append(about, p.Message)
					}
				}
				if len(servers) != 1 || servers[0].Disabled != tt.off || (tt.told == "") != (about == nil) ||
					!strings.Contains(strings.Join(about, "\n"), tt.told) {
					t.Errorf("%s %+v: %+v, %v", dialect, tt, servers, problems)
				}
			}
		}
	}
}

// JSON has no comments: the keys that users write in their place are not reported, in an entry or beside it.
func TestRemarksAreNoMistakes(t *testing.T) {
	for name, d := range dialects {
		for _, remark := range []string{"description", "_comment", "//", "// why", "$comment", "#", "note", "title"} {
			if _, known := d.keys[remark]; known {
				continue
			}
			entry := goodEntry(name, "s")
			entry = strings.Replace(entry, "{", fmt.Sprintf("{%q: \"for the shop\", ", remark), 1)
			beside := ""
			if strings.ContainsAny(remark[:1], "_/$#") {
				beside = fmt.Sprintf("%q: \"all of them\", ", remark)
			}
			servers, problems := Load([]Source{inFile(name, beside+entry)})
			if len(servers) != 1 || len(problems) != 0 {
				t.Errorf("%s %s: %v, %v", name, beside+entry, servers, problems)
			}
		}
	}
	// A server may have such a name.
	if servers, problems := Load([]Source{inFile(DialectPortable, `"_old": {"command": "c"}`)}); len(servers) != 1 ||
		len(problems) != 0 {
		t.Errorf("%v, %v", servers, problems)
	}
}

// An empty list under the key of another application is not reported; one with tools in it is.
func TestEmptyListsOfOthers(t *testing.T) {
	for entry, told := range map[string]int{`"autoApprove": []`: 0, `"autoApprove": ["x"]`: 1, `"autoApprov": []`: 1,
		`"autoApprove": {}`: 1} {
		if _, problems := one(t, DialectRoo, `{"command": "c", `+entry+`}`); len(problems) != told {
			t.Errorf("%s: %v", entry, problems)
		}
	}
}

func TestSpellingsOfTypes(t *testing.T) {
	for _, tt := range []struct{ dialect, keys, want string }{
		{DialectPortable, `"type": "streamable_http"`, TransportHTTP},
		{DialectCursor, `"type": "streamableHTTP"`, TransportHTTP},
		{DialectVSCode, `"type": "SSE"`, TransportSSE},
		{DialectVSCode, `"type": "HTTP"`, TransportAuto},
		{DialectMcpServers, `"transport": "streamable-http"`, TransportHTTP},
		{DialectMcpServers, `"transportType": "sse"`, TransportSSE},
		{DialectMcpServers, `"transport": {"type": "http"}`, TransportHTTP},
		{DialectMcpServers, `"type": "sse", "transport": "http"`, TransportSSE},
	} {
		s, problems := one(t, tt.dialect, `{"url": "https://a.example/mcp", `+tt.keys+`}`)
		if s.Transport != tt.want || len(problems) != 0 {
			t.Errorf("%s %s: %q, %v", tt.dialect, tt.keys, s.Transport, problems)
		}
	}
	for _, kind := range []string{"pigeon", "", "-", strings.Repeat("x", 1000)} {
		if servers, problems := Load([]Source{inFile(DialectPortable, `"s": {"url": "https://a.example", "type": "`+kind+
			`"}`)}); len(servers) != 0 || len(problems) != 1 || len(problems[0].Message) > 200 {
			t.Errorf("%.10s: %v, %v", kind, servers, problems)
		}
	}
}

// An entry that was copied from another application may have that application's spelling of variables. They are not
// expanded, so that a token would be the text "${TOKEN}": that is reported.
func TestVariablesOfOthers(t *testing.T) {
	for _, tt := range []struct{ dialect, entry, key string }{
		{DialectCline, `{"command": "${workspaceFolder}/s"}`, "command"},
		{DialectCline, `{"command": "c", "env": {"A": "${env:A}", "B": "${B_s3cret}"}}`, "env.B"},
		{DialectCline, `{"command": "c", "env": {"A": "${env:A}"}}`, ""},
		{DialectCursor, `{"command": "c", "env": {"A": "${A}"}}`, "env.A"},
		{DialectCursor, `{"command": "c", "args": ["${workspaceFolder}", "${userHome}${/}x", "${env:A}"]}`, ""},
		{DialectCursor, `{"url": "https://a.example", "headers": {"X": "Bearer ${X}"}}`, "headers.X"},
		{DialectRoo, `{"command": "c", "args": ["--key=${KEY}"]}`, "args[0]"},
		{DialectRoo, `{"command": "c", "args": ["${workspaceFolder}"]}`, ""},
		{DialectPortable, `{"command": "c", "env": {"A": "${env:A}"}}`, "env.A"},
		{DialectPortable, `{"command": "c", "env": {"A": "${A:-b}", "B": "$B", "C": "a$}{"}}`, ""},
		{DialectGemini, `{"command": "c", "env": {"A": "${env:A}"}}`, "env.A"},
		{DialectGemini, `{"command": "c", "env": {"A": "${A}", "B": "$B"}}`, ""},
		{DialectVSCode, `{"command": "c", "env": {"A": "${A}"}}`, ""}, // reported by Resolve
		{DialectCrush, `{"type": "stdio", "command": "c", "env": {"A": "${A}"}}`, ""},
		{DialectOpencode, `{"type": "local", "command": ["c"], "environment": {"A": "${A}"}}`, "environment.A"},
		{DialectOpencode, `{"type": "local", "command": ["c"], "environment": {"A": "{env:A}"}}`, ""},
		// A shell has variables of its own.
		{DialectCline, `{"args": ["-c", "exec s --home ${HOME}"], "command": "/bin/bash"}`, ""},
		{DialectOpencode, `{"type": "local", "command": ["bash", "-c", "exec s --home ${HOME}"]}`, ""},
		{DialectDesktop, `{"command": "sh", "args": ["-c", "exec s --home ${HOME}"]}`, ""},
		{DialectDesktop, `{"command": "smash", "args": ["--home=${HOME}"]}`, "args[0]"},
	} {
		_, problems := one(t, tt.dialect, tt.entry)
		switch {
		case tt.key == "" && len(problems) == 0:
		case tt.key == "" || len(problems) != 1 || problems[0].Key != tt.key || problems[0].Fatal ||
			!strings.Contains(problems[0].Message, "used as it stands") || strings.Contains(problems[0].Message, "s3cret"):
			t.Errorf("%s %s: %v, want one for %q", tt.dialect, tt.entry, problems, tt.key)
		}
	}
	for name, d := range dialects {
		if grammar := grammars[name]; d.reference != nil && d.forms == "" && grammar.refers != nil &&
			!grammar.refers.MatchString("${a b}") {
			t.Errorf("%s leaves references as they are, and no message says which it has", name)
		}
	}
}
