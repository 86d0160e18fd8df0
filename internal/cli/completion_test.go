package cli_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/internal/cli/clitest"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
)

// completes returns what a shell offers after args.
func completes(t *testing.T, args ...string) []string {
	t.Helper()
	out, _, status := clitest.Run(t, append([]string{"__completeNoDesc"}, args...)...)
	if status != exit.OK {
		t.Fatalf("completion after %q: status %d", args, status)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return lines[:len(lines)-1] // the last one is for the script
}

// TestCompletion: commands, flags and their values; names of servers from the config, names of tools as they were
// listed last. Nothing is started: the command of the server would leave a file.
func TestCompletion(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("MCPHUB_STATE_DIR", dir)
	ran := filepath.Join(dir, "ran")
	file := filepath.Join(dir, "mcp.json")
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(file, `{"mcpServers": {"alpha": {"command": "touch", "args": ["`+filepath.ToSlash(ran)+`"]},
		"beta": {"command": "x"}, "evil\nname": {"command": "x"}}}`)
	one := filepath.Join(dir, "one.json")
	write(one, `{"mcpServers": {"alpha": {"command": "x"}}}`)
	write(filepath.Join(dir, "tools.json"), `{"version":1,"servers":[
		{"server":"alpha","launch":"a","time":"2026-11-01T00:00:00Z",
			"tools":["{\"name\":\"grow\",\"inputSchema\":{}}","{\"name\":\"bad\\nname\",\"inputSchema\":{}}"]},
		{"server":"beta","launch":"b","time":"2026-11-01T00:00:00Z","tools":["{\"name\":\"shrink\",\"inputSchema\":{}}"]}]}`)
	for _, test := range []struct {
		args      []string
		want, not []string
	}{
		{[]string{""}, []string{"call", "tools", "config", "completion", "help"}, []string{"docs", "guard"}},
		{[]string{"config", ""}, []string{"check", "places"}, nil},
		{[]string{"help", "c"}, []string{"call", "config"}, nil},
		{[]string{"call", "--"}, []string{"--tool", "--cancel-after"}, nil},
		{[]string{"call", "--era", ""}, []string{"auto", "legacy", "modern"}, nil},
		{[]string{"call", "--sample", ""}, []string{"decline", "hang"}, []string{"TEXT"}},
		{[]string{"call", "--elicit", ""}, []string{"accept:", "decline"}, nil},
		{[]string{"config", "check", "--dialect", ""}, []string{"codex", "vscode"}, nil},
		{[]string{"tools", "--config", file, ""}, []string{"alpha", "beta"}, []string{"evil\\nname", "evil", "name"}},
		{[]string{"call", "--config", file, "--server", ""}, []string{"alpha", "beta"}, nil},
		{[]string{"call", "--config", file, "--server", "alpha", "--tool", ""}, []string{"grow"},
			[]string{"shrink", "bad", "name"}},
		{[]string{"call", "--tool", ""}, []string{"grow", "shrink"}, nil},
		{[]string{"call", file, ""}, []string{"alpha", "beta"}, []string{"grow"}},
		{[]string{"call", file, "alpha", ""}, []string{"grow"}, []string{"shrink"}},
		{[]string{"call", file, "--server", ""}, []string{"alpha", "beta"}, nil},
		{[]string{"call", one, ""}, []string{"alpha", "grow"}, []string{"shrink"}},
		{[]string{"read", file, ""}, []string{"alpha", "beta"}, nil},
		{[]string{"tools", file, ""}, []string{"alpha", "beta"}, nil},
		{[]string{"servers", file, ""}, []string{"alpha", "beta"}, nil},
		{[]string{"doctor", file, ""}, []string{"alpha", "beta"}, nil},
		{[]string{"doctor", file, "alpha", "--tool", ""}, []string{"grow"}, []string{"shrink"}},
	} {
		got := completes(t, test.args...)
		for _, want := range test.want {
			if !slices.Contains(got, want) {
				t.Errorf("after %q %q is not offered, but %q", test.args, want, got)
			}
		}
		for _, not := range test.not {
			if slices.Contains(got, not) {
				t.Errorf("after %q %q is offered", test.args, not)
			}
		}
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("completion ran a server")
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if out, _, status := clitest.Run(t, "completion", shell); status != exit.OK || !strings.Contains(out, "__complete") {
			t.Errorf("completion %s: status %d, %d bytes", shell, status, len(out))
		}
	}
}
