package main

import (
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// TestProgramAlone: the program without arguments, as a host starts it but without a host, and its version.
func TestProgramAlone(t *testing.T) {
	p := inside(t)
	r := p.run()
	if r.status != 2 || r.stdout != "" {
		t.Errorf("status %d, stdout %q", r.status, r.stdout)
	}
	for _, want := range []string{"MCP backend of a code editor", "Usage:", "demo", "call"} {
		if !strings.Contains(r.stderr, want) {
			t.Errorf("stderr does not say %q:\n%s", want, r.stderr)
		}
	}
	if r := p.run("serve"); r.status != 2 || !strings.Contains(r.stderr, "host") {
		t.Errorf("serve: status %d, stderr %q", r.status, r.stderr)
	}
	if r := p.run("version"); r.status != 0 || !strings.HasPrefix(r.stdout, "mcphub "+version) {
		t.Errorf("version: status %d, %q", r.status, r.stdout)
	}
}

func TestUsageErrors(t *testing.T) {
	p := inside(t)
	t.Chdir(p.atHome(nil)) // there are no files of a user
	tests := []struct {
		args []string
		want string
	}{
		{[]string{"fly"}, `"fly"`},
		{[]string{"servers"}, "--config"},
		{[]string{"tools"}, "--config"},
		{[]string{"call", "--tool", "x"}, "--config"},
		{[]string{"call", "--stdio", "x"}, "--tool"},
		{[]string{"call", "--tool", "x", "--stdio", "a | b"}, "quoted"},
		{[]string{"servers", "--config", p.dir + "/none.json"}, "no such file"},
		{[]string{"servers", "extra", "--config", "x"}, "no such file"},
		{[]string{"tools", "--config", p.dir, "--era", "legacy"}, "--era"},
		{[]string{"tools", "--stdio", "x", "--sign-in", "yes"}, "print, decline or hang"},
		{[]string{"tools", "--stdio", "x", "--era", "stone"}, "it is auto, legacy or modern"},
		{[]string{"tools", "--url", "https://a.example", "--transport", "stdio"}, "it is http or sse"},
		{[]string{"resources", "--config", p.dir}, "which server"},
		{[]string{"prompts", "srv", "--stdio", "x"}, "the only one"},
		{[]string{"resources"}, "--config"},
		{[]string{"read", "--stdio", "x"}, "--uri"},
		{[]string{"prompt", "--stdio", "x"}, "--name"},
		{[]string{"demo", "--fast"}, "fast"},
		{[]string{"demo-server", "extra"}, "extra"},
		{[]string{"guard", "extra"}, "started by the hub itself"},
		{[]string{"demo-server", "--http", "0.0.0.0:0"}, "--allow-remote"},
		{[]string{"demo-server", "--http", "localhost"}, "HOST:PORT"},
		{[]string{"demo-server", "--allow-remote"}, "--http"},
		{[]string{"demo-server", "--until-eof"}, "--http"},
		{[]string{"servers", "--stdio", "x", "--url", "https://a.example"}, "exclude"},
		{[]string{"help", "fly"}, `"fly"`},
	}
	for _, test := range tests {
		r := p.run(test.args...)
		if r.status != 2 || r.stdout != "" || !strings.Contains(r.stderr, test.want) {
			t.Errorf("mcphub %q: status %d, stdout %q, stderr %q; want 2 and %q", test.args, r.status, r.stdout, r.stderr,
				test.want)
		}
	}
}

// helpOf runs a command without a process of its own.
func helpOf(t *testing.T, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	var out, said strings.Builder
	status = run(args, printing(&out, &said))
	return out.String(), said.String(), status
}

// everyCommand returns the path of each command that is not hidden.
func everyCommand() [][]string {
	var paths [][]string
	var walk func(c *cobra.Command, path []string)
	walk = func(c *cobra.Command, path []string) {
		for _, child := range c.Commands() {
			if child.IsAvailableCommand() || child.Name() == "help" {
				p := append(slices.Clone(path), child.Name())
				paths = append(paths, p)
				walk(child, p)
			}
		}
	}
	l := newCommandLine(environment{stdout: &output{w: io.Discard}, stderr: io.Discard})
	l.root.InitDefaultHelpCmd()
	l.root.InitDefaultCompletionCmd()
	walk(l.root, nil)
	return paths
}

func TestHelpExplainsEveryCommand(t *testing.T) {
	overview, _, status := helpOf(t, "help")
	if same, _, _ := helpOf(t, "--help"); status != 0 || same != overview {
		t.Errorf("help: status %d; --help says\n%s", status, same)
	}
	commands := everyCommand()
	if len(commands) < 20 {
		t.Errorf("only %d commands", len(commands))
	}
	for _, path := range commands {
		if len(path) == 1 && !strings.Contains(overview, "  "+path[0]+" ") {
			t.Errorf("help does not list %s", path)
		}
		page, _, status := helpOf(t, append([]string{"help"}, path...)...)
		if status != 0 || !strings.Contains(page, "Usage: mcphub "+strings.Join(path, " ")) {
			t.Errorf("help %s: status %d, %q", path, status, page)
		}
		if same, _, _ := helpOf(t, append(slices.Clone(path), "--help")...); same != page && path[0] != "help" {
			t.Errorf("%s --help differs from help %s:\n%s", path, path, same)
		}
		// In a pipe no line is wider than 80 columns; one that can be pasted stays whole.
		for line := range strings.Lines(page) {
			if utf8.RuneCountInString(strings.TrimRight(line, "\n")) > 80 && !strings.HasPrefix(line, "  ") {
				t.Errorf("help %s: wider than 80 columns: %s", path, line)
			}
		}
	}
	page, _, _ := helpOf(t, "call", "--help")
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
	l := newCommandLine(environment{stdout: &output{w: io.Discard}, stderr: io.Discard})
	for _, width := range []int{40, 60, 80, 110} {
		for _, c := range append(l.root.Commands(), l.root) {
			var page strings.Builder
			writeHelp(&page, c, width)
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
	got, want := wrapped("one two\nthree\n\n  kept  as is\nfour", 8), "one two\nthree\n\n  kept  as is\nfour\n"
	if got != want {
		t.Errorf("wrapped: %q, want %q", got, want)
	}
	if got, want := hung("  --x  it does this", 7, 15), "  --x  it does\n       this\n"; got != want {
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
		stdout, stderr, status := helpOf(t, test.args...)
		if status != exitUsage || stdout != "" || !strings.Contains(stderr, test.want) {
			t.Errorf("mcphub %q: status %d, stdout %q, stderr %q; want 2 and %q", test.args, status, stdout, stderr, test.want)
		}
	}
}
