package edit

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/hub/config"
)

// Read finds the servers in a pasted text, whatever application it was written for, and reports a fault with its line.
func TestRead(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"vscode", `{"inputs":[{"type":"promptString","id":"k","password":true}],
			"servers":{"a":{"command":"npx","args":["-y","${input:k}"]}}}`, `a:2 vscode npx [-y ${input:k}] inputs k`},
		{"mcpServers", "{\n \"mcpServers\": {\n  \"a\": {\"command\": \"x\"},\n  \"b\": {\"url\": \"https://b.example/\"}}}",
			"a:3 mcpServers x []; b:4 mcpServers https://b.example/"},
		{"zed", `{"context_servers": {"a": {"command": "x", "args": ["1"]}}}`, "a:1 mcpServers x [1]"},
		{"opencode", `{"mcp": {"a": {"type": "local", "command": ["x", "1"]}}}`, "a:1 opencode x [1]"},
		{"codex", "[mcp_servers.a]\ncommand = \"x\"\nargs = [\"1\"]\n", "a:1 codex x [1]"},
		{"codex with more", "model = \"m\"\n\n[mcp_servers.a]\ncommand = \"x\"\n", "a:3 codex x []"},
		{"entry", "{\n\"command\": \"x\"\n}", ":1 mcpServers x []"},
		{"entry with its name", `{"name": "a", "command": "x"}`, "a:1 mcpServers x []"},
		{"part", "\"a\": {\"command\": \"x\"},\n", "a:1 mcpServers x []"},
		{"by name", "{\n\"a\": {\"url\": \"https://a.example/\"}\n}", "a:2 mcpServers https://a.example/"},
		{"comments", "// one\n{\"mcpServers\": {\"a\": {\"command\": \"x\"},}}", "a:2 mcpServers x []"},
		{"broken entry", "{\"mcpServers\": {\n\"a\": {\"command\": 7}}}", "a:2 mcpServers unusable command:2"},
		{"broken text", "{\"mcpServers\": {\n\"a\": {\"command\": \"x\" \"y\"}}}", "fatal :2"},
		{"broken TOML", "[mcp_servers.a]\ncommand = x\n", "fatal :2"},
		{"nothing", `{"editor.fontSize": 12}`, "not :1"},
		{"no text", `npx -y something`, "fatal :1"},
		{"empty", ``, "fatal :1"},
		{"long", `{"command": "` + strings.Repeat("x", maxValueBytes) + `"}`, "fatal :0"},
		{"twice", `{"command": "x", "command": "y"}`, "fatal :0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			found, problems := Read(c.text, "")
			var got []string
			for _, f := range found {
				line := fmt.Sprintf("%s:%d %s ", f.Name, f.Line, f.Dialect)
				switch s := f.Server; {
				case s == nil:
					line += fmt.Sprintf("unusable %s:%d", f.Problems[0].Key, f.Problems[0].Line)
				case s.URL != "":
					line += s.URL
				default:
					line += fmt.Sprint(s.Command, " ", s.Args)
				}
				if f.Server != nil && len(f.Server.Inputs) > 0 {
					line += " inputs " + f.Server.Inputs[0].ID
				}
				if f.Server != nil { // what is found can be added
					form := Form{JSON: f.JSON, Dialect: f.Dialect}
					if _, _, r := form.in("s", f.Dialect); r != nil {
						t.Errorf("%s: %v", f.JSON, r)
					}
				}
				got = append(got, line)
			}
			for _, p := range problems {
				got = append(got, fmt.Sprintf("%s :%d", map[bool]string{true: "fatal", false: "not"}[p.Fatal], p.Line))
			}
			want(t, strings.Join(got, "; "), c.want)
		})
	}
}

// Of a text with many entries at most maxFound are returned.
func TestReadManyEntries(t *testing.T) {
	var text strings.Builder
	text.WriteString("{\"mcpServers\": {")
	for i := range 2000 {
		fmt.Fprintf(&text, "%s\n\"s%d\": {\"command\": \"x\", \"args\": [\"%s\"]}", map[bool]string{true: ","}[i > 0], i,
			strings.Repeat("a", 64))
	}
	text.WriteString("}}")
	found, _ := Read(text.String(), "")
	if len(found) != maxFound || found[0].JSON == "" {
		t.Errorf("%d entries, want %d", len(found), maxFound)
	}
}

