package source

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

func parseSources(t *testing.T, args ...string) *Flags {
	t.Helper()
	var s Flags
	c := new(cobra.Command)
	s.Register(c)
	if err := c.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	return &s
}

func TestStdioBecomesConfig(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	folder, err := json.Marshal(here)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ line, era, want, wrong string }{
		{line: `srv`, want: `{"mcpServers":{"stdio":{"command":"srv"}}}`},
		{line: `srv -a "two words" 'it''s' ""`,
			era: "legacy", want: `{"mcpServers":{"stdio":{"command":"srv","args":["-a","two words","its",""],"era":"legacy"}}}`},
		{line: "srv $HOME `date` #x",
			want: "{\"mcpServers\":{\"stdio\":{\"command\":\"srv\",\"args\":[\"$HOME\",\"`date`\",\"#x\"]}}}"},
		{line: `srv "a|b"`, want: `{"mcpServers":{"stdio":{"command":"srv","args":["a|b"]}}}`},
		{line: `srv | cat`, wrong: "must be quoted"},
		{line: `srv; rm x`, wrong: "must be quoted"},
		{line: `srv "open`, wrong: "srv"},
		{line: `  `, wrong: "empty"},
	}
	for _, test := range tests {
		got, err := parseSources(t, "--stdio", test.line, "--era", test.era).stdioConfig()
		got = strings.Replace(got, `,"cwd":`+string(folder), "", 1)
		if test.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), test.wrong) {
				t.Errorf("stdioConfig(%q) gives %q, error %v; want an error with %q", test.line, got, err, test.wrong)
			}
			continue
		}
		if err != nil || got != test.want {
			t.Errorf("stdioConfig(%q) = %s, %v; want %s", test.line, got, err, test.want)
		}
	}
}

func TestSourceFlagsMistakes(t *testing.T) {
	there := filepath.Join(t.TempDir(), "there.json")
	if err := os.WriteFile(there, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		args  []string
		wrong string // "": right
	}{
		{[]string{"--config", there, "--config", there}, ""},
		{[]string{"--stdio", "srv", "--era", "modern"}, ""},
		{nil, "--config"}, // this user has no files, see below
		{[]string{"--scope", "user"}, "none is named"},
		{[]string{"--config", there, "--env", "A=b"}, ""},
		{[]string{"--url", "https://a.example", "--env", "A=b"}, "started here"},
		{[]string{"--url", "https://a.example/mcp?key=x", "--transport", "http", "--header", "A:b", "--header", "B:"}, ""},
		{[]string{"--config", there, "--url", "https://a.example"}, "--config and --url exclude each other"},
		{[]string{"--stdio", "srv", "--url", "https://a.example"}, "--stdio and --url exclude each other"},
		{[]string{"--stdio", "python3", "srv.py"}, "the whole command as one text"},
		{[]string{"--stdio", "python3 srv.py"}, ""},
		{[]string{"--stdio", "srv", "--transport", "sse"}, "--transport goes with --url"},
		{[]string{"--stdio", "srv", "--scope", "workspace"}, "--config"},
		{[]string{"--stdio", "srv", "--folder", "."}, "--config"},
		{[]string{"--stdio", "srv", "--dialect", "vscode"}, "--config"},
		{[]string{"--config", there, "--header", "A:b"}, "--header goes with --url"},
		{[]string{"--config", there, "--stdio", "srv"}, "exclude each other"},
		{[]string{"--config", there + "x"}, "no such file"},
	}
	t.Setenv("HOME", t.TempDir())
	t.Chdir(t.TempDir())
	for _, test := range tests {
		err := parseSources(t, test.args...).Check()
		if test.wrong == "" && err != nil || test.wrong != "" && (err == nil || !strings.Contains(err.Error(), test.wrong)) {
			t.Errorf("%q: error %v, want one with %q", test.args, err, test.wrong)
		}
	}
}

// TestSourcesKeepTheirOrder: of two files that name the same server the later one counts, so their order is that of the
// command line.
func TestSourcesKeepTheirOrder(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for _, name := range []string{"z.json", "a.json"} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(`{"mcpServers":{"s":{"command":"x"}}}`), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	sources, err := parseSources(t, "--config", files[0], "--config", files[1]).Sources("s")
	if err != nil || len(sources) != 2 || sources[0].GetPath() != files[0] || sources[1].GetPath() != files[1] {
		t.Errorf("sources %v, %v", sources, err)
	}
}

