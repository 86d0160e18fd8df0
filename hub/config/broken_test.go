package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// inFile returns a file of a dialect with these entries, in JSON. Each entry has a line of its own, from line 2 on.
func inFile(dialect string, entries ...string) Source {
	return Source{
		Path: "f", Dialect: dialect, Scope: "host",
		JSON: []byte(`{"` + holder(dialect) + "\": {\n" + strings.Join(entries, ",\n") + "\n}}"),
	}
}

// goodEntry returns an entry that runs the command c.
func goodEntry(dialect, name string) string {
	entry := map[string]string{
		DialectOpencode: `{"type": "local", "command": ["c"]}`,
		DialectCrush:    `{"type": "stdio", "command": "c"}`,
	}[dialect]
	if entry == "" {
		entry = `{"command": "c"}`
	}
	return fmt.Sprintf("%q: %s", name, entry)
}

// Every broken entry is between two good ones, in a file between two good files: all good ones must be loaded, in
// order, and the broken one must be reported with its place.
func TestBrokenEntryHidesNoOther(t *testing.T) {
	type broken struct{ entry, key string }
	inAll := []broken{{`[]`, ""}, {`"text"`, ""}, {`{}`, "command"}}
	usual := []broken{
		{`{"command": 1}`, "command"},
		{`{"command": "x", "args": [true]}`, "args[0]"},
		{`{"command": "x", "env": {"A": []}}`, "env.A"},
		{`{"command": "x", "timeouts": {"idle": "soon"}}`, "timeouts.idle"},
		{`{"command": "x", "approvals": {"t": "maybe"}}`, "approvals.t"},
		{`{"command": "x", "stop": {"stdin": {}}}`, "stop.stdin"},
		{`{"command": "x", "inheritEnv": "A"}`, "inheritEnv"},
		{`{"command": "x", "inheritEnv": [1]}`, "inheritEnv[0]"},
		{`{"command": "x", "inheritEnv": ["A", "B=C"]}`, "inheritEnv[1]"},
	}
	remote := []broken{
		{`{"type": "http"}`, "url"},
		{`{"type": "pigeon", "url": "https://example.com"}`, "type"},
		{`{"url": "example.com"}`, "url"},
		{`{"url": "https://example.com", "headers": {"Accept": "x"}}`, "headers.Accept"},
	}
	both := append(append(append([]broken{}, inAll...), usual...), remote...)
	withMore := func(more ...broken) []broken { return append(append([]broken{}, both...), more...) }
	for dialect, tests := range map[string][]broken{
		DialectMcpServers: withMore(broken{`{"url": "https://example.com", "oauth": {"redirectPort": 65536}}`,
			"oauth.redirectPort"}),
		DialectVSCode: withMore(broken{`{"command": "x", "sandboxEnabled": true}`, "sandboxEnabled"}),
		DialectPortable: withMore(broken{`{"command": "x", "timeout": "1m"}`, "timeout"},
			broken{`{"command": "x", "tools": "*"}`, "tools"}),
		DialectCursor: withMore(broken{`{"serverUrl": 1}`, "serverUrl"}),
		DialectGemini: withMore(broken{`{"command": "x", "trust": 1}`, "trust"},
			broken{`{"command": "x", "timeout": -1}`, "timeout"}),
		DialectCline: withMore(broken{`{"transport": {"type": "stdio", "command": 1}}`, "transport.command"},
			broken{`{"command": "x", "autoApprove": [1]}`, "autoApprove[0]"}),
		DialectDesktop: append(append(append([]broken{}, inAll...), usual...),
			broken{`{"url": "https://example.com/mcp"}`, "url"}),
		DialectRoo: append(append(append([]broken{}, inAll...), usual...),
			broken{`{"command": "x", "alwaysAllow": "*"}`, "alwaysAllow"}, broken{`{"type": "sse"}`, "url"}),
		DialectCrush: {
			inAll[0], inAll[1], {`{"type": "stdio"}`, "command"}, {`{"type": "stdio", "command": "$(x)"}`, "command"},
			{`{"type": "stdio", "command": "x", "timeout": 0}`, "timeout"}, {`{"type": "sse"}`, "url"},
		},
		DialectOpencode: {
			inAll[0], inAll[1], inAll[2], {`{"type": "local", "command": "x"}`, "command"},
			{`{"type": "local", "command": [1]}`, "command[0]"},
			{`{"type": "local", "command": ["x"], "environment": 1}`, "environment"}, {`{"type": "remote"}`, "url"},
			{`{"type": "tcp"}`, "type"},
		},
		DialectCodex: {
			inAll[0], inAll[1], inAll[2], {`{"command": "x", "env_vars": [1]}`, "env_vars[0]"},
			{`{"command": "x", "tool_timeout_sec": "1"}`, "tool_timeout_sec"},
			{`{"url": "https://example.com", "bearer_token": "x"}`, "bearer_token"},
			{`{"command": "x", "tools": {"t": {"approval_mode": "x"}}}`, "tools.t.approval_mode"},
		},
	} {
		for _, tt := range tests {
			t.Run(dialect+tt.entry, func(t *testing.T) {
				middle := inFile(dialect, goodEntry(dialect, "2"), ` "bad": `+tt.entry, goodEntry(dialect, "3"))
				middle.Path = "middle"
				before, after := inFile(dialect, goodEntry(dialect, "1")), inFile(dialect, goodEntry(dialect, "4"))
				servers, problems := Load([]Source{before, middle, after})
				var names []string
				for _, s := range servers {
					names = append(names, s.Name)
				}
				if diff := cmp.Diff([]string{"1", "2", "3", "4"}, names); diff != "" {
					t.Error(diff)
				}
				var fatal []Problem
				for _, p := range problems {
					if p.Fatal {
						fatal = append(fatal, p)
					}
				}
				if len(fatal) != 1 {
					t.Fatalf("problems: %v", problems)
				}
				p := fatal[0]
				if p.File != "middle" || p.Line != 3 || p.Column < 2 || p.Server != "bad" || p.Key != tt.key {
					t.Errorf("got %+v", p)
				}
				if !strings.HasPrefix(p.String(), fmt.Sprintf(`middle:3:%d: server "bad": `, p.Column)) {
					t.Errorf("as text: %s", p)
				}
			})
		}
	}
}
