package edit

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/config"
)

// source returns a file of the user in a dialect.
func source(dialect, text string) config.Source {
	return config.Source{Path: "/" + map[bool]string{true: "config.toml", false: "x.json"}[dialect == "codex"],
		JSON: []byte(text), Scope: "user", Dialect: dialect}
}

func edited(t *testing.T, out Edited, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return string(out.Text)
}

func want(t *testing.T, got, want string) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func refused(t *testing.T, err error, kind Kind, text string) *Refusal {
	t.Helper()
	r, ok := errors.AsType[*Refusal](err)
	if !ok || r.Kind != kind || !strings.Contains(r.Error(), text) {
		t.Fatalf("%#v, want kind %d with %q", err, kind, text)
	}
	return r
}

const commented = `// mine
{
  // servers of mine
  "mcpServers": {
    "a": { "command": "x", }, // keep a
    // about b
    "b": {
      "command": "y", // why y
      "args": ["1", "2"]
    } // keep b
    // the end
  },
  "other": [1, 2], // stays
}
`

// Every byte that is not of the entry stays: comments, blanks, commas.
func TestAddKeepsTheRest(t *testing.T) {
	out, err := Add(source("portable", commented), "c", Form{Entry: &Entry{Command: "npx", Args: []string{"-y", "s"},
		Env: map[string]*string{"K": new("v")}}}, Settings{})
	want(t, edited(t, out, err), strings.Replace(commented, `    } // keep b
    // the end
`, `    }, // keep b
    // the end
    "c": {
      "command": "npx",
      "args": ["-y", "s"],
      "env": {
        "K": "v"
      }
    }
`, 1))
	if out.Line != 12 || out.Server.Command != "npx" {
		t.Errorf("%+v", out)
	}
}

func TestRemoveKeepsTheRest(t *testing.T) {
	out, err := Remove(source("portable", commented), "b")
	want(t, edited(t, out, err), strings.Replace(commented, `, // keep a
    // about b
    "b": {
      "command": "y", // why y
      "args": ["1", "2"]
    } // keep b
`, ` // keep a
`, 1))
	out, err = Remove(source("portable", commented), "a")
	want(t, edited(t, out, err), strings.Replace(commented, `    "a": { "command": "x", }, // keep a
`, "", 1))
}

func TestChangeKeepsTheRest(t *testing.T) {
	off := false
	out, err := Change(source("portable", commented), "b", Update{Patch: `{"args": ["3"], "env": {"K": "v"}}`,
		Settings: Settings{Enabled: &off}})
	want(t, edited(t, out, err), strings.Replace(commented, `      "args": ["1", "2"]
    } // keep b
`, `      "args": ["3"],
      "env": {
        "K": "v"
      },
      "disabled": true
    } // keep b
`, 1))
	out, err = Change(source("portable", commented), "a", Update{Settings: Settings{Enabled: &off}})
	want(t, edited(t, out, err), strings.Replace(commented, `{ "command": "x", }`,
		`{ "command": "x", "disabled": true, }`, 1))
}

// A file from Windows keeps its layout: a byte order mark, CRLF, tabs, and no newline at the end.
func TestLayoutOfTheFile(t *testing.T) {
	const text = "\uFEFF{\r\n\t\"servers\": {\r\n\t\t\"a\": {\"command\": \"x\"}\r\n\t}\r\n}"
	out, err := Add(source("vscode", text), "b", Form{Entry: &Entry{URL: "https://example.com/mcp"}}, Settings{})
	want(t, edited(t, out, err), "\uFEFF{\r\n\t\"servers\": {\r\n\t\t\"a\": {\"command\": \"x\"},\r\n\t\t\"b\": {\r\n"+
		"\t\t\t\"type\": \"http\",\r\n\t\t\t\"url\": \"https://example.com/mcp\"\r\n\t\t}\r\n\t}\r\n}")
	back, err := Remove(config.Source{JSON: out.Text, Dialect: "vscode", Scope: "user"}, "b")
	want(t, edited(t, back, err), text)
}