// TestWordsAreFilesOrNames: the spelling alone decides whether a word is a file or a name, not what is on the disk.
func TestWordsAreFilesOrNames(t *testing.T) {
	var s Flags
	names := s.Take([]string{"mcp.json", "srv", "dir/thing", "a.JSONC", "conf.toml", "x.y", "demo://a/b.json", "./plain"})
	if diff := cmp.Diff([]string{"srv", "x.y", "demo://a/b.json"}, names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"mcp.json", "dir/thing", "a.JSONC", "conf.toml", "./plain"}, s.Configs); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// TestEnvironmentOfStdio: --env sets variables of the server; an error does not repeat a value.
func TestEnvironmentOfStdio(t *testing.T) {
	t.Setenv("MCPHUB_TEST_PASSED", "s3cret")
	got, err := parseSources(t, "--stdio", "x", "--env", "A=b=c", "--env", "MCPHUB_TEST_PASSED", "--env",
		"E=").environment()
	if diff := cmp.Diff(map[string]string{"A": "b=c", "MCPHUB_TEST_PASSED": "s3cret", "E": ""}, got); diff != "" ||
		err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
	for _, args := range [][]string{{"--env", "=s3cret"}, {"--env", "A=s3cret", "--env", "A=x"},
		{"--env", "MCPHUB_TEST_NOT_SET"}} {
		s := parseSources(t, append([]string{"--stdio", "x"}, args...)...)
		if _, err := s.Sources(""); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: error %v", args, err)
		}
	}
}

// TestEraGoesIntoTheEntry: only the entry of the server changes, and comments and lines of the file stay as they were.
func TestEraGoesIntoTheEntry(t *testing.T) {
	const text = `{
  // two servers
  "mcpServers": {
    "a/b": { "command": "srv" },
    "c": { "command": "srv", "era": "auto", }, // odd comma
  },
}
`
	file := filepath.Join(t.TempDir(), "mcp.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ server, want string }{
		{"a/b", strings.Replace(text, `"srv" }`, `"srv", "era": "legacy" }`, 1)},
		{"c", strings.Replace(text, `"auto"`, `"legacy"`, 1)},
		{"d", ""},
	}
	for _, test := range tests {
		sources, err := parseSources(t, "--config", file, "--era", "legacy").Sources(test.server)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, sources[0].GetJson()); diff != "" {
			t.Errorf("server %q (-want +got):\n%s", test.server, diff)
		}
		timed, err := parseSources(t, "--config", file, "--connect-timeout", "7s").Sources(test.server)
		if err != nil || test.want != "" && !strings.Contains(timed[0].GetJson(), `"timeouts": { "connect": "7s" }`) {
			t.Errorf("server %q, --connect-timeout: error %v, %s", test.server, err, timed)
		}
		if sources[0].GetPath() != file {
			t.Errorf("server %q: the source is named %q, not after its file", test.server, sources[0].GetPath())
		}
	}
}

// TestEnvGoesIntoTheEntry: --env sets a variable in the entry of the server that is named, in the dialect's own word,
// and where it cannot, that is said without the value.
func TestEnvGoesIntoTheEntry(t *testing.T) {
	dir := t.TempDir()
	for i, test := range []struct{ name, text, value, want, wrong string }{
		{"a.json", `{"mcpServers":{"s":{"command":"x"}}}`, "A=b=c", `{"mcpServers":{"s":{"command":"x", "env": { "A": "b=c" }}}}`,
			""},
		{"b.json", `{"servers":{"s":{"command":"x","env":{"A":"old","B":"1"}}}}`, "A=new",
			`{"servers":{"s":{"command":"x","env":{"A":"new","B":"1"}}}}`, ""},
		{"opencode.json", `{"mcp":{"s":{"type":"local","command":["x"]}}}`, "A=b",
			`{"mcp":{"s":{"type":"local","command":["x"], "environment": { "A": "b" }}}}`, ""},
		{"c.json", `{"mcpServers":{"s":{"command":"x"}}}`, "A=s3cret$HOME", "", "reads as a reference"},
		{"c.toml", "[mcp_servers.s]\ncommand = \"x\"\n", "A=b", "[mcp_servers.s]\ncommand = \"x\"\nenv = { A = \"b\" }\n", ""},
		{"d.toml", "[mcp_servers]\ns = {command = \"x\"}\n", "A=s3cret", "", "does not reach"},
	} {
		file := filepath.Join(dir, test.name)
		if err := os.WriteFile(file, []byte(test.text), 0o600); err != nil {
			t.Fatal(err)
		}
		sources, err := parseSources(t, "--config", file, "--env", test.value).Sources("s")
		if test.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), test.wrong) || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("%d: error %v, want %q", i, err, test.wrong)
			}
			continue
		}
		if err != nil || sources[0].GetJson() != test.want {
			t.Errorf("%d: %v, %s; want %s", i, err, sources, test.want)
		}
	}
}
