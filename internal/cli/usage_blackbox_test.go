package cli_test

import (
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mcphub-go/mcphub/internal/cli"
	"github.com/mcphub-go/mcphub/internal/cli/clitest"
	"github.com/mcphub-go/mcphub/internal/cli/cmd"
	"github.com/mcphub-go/mcphub/internal/cli/console"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
)

// TestProgramAlone: the program without arguments, as a host starts it but without a host, and its version.
func TestProgramAlone(t *testing.T) {
	p := clitest.Inside(t)
	r := p.Run()
	if r.Status != 2 || r.Stdout != "" {
		t.Errorf("status %d, stdout %q", r.Status, r.Stdout)
	}
	for _, want := range []string{"MCP backend of a code editor", "Usage:", "demo", "call"} {
		if !strings.Contains(r.Stderr, want) {
			t.Errorf("stderr does not say %q:\n%s", want, r.Stderr)
		}
	}
	if r := p.Run("serve"); r.Status != 2 || !strings.Contains(r.Stderr, "host") {
		t.Errorf("serve: status %d, stderr %q", r.Status, r.Stderr)
	}
	if r := p.Run("version"); r.Status != 0 || !strings.HasPrefix(r.Stdout, "mcphub 0.0.0-test") {
		t.Errorf("version: status %d, %q", r.Status, r.Stdout)
	}
}

func TestUsageErrors(t *testing.T) {
	p := clitest.Inside(t)
	t.Chdir(p.AtHome(nil)) // there are no files of a user
	if err := os.WriteFile("notes.txt", []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		args []string
		want string
	}{
		{[]string{"fly"}, `"fly"`},
		{[]string{"servers"}, "--config"},
		{[]string{"tools", "a", "b", "c"}, "too many"},
		{[]string{"tools"}, "--config"},
		{[]string{"call", "--tool", "x"}, "--config"},
		{[]string{"call", "--stdio", "x"}, "--tool"},
		{[]string{"call", "--tool", "x", "--stdio", "a | b"}, "quoted"},
		{[]string{"servers", "--config", p.Folder + "/none.json"}, "no such file"},
		{[]string{"servers", "extra", "--config", "x"}, "no such file"},
		{[]string{"tools", "--config", p.Folder, "--era", "legacy"}, "--era"},
		{[]string{"tools", "--stdio", "x", "--sign-in", "yes"}, "print, decline or hang"},
		{[]string{"tools", "--stdio", "x", "--era", "stone"}, "it is auto, legacy or modern"},
		{[]string{"tools", "--url", "https://a.example", "--transport", "stdio"}, "it is http or sse"},
		{[]string{"resources", "--config", p.Folder}, "which server"},
		{[]string{"prompts", "srv", "--stdio", "x"}, "the only one"},
		{[]string{"resources"}, "--config"},
		{[]string{"read", "--stdio", "x"}, "--uri"},
		{[]string{"prompt", "--stdio", "x"}, "--name"},
		{[]string{"demo", "--fast"}, "fast"},
		{[]string{"demo-server", "extra"}, "extra"},
		{[]string{"guard", "extra"}, "started by the hub itself"},
		{[]string{"demo-server", "--http", "0.0.0.0:0"}, "other machines could reach it"},
		{[]string{"demo-server", "--http", "localhost"}, "HOST:PORT"},
		{[]string{"demo-server", "--until-eof"}, "--http"},
		{[]string{"servers", "--stdio", "x", "--url", "https://a.example"}, "exclude"},
		{[]string{"help", "fly"}, `"fly"`},
		{[]string{"call", "--stdio", "python3", "srv.py", "--tool", "x"}, "--stdio 'python3 srv.py'"},
		{[]string{"call", "--stdio", "./srv", "a", "--tool", "x"}, "--stdio './srv a'"},
		{[]string{"call", "--stdio", "node", "dist/srv.js", "--tool", "x"}, "--stdio 'node dist/srv.js'"},
		{[]string{"doctor", "--stdio", "python3", "srv.py"}, "--stdio 'python3 srv.py'"},
		{[]string{"tools", "--stdio", "python3", "srv.py", "x"}, "--stdio 'python3 srv.py'"},
		{[]string{"resources", "--stdio", "python3", "srv.py"}, "--stdio 'python3 srv.py'"},
		{[]string{"servers", "--stdio", "python3", "srv.py"}, "--stdio 'python3 srv.py'"},
		{[]string{"call", "--stdio", "python3 srv.py", "x", "y"}, `"y" is one argument too many: it is [SERVER] [TOOL]`},
		{[]string{"servers", "none.yaml"}, "--config none.yaml: there is no such file"},
		{[]string{"doctor", "none.yml"}, "--config none.yml: there is no such file"},
		{[]string{"servers", "notes.txt"}, `"notes.txt" is read as the name of a server`},
		{[]string{"tools", "notes.txt"}, `"notes.txt" is read as the name of a server`},
	}
	for _, test := range tests {
		r := p.Run(test.args...)
		if r.Status != 2 || r.Stdout != "" || !strings.Contains(r.Stderr, test.want) {
			t.Errorf("mcphub %q: status %d, stdout %q, stderr %q; want 2 and %q", test.args, r.Status, r.Stdout, r.Stderr,
				test.want)
		}
	}
}