func TestAddToNothing(t *testing.T) {
	for dialect, text := range map[string]string{
		"vscode":     "{\n  \"servers\": {\n    \"s\": {\n      \"type\": \"stdio\",\n      \"command\": \"x\"\n    }\n  }\n}\n",
		"mcpServers": "{\n  \"mcpServers\": {\n    \"s\": {\n      \"command\": \"x\"\n    }\n  }\n}\n",
		"codex":      "[mcp_servers.s]\ncommand = \"x\"\n",
	} {
		for _, empty := range []string{"", "\n  \n"} {
			out, err := Add(source(dialect, empty), "s", Form{Entry: &Entry{Command: "x"}}, Settings{})
			if got := edited(t, out, err); strings.TrimLeft(got, "\n ") != text {
				t.Errorf("%s: %q", dialect, got)
			}
		}
	}
}

// In each dialect an entry is added with the keys of the dialect, read back as it was meant, changed, and removed.
func TestAllDialects(t *testing.T) {
	minute, off, on := time.Minute, false, true
	for _, dialect := range []string{"vscode", "portable", "roo", "cline", "claude-desktop", "cursor", "gemini", "codex",
		"opencode", "crush", "mcpServers"} {
		t.Run(dialect, func(t *testing.T) {
			empty := "{\n  \"x\": 1\n}\n"
			if dialect == "codex" {
				empty = "x = 1 # one\n"
			}
			for _, e := range []Entry{
				{Command: "npx", Args: []string{"-y", "a b"}, Env: map[string]*string{"A": new("1 \"\x7f")}, Dir: "/tmp"},
				{URL: "https://example.com/mcp", Header: map[string]string{"X-A": "1"}},
				{URL: "https://example.com/mcp", Transport: "http"},
				{URL: "https://example.com/sse", Transport: "sse"},
			} {
				out, err := Add(source(dialect, empty), "s", Form{Entry: &e}, Settings{})
				if e.URL != "" && (dialect == "claude-desktop" || dialect == "codex" && e.Transport == "sse") {
					refused(t, err, Wrong, "name another file")
					continue
				}
				added := edited(t, out, err)
				s := out.Server
				if s.Command != e.Command || !cmp.Equal(s.Args, e.Args) || s.URL != e.URL || !cmp.Equal(s.Header, e.Header) ||
					s.Dir != e.Dir || e.Env != nil && *s.Env["A"] != *e.Env["A"] {
					t.Errorf("added %+v as %+v:\n%s", e, s, added)
				}
				if len(out.Problems) > 0 {
					t.Errorf("%v in\n%s", out.Problems, added)
				}
				set := Settings{Enabled: &off, Approvals: map[string]config.Policy{"read_x": config.Allow, "rm": config.Deny},
					Timeouts: map[string]*time.Duration{"total": &minute, "connect": &minute, "idle": &minute}}
				changed, err := Change(source(dialect, added), "s", Update{Settings: set})
				text := edited(t, changed, err)
				if s := changed.Server; !s.Disabled || s.Policy("read_x") != config.Allow || s.Policy("rm") != config.Deny ||
					*s.Timeouts.Total != minute || *s.Timeouts.Connect != minute || *s.Timeouts.Idle != minute {
					t.Errorf("%+v:\n%s", changed.Server, text)
				}
				if len(changed.Problems) > 0 {
					t.Errorf("%v in\n%s", changed.Problems, text)
				}
				back, err := Change(source(dialect, text), "s", Update{Settings: Settings{Enabled: &on,
					Approvals: map[string]config.Policy{"read_x": "", "rm": ""},
					Timeouts:  map[string]*time.Duration{"total": nil, "connect": nil, "idle": nil}}})
				edited(t, back, err)
				if s := back.Server; s.Disabled || s.Policy("read_x") != config.Ask || s.Timeouts != (config.Timeouts{}) {
					t.Errorf("%+v", s)
				}
				gone, err := Remove(source(dialect, string(back.Text)), "s")
				if got := edited(t, gone, err); dialect == "codex" && strings.TrimSpace(got) != strings.TrimSpace(empty) {
					t.Errorf("%q", got)
				} else if strings.Contains(got, "npx") || strings.Contains(got, "example.com") {
					t.Errorf("%q", got)
				}
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	entry := Form{Entry: &Entry{Command: "x"}}
	_, err := Add(source("portable", commented), "b", entry, Settings{})
	if r := refused(t, err, Exists, "another name"); r.Line != 7 {
		t.Errorf("line %d", r.Line)
	}
	_, err = Change(source("portable", commented), "z", Update{})
	refused(t, err, Missing, "no entry")
	_, err = Add(source("portable", `{"mcpServers": {`), "s", entry, Settings{})
	if r := refused(t, err, Broken, "not closed"); r.Line != 1 {
		t.Errorf("line %d", r.Line)
	}
	for _, name := range []string{"", strings.Repeat("n", 100_000), "a\x1bb", "a\nb"} {
		_, err = Add(source("portable", `{}`), name, entry, Settings{})
		refused(t, err, Wrong, "name of a server")
	}
	doubled := "{\n\"mcpServers\": {\n\"s\": {\"command\": \"x\"},\n\"s\": {\"command\": \"y\"}}}"
	_, err = Remove(source("portable", doubled), "s")
	if r := refused(t, err, Unsupported, "comes twice, in line 3 and line 4"); r.Line != 4 {
		t.Errorf("line %d", r.Line)
	}
	_, err = Change(source("portable", `{"mcpServers": {"s": {"command": "x", "command": "y"}}}`), "s",
		Update{Patch: `{"command": "z"}`})
	refused(t, err, Unsupported, "comes twice")
	for patch, text := range map[string]string{
		`{"a": ` + strings.Repeat("[", 100_000): "levels deep", `[]`: "must be a JSON object", `{"a`: "no JSON",
		`{"a": 1, "a": 2}`: "twice", `{"a": "` + strings.Repeat("x", 1<<20) + `"}`: "longer than",
		"{\"a\": \"\xff\"}": "UTF-8", `{"command": null}`: "missing", `{"args": 7}`: "array", `{"command": ["x"]}`: "string",
	} {
		_, err = Change(source("portable", commented), "b", Update{Patch: patch})
		refused(t, err, Wrong, text)
	}
	// A secret in a patch that is refused is not in the error.
	_, err = Change(source("portable", commented), "b", Update{Patch: `{"env": {"K": "s3cret", "K": "s3cret"}}`})
	if strings.Contains(err.Error(), "s3cret") {
		t.Error(err)
	}
}

// A change of very many steps is refused, so that no edit takes long.
func TestWorkIsBounded(t *testing.T) {
	var patch strings.Builder
	for i := range 12_000 {
		fmt.Fprintf(&patch, `"k%d": {"a": 1},`, i)
	}
	_, err := Change(source("portable", commented), "b", Update{Patch: "{" + patch.String() + "}"})
	refused(t, err, TooLarge, "one after the other")
}

// A setting that another part of the file overrides is refused.
func TestSettingsThatDoNotTakeEffect(t *testing.T) {
	on := true
	_, err := Change(source("gemini", `{"mcp": {"excluded": ["s"]}, "mcpServers": {"s": {"command": "x"}}}`), "s",
		Update{Settings: Settings{Enabled: &on}})
	refused(t, err, Unsupported, "another place of the file")
	_, err = Change(source("roo", `{"mcpServers": {"s": {"command": "x", "approvals": {"*": "deny"}}}}`), "s",
		Update{Settings: Settings{Approvals: map[string]config.Policy{"a": config.Allow}}})
	refused(t, err, Unsupported, `a pattern of the entry says "deny"`)
}

func TestEntryTakesThePlaceOfAnother(t *testing.T) {
	out, err := Change(source("roo", `{"mcpServers": {"s": {"command": "x", "args": ["1"], "alwaysAllow": ["a"]}}}`), "s",
		Update{Entry: &Entry{URL: "https://example.com/"}})
	want(t, edited(t, out, err),
		`{"mcpServers": {"s": {"alwaysAllow": ["a"], "type": "streamable-http", "url": "https://example.com/"}}}`)
}
