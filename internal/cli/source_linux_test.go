package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/internal/cli/clitest"
)

// Finding D10: every command takes the names of servers and files in the same ways.
func TestWhichServers(t *testing.T) {
	p := clitest.InBubbles(t)
	p.Setenv("HOME", p.Folder)
	p.Setenv("XDG_CONFIG_HOME", filepath.Join(p.Folder, "config"))
	t.Chdir(t.TempDir())
	entry := fmt.Sprintf(`{"command": %q, "args": ["demo-server"], "alwaysAllow": ["echo"]}`, p.Binary)
	if err := os.WriteFile(filepath.Join(p.Folder, ".claude.json"),
		fmt.Appendf(nil, `{"mcpServers": {"mine": %s}}`, entry), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("named.json", fmt.Appendf(nil,
		`{"mcpServers": {"one": %s, "two": %s}}`, entry, entry), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("arguments.json", []byte(`{"text":"from a file"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	said := func(stdin, want string, args ...string) {
		t.Helper()
		if r := p.RunWith(stdin, args...); r.Status != 0 || !strings.Contains(r.Stdout, want) {
			t.Errorf("mcphub %q: status %d, stdout %q, want %q\n%s", args, r.Status, r.Stdout, want, r.Stderr)
		}
	}
	said("", "mine ", "servers")
	said("", "two ", "servers", "named.json")
	if r := p.Run("servers", "named.json", "two"); r.Status != 0 || strings.Contains(r.Stdout, "\none ") ||
		!strings.Contains(r.Stdout, "\ntwo ") {
		t.Errorf("one of two: status %d\n%s%s", r.Status, r.Stdout, r.Stderr)
	}
	said("", "-a text=TEXT", "tools", "mine", "echo")
	said("", "typed", "call", "mine", "echo", "-a", "text=typed", "--approve", "allow") // the one server of the user
	said("", "from a file", "call", "named.json", "--server", "one", "echo", "--args", "@arguments.json", "--approve",
		"allow")
	said(`{"text":"from the input"}`, "from the input", "call", "--config", "named.json", "two", "echo", "--args", "-",
		"--approve", "allow")
	said("", "by the one", "call", "--stdio", p.Binary+" demo-server", "echo", "-a", "text=by the one", "--approve", "allow")

	for _, test := range []struct {
		want string
		args []string
	}{
		{"there are one, two", []string{"call", "named.json", "--tool", "echo"}},
		{"which tool?", []string{"call", "named.json", "one"}},
		{`did you mean "echo"?`, []string{"tools", "mine", "ehco"}},
		{`did you mean "text"?`, []string{"call", "mine", "echo", "-a", "txt=x", "--approve", "allow"}},
		{"too many", []string{"call", "mine", "echo", "more"}},
		{`did you mean "mine"?`, []string{"servers", "mien"}},
		{"one server", []string{"servers", "named.json", "one", "two", "--env", "A=b"}},
		{"all servers", []string{"servers", "mine", "--watch"}},
		{"none.json", []string{"call", "mine", "echo", "--args", "@none.json"}},
	} {
		if r := p.Run(test.args...); r.Status != 2 || !strings.Contains(r.Stderr, test.want) {
			t.Errorf("mcphub %q: status %d, stderr %q; want 2 and %q", test.args, r.Status, r.Stderr, test.want)
		}
	}
}