func TestHelpExplainsEveryCommand(t *testing.T) {
	overview, _, status := clitest.Run(t, "help")
	if same, _, _ := clitest.Run(t, "--help"); status != 0 || same != overview {
		t.Errorf("help: status %d; --help says\n%s", status, same)
	}
	commands := clitest.EveryCommand()
	if len(commands) < 20 {
		t.Errorf("only %d commands", len(commands))
	}
	for _, path := range commands {
		if len(path) == 1 && !strings.Contains(overview, "  "+path[0]+" ") {
			t.Errorf("help does not list %s", path)
		}
		page, _, status := clitest.Run(t, append([]string{"help"}, path...)...)
		if status != 0 || !strings.Contains(page, "Usage: mcphub "+strings.Join(path, " ")) {
			t.Errorf("help %s: status %d, %q", path, status, page)
		}
		if same, _, _ := clitest.Run(t, append(slices.Clone(path), "--help")...); same != page && path[0] != "help" {
			t.Errorf("%s --help differs from help %s:\n%s", path, path, same)
		}
		// In a pipe no line is wider than 80 columns; one that can be pasted stays whole.
		for line := range strings.Lines(page) {
			if utf8.RuneCountInString(strings.TrimRight(line, "\n")) > 80 && !strings.HasPrefix(line, "  ") {
				t.Errorf("help %s: wider than 80 columns: %s", path, line)
			}
		}
	}
	page, _, _ := clitest.Run(t, "call", "--help")
	for _, flag := range []string{"--tool", "--args", "--config", "--server", "--stdio", "--request-id", "--cancel-after",
		"--reason",
		"--url", "--transport", "--header", "--approve", "--elicit", "--sample", "--sign-in", "--launch", "--input",
		"--scope", "--folder", "--dialect", "--task", "--idle-timeout", "--timeout", "--era", "--linger", "--json"} {
		if !strings.Contains(page, "  "+flag) {
			t.Errorf("call --help does not explain %s", flag)
		}
	}
}

// TestHelpFitsTheTerminal: text is wrapped at blanks, and what a flag does stays in its column.
func TestHelpFitsTheTerminal(t *testing.T) {
	root := cli.NewTree(clitest.Printing(io.Discard, io.Discard))
	for _, width := range []int{40, 60, 80, 110} {
		for _, c := range append(root.Commands(), root) {
			var page strings.Builder
			cmd.WriteHelp(&page, c, width)
			for line := range strings.Lines(page.String()) {
				line = strings.TrimRight(line, "\n")
				long := utf8.RuneCountInString(line)
				if words := strings.Fields(line); long > width && len(words) > 1 && !strings.HasPrefix(line, "  ") ||
					long > 80 && width == 80 { // a line to be pasted is not broken, but is written within 80
					t.Errorf("%s at %d columns: %s", c.Name(), width, line)
				}
			}
		}
	}
	got, want := console.Wrap("one two\nthree\n\n  kept  as is\nfour", 8), "one two\nthree\n\n  kept  as is\nfour\n"
	if got != want {
		t.Errorf("wrapped: %q, want %q", got, want)
	}
	if got, want := console.Hang("  --x  it does this", 7, 15), "  --x  it does\n       this\n"; got != want {
		t.Errorf("hung: %q, want %q", got, want)
	}
}

// Finding D9: a typo is answered with what may have been meant, before anything runs.
func TestNearMisses(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"cal", "--tool", "x"}, `did you mean "call"?`},
		{[]string{"server", "--json"}, `did you mean "servers" or "serve"?`},
		{[]string{"config", "chek"}, `did you mean "check"?`},
		{[]string{"help", "tols"}, `did you mean "tools"?`},
		{[]string{"call", "--tol", "x"}, `did you mean "--tool"?`},
		{[]string{"call", "-tool", "x"}, `did you mean "--tool"?`},
		{[]string{"tools", "--confg", "x"}, `did you mean "--config"?`},
		{[]string{"config", "check", "--verbos"}, `did you mean "--verbose"?`},
		{[]string{"call", "--zzzzzzz"}, "there is no flag --zzzzzzz\n"},
		{[]string{"zzzzzzz"}, "there is no command \"zzzzzzz\"\n"},
	} {
		stdout, stderr, status := clitest.Run(t, test.args...)
		if status != exit.Usage || stdout != "" || !strings.Contains(stderr, test.want) {
			t.Errorf("mcphub %q: status %d, stdout %q, stderr %q; want 2 and %q", test.args, status, stdout, stderr, test.want)
		}
	}
}