// The inputs of a form are added to those of the file, and nothing else in it changes.
func TestInputs(t *testing.T) {
	token := config.Input{ID: "token", Description: "Token", Secret: true}
	form := Form{Entry: &Entry{Command: "x", Env: map[string]*string{"T": new("${input:token}")}},
		Inputs: []config.Input{token}}
	const entry = "\"s\": {\n      \"type\": \"stdio\",\n      \"command\": \"x\",\n      \"env\": {\n" +
		"        \"T\": \"${input:token}\"\n      }\n    }"
	const input = `{ "type": "promptString", "id": "token", "description": "Token", "password": true }`
	for _, c := range []struct{ name, before, after string }{
		{"none yet", "{\n  \"servers\": {}\n}\n",
			"{\n  \"servers\": {\n    " + entry + "\n  },\n  \"inputs\": [\n    " + input + "\n  ]\n}\n"},
		{"no file", "", "{\n  \"servers\": {\n    " + entry + "\n  },\n  \"inputs\": [\n    " + input + "\n  ]\n}\n"},
		{"others", "{\n  \"inputs\": [\n    { \"type\": \"promptString\", \"id\": \"a\" }, // a\n    // end\n  ],\n  \"servers\": {}\n}\n",
			"{\n  \"inputs\": [\n    { \"type\": \"promptString\", \"id\": \"a\" }, // a\n    // end\n    " + input +
				",\n  ],\n  \"servers\": {\n    " + entry + "\n  }\n}\n"},
		{"there already", "{\n  \"inputs\": [" + input + "],\n  \"servers\": {}\n}\n",
			"{\n  \"inputs\": [" + input + "],\n  \"servers\": {\n    " + entry + "\n  }\n}\n"},
		{"one line", "{\n  \"inputs\": [{ \"type\": \"promptString\", \"id\": \"a\" }],\n  \"servers\": {}\n}\n",
			"{\n  \"inputs\": [{ \"type\": \"promptString\", \"id\": \"a\" }, " + input + "],\n  \"servers\": {\n    " + entry + "\n  }\n}\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := source("vscode", c.before)
			out, err := Add(src, "s", form, Settings{})
			want(t, edited(t, out, err), c.after)
			if len(out.Server.Inputs) != 1 || !out.Server.Inputs[0].Secret {
				t.Errorf("%+v", out.Server.Inputs)
			}
		})
	}
	added, err := Add(source("vscode", ""), "s", form, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	unmade, err := Unmake(source("vscode", string(added.Text)), "s")
	want(t, edited(t, unmade, err), "{\n  \"servers\": {}\n}\n")
	other := "{\"inputs\": [{\"type\": \"promptString\", \"id\": \"token\"}], \"servers\": {}}"
	_, err = Add(source("vscode", other), "s", form, Settings{})
	refused(t, err, Wrong, "another one")
	_, err = Add(source("portable", "{}"), "s", Form{Entry: &Entry{Command: "x"}, Inputs: form.Inputs}, Settings{})
	refused(t, err, Unsupported, "no inputs")
	_, err = Add(source("vscode", `{"inputs": {}, "servers": {}}`), "s", form, Settings{})
	refused(t, err, Unsupported, "no array")
	out, err := Change(source("vscode", `{"servers": {"s": {"command": "x"}}}`), "s",
		Update{Entry: form.Entry, Inputs: form.Inputs})
	if text := edited(t, out, err); !strings.Contains(text, input) {
		t.Error(text)
	}
}

// An entry that was pasted and then changed in the form keeps what the form does not show.
func TestPastedAndChanged(t *testing.T) {
	f := Form{JSON: `{"command": "x", "args": ["1"], "autoApprove": ["a"], "timeouts": {"total": "9s"}}`, Dialect: "mcpServers",
		Changed: &Entry{Command: "y"}}
	out, err := Add(source("portable", "{}"), "s", f, Settings{})
	if text := edited(t, out, err); !strings.Contains(text, `"command": "y"`) || strings.Contains(text, "args") ||
		!strings.Contains(text, `"total": "9s"`) {
		t.Error(text)
	}
	want(t, strings.Join(out.LeftOut, " "), "autoApprove")
}

// A value that stays the same is not touched: its comments stay.
func TestRelaunchKeepsWhatStays(t *testing.T) {
	const before = `{
  "mcpServers": {
    "s": {
      "command": "x", // why x
      "args": ["1" /* one */, "2"],
      "env": {
        // a
        "A": "1",
        "B": "2" // b
      }
    }
  }
}
`
	out, err := Change(source("portable", before), "s", Update{Entry: &Entry{Command: "x", Args: []string{"1", "2"},
		Env: map[string]*string{"A": new("3"), "B": new("2")}}})
	want(t, edited(t, out, err), strings.Replace(before, `"A": "1"`, `"A": "3"`, 1))
}

func TestEntryOfAndPlaceIn(t *testing.T) {
	src := source("vscode", `{"servers": {"a": {"command": "x"}, "b": {"command": 7}}}`)
	a, err := EntryOf(src, "a")
	if err != nil || a.Server.Command != "x" || a.JSON != "{\n  \"command\": \"x\"\n}" {
		t.Errorf("%+v, %v", a, err)
	}
	b, err := EntryOf(src, "b")
	if err != nil || b.Server != nil || len(b.Problems) == 0 {
		t.Errorf("%+v, %v", b, err)
	}
	_, err = EntryOf(src, "c")
	refused(t, err, Missing, "no entry")
	p, err := PlaceIn(src)
	if err != nil || !p.TakesInputs || p.EnvReference != "${env:NAME}" || strings.Join(p.Names, ",") != "a,b" {
		t.Errorf("%+v, %v", p, err)
	}
	_, err = PlaceIn(source("vscode", "{\"servers\": {\n"))
	if r := refused(t, err, Broken, ""); r.Line == 0 {
		t.Error(r)
	}
}

func TestChanged(t *testing.T) {
	gone, come := Changed([]byte("a\nb\nc\n"), []byte("a\nx\ny\nc\n"))
	want(t, gone+"|"+come, "b\n|x\ny\n")
	gone, come = Changed(nil, []byte("a\n"))
	want(t, gone+"|"+come, "|a\n")
}
