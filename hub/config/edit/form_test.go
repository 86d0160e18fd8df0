package edit

import (
	"slices"
	"strings"
	"testing"
)

// A pasted text becomes an entry in the dialect of the file, whatever application it was written for.
func TestPasted(t *testing.T) {
	for _, c := range []struct{ name, from, text, to, want, left string }{
		{"entry", "", `{"command": "npx", "args": ["-y", "s"]}`, "opencode",
			`{"type": "local", "command": ["npx", "-y", "s"]}`, ""},
		{"file", "", `{"servers": {"other": {"type": "stdio", "command": "x", "env": {"A": "${env:A}"}}}}`, "portable",
			`{"command": "x", "env": {"A": "${A}"}}`, ""},
		{"part", "", `"other": {"command": "x", "autoApprove": ["a"]},`, "portable", `{"command": "x"}`, "autoApprove"},
		{"named", "", `{"mcpServers": {"a": {"command": "x"}, "s": {"command": "y", "disabled": true, "idleStop": "1m"}}}`,
			"codex", `{"command": "y", "enabled": false, "idleStop": "1m"}`, ""},
		{"opencode", "", `{"type": "local", "command": ["x", "{env:A}"], "environment": {"B": "1"}}`, "roo",
			`{"command": "x", "args": ["${env:A}"], "env": {"B": "1"}}`, ""},
		{"same dialect", "cline", `{"command": "x", "env": {"A": "${env:A}"}, "autoApprove": ["a"], "n": {"deep": [1]}}`, "cline",
			`{"command": "x", "env": {"A": "${env:A}"}, "autoApprove": ["a"], "n": {"deep": [1]}}`, ""},
		{"gemini", "gemini", `{"httpUrl": "https://example.com/${A}"}`, "cline",
			`{"type": "streamableHttp", "url": "https://example.com/${env:A}"}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := Form{JSON: c.text, Dialect: c.from}
			o, left, r := f.in("s", c.to)
			if r != nil {
				t.Fatal(r)
			}
			got := jsonText(o, "", "", "", true)
			want(t, strings.NewReplacer("{ ", "{", " }", "}").Replace(got), c.want)
			if strings.Join(left, ",") != c.left {
				t.Errorf("left out %q", left)
			}
		})
	}
}

func TestPastedRefused(t *testing.T) {
	for _, c := range []struct{ from, text, to, want string }{
		{"", `nonsense`, "roo", "not JSON"},
		{"", `{}`, "roo", "no server"},
		{"", `{"a": 1}`, "roo", "no server"},
		{"", `{"mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}}}`, "roo", "2 servers"},
		{"", `{"command": "x", "command": "y"}`, "roo", "twice"},
		{"vscode", `{"command": "x", "args": ["${input:token}"]}`, "portable", "variable"},
		{"vscode", `{"command": "x", "args": ["${env:A}"]}`, "claude-desktop", "variable"},
		{"claude-desktop", `{"command": "x", "args": ["$HOME"]}`, "gemini", "would become a variable"},
		{"", `{"command": 7}`, "roo", "must be"},
	} {
		f := Form{JSON: c.text, Dialect: c.from}
		_, _, r := f.in("s", c.to)
		if r == nil || !strings.Contains(r.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.text, r, c.want)
		}
	}
}

// Whatever a file holds, what was added can be removed, a change leaves the entry there, and the same change again
// gives the same text.
func FuzzEdit(f *testing.F) {
	for _, text := range []string{commented, codexFile, `{}`, `{"mcpServers":{}}`, `{"mcpServers":{"s":{"command":"x"}}}`,
		"// c\n{\"servers\": {\"s\": {} /* c */ , /* d */ }, }", "{\"mcpServers\": {\"s\": {\"command\": \"x\" // c\n}}}"} {
		f.Add(text, "s", `{"args": ["1"]}`)
	}
	f.Fuzz(func(t *testing.T, text, name, patch string) {
		for _, dialect := range []string{"codex", "vscode", "portable"} {
			src := source(dialect, text)
			added, err := Add(src, name, Form{Entry: &Entry{Command: "x"}}, Settings{})
			if err == nil {
				src.JSON = added.Text
				if _, err := Remove(src, name); err != nil {
					t.Errorf("%s: what was added cannot be removed: %v\n%s", dialect, err, added.Text)
				}
			}
			changed, err := Change(src, name, Update{Patch: patch})
			if err == nil && changed.Server == nil {
				t.Errorf("%s: no entry in\n%s", dialect, changed.Text)
			}
			if again, err := Change(src, name, Update{Patch: patch}); err == nil && !slices.Equal(again.Text, changed.Text) {
				t.Errorf("%s: twice is not the same", dialect)
			}
		}
	})
}
