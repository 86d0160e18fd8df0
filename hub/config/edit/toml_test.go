package edit

import (
	"strings"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/hub/config"
)

const codexFile = `# mine
model = "gpt" # the model

# about a
[mcp_servers.a]
command = "x" # why x
args = [
  "1", # one ]
  "2",
]
env = { A = "1" }

# about b
[mcp_servers.b]
command = 'y'

[mcp_servers.b.env] # of b
# the key
K = """
v"""

[[other]]
n = 1
`

func TestTOMLAdd(t *testing.T) {
	out, err := Add(source("codex", codexFile), "c.d", Form{Entry: &Entry{Command: "z", Args: []string{"1"},
		Env: map[string]*string{"A B": new(`q"`)}}}, Settings{})
	want(t, edited(t, out, err), codexFile+`
[mcp_servers."c.d"]
command = "z"
args = ["1"]

[mcp_servers."c.d".env]
"A B" = "q\""
`)
	back, err := Remove(source("codex", string(out.Text)), "c.d")
	want(t, edited(t, back, err), codexFile+"\n")
}

func TestTOMLRemove(t *testing.T) {
	out, err := Remove(source("codex", codexFile), "b")
	want(t, edited(t, out, err), codexFile[:strings.Index(codexFile, "# about b")]+codexFile[strings.Index(codexFile, "[[other"):])
	out, err = Remove(source("codex", codexFile), "a")
	want(t, edited(t, out, err), codexFile[:strings.Index(codexFile, "# about a")]+codexFile[strings.Index(codexFile, "# about b"):])
}

func TestTOMLChange(t *testing.T) {
	out, err := Change(source("codex", codexFile), "a", Update{Patch: `{"args": ["3"], "env": {"B": "2", "A": null}}`,
		Settings: Settings{Timeouts: map[string]*time.Duration{"total": new(90 * time.Second)},
			Approvals: map[string]config.Policy{"read": config.Allow}}})
	want(t, edited(t, out, err), strings.NewReplacer(`[
  "1", # one ]
  "2",
]`, `["3"]`, `{ A = "1" }
`, `{ B = "2" }
tools = { read = { approval_mode = "approve" } }
tool_timeout_sec = 90
`).Replace(codexFile))
	out, err = Change(source("codex", codexFile), "b", Update{Patch: `{"env": {"K": "w", "L": "2"}, "cwd": "/tmp"}`})
	want(t, edited(t, out, err), strings.NewReplacer(`K = """
v"""
`, `K = "w"
L = "2"
`, `command = 'y'
`, `command = 'y'
cwd = "/tmp"
`).Replace(codexFile))
	out, err = Change(source("codex", codexFile), "b", Update{Entry: &Entry{URL: "https://example.com/mcp"}})
	want(t, edited(t, out, err), strings.NewReplacer(`command = 'y'

[mcp_servers.b.env] # of b
# the key
K = """
v"""
`, `url = "https://example.com/mcp"
`).Replace(codexFile))
}

// Dotted keys within the server's own table are edited, too.
func TestTOMLDottedKeys(t *testing.T) {
	const text = "[mcp_servers.a]\ncommand = \"x\"\nenv.A = \"1\"\n"
	out, err := Change(source("codex", text), "a", Update{Patch: `{"env": {"B": "2"}}`})
	want(t, edited(t, out, err), text+"env.B = \"2\"\n")
	out, err = Change(source("codex", text), "a", Update{Patch: `{"env": null}`})
	want(t, edited(t, out, err), "[mcp_servers.a]\ncommand = \"x\"\n")
}

// All other forms are refused with their line, and nothing is changed.
func TestTOMLRefuses(t *testing.T) {
	for text, line := range map[string]int{
		"x = 1\nmcp_servers = { a = { command = \"x\" } }\n":                 2,
		"[mcp_servers]\na = { command = \"x\" }\n":                           2,
		"[mcp_servers]\na.command = \"x\"\n":                                 2,
		"mcp_servers.a.command = \"x\"\n":                                    1,
		"[mcp_servers.a.env]\nA = \"1\"\n[mcp_servers]\na.command = \"x\"\n": 4,
	} {
		for _, what := range []func() (Edited, error){
			func() (Edited, error) { return Remove(source("codex", text), "a") },
			func() (Edited, error) { return Change(source("codex", text), "a", Update{Patch: `{"cwd": "/"}`}) },
		} {
			_, err := what()
			if strings.Contains(text, "a.env]") { // TOML itself refuses it
				if err == nil {
					t.Errorf("%q was changed", text)
				}
				continue
			}
			if r := refused(t, err, Unsupported, "edit the file by hand"); r.Line != line {
				t.Errorf("%q: line %d, want %d", text, r.Line, line)
			}
		}
	}
	_, err := Add(source("codex", "mcp_servers = {}\n"), "a", Form{Entry: &Entry{Command: "x"}}, Settings{})
	refused(t, err, Unsupported, "by hand")
	_, err = Add(source("codex", "[mcp_servers.b\n"), "a", Form{Entry: &Entry{Command: "x"}}, Settings{})
	refused(t, err, Broken, "TOML")
	unset := Form{Entry: &Entry{Command: "x", Env: map[string]*string{"A": nil}}}
	_, err = Add(source("codex", ""), "a", unset, Settings{})
	refused(t, err, Wrong, "no null")
}
