package docs_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/mcphub-go/mcphub/internal/cli"
	"github.com/mcphub-go/mcphub/internal/cli/clitest"
	"github.com/mcphub-go/mcphub/internal/cli/cmd"
	"github.com/mcphub-go/mcphub/internal/cli/docs"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
)

// TestCommandLinePage: docs/cli.md says what mcphub help says (make cli-docs writes it).
func TestCommandLinePage(t *testing.T) {
	want, _, status := clitest.Run(t, "docs", "markdown")
	if status != exit.OK {
		t.Fatalf("status %d", status)
	}
	got, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "cli.md"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.ReplaceAll(string(got), "\r\n", "\n") != want {
		t.Error("docs/cli.md is not what the commands say: run make cli-docs")
	}
}

// TestManPages: there is one for each command, with all its flags, and no text in them is read as a macro.
func TestManPages(t *testing.T) {
	dir := t.TempDir()
	if _, stderr, status := clitest.Run(t, "docs", "man", dir); status != exit.OK {
		t.Fatalf("status %d: %s", status, stderr)
	}
	for _, path := range append(clitest.EveryCommand(), nil) {
		name := strings.Join(append([]string{"mcphub"}, path...), "-") + ".1"
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
			continue
		}
		for line := range strings.Lines(string(text)) {
			if macro, _, _ := strings.Cut(strings.TrimSpace(line), " "); strings.HasPrefix(line, ".") &&
				!strings.Contains(" .TH .SH .nf .fi ", " "+macro+" ") {
				t.Errorf("%s has the macro %s", name, line)
			}
		}
	}
	for _, c := range docs.Documented(cli.NewTree(clitest.Printing(io.Discard, io.Discard))) {
		text, err := os.ReadFile(filepath.Join(dir, strings.ReplaceAll(c.CommandPath(), " ", "-")+".1"))
		if err != nil {
			t.Fatal(err)
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !strings.Contains(string(text), "  "+strings.ReplaceAll(cmd.FlagHead(f), "-", `\-`)) {
				t.Errorf("%s: its man page does not explain --%s", c.CommandPath(), f.Name)
			}
		})
	}
	text, err := os.ReadFile(filepath.Join(dir, "mcphub-call.1"))
	if err != nil || !strings.Contains(string(text), `\-\-cancel\-after DUR`) {
		t.Errorf("mcphub-call.1: %v\n%s", err, text)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, stderr, status := clitest.Run(t, "docs", "man", file); status != exit.Server || stderr == "" {
		t.Errorf("into a file: status %d, %q", status, stderr)
	}
}

// TestEveryFlagIsInOneSection: a flag that is in two sections would be explained twice.
func TestEveryFlagIsInOneSection(t *testing.T) {
	for _, c := range docs.Documented(cli.NewTree(clitest.Printing(io.Discard, io.Discard))) {
		var page strings.Builder
		cmd.WriteHelp(&page, c, 100)
		c.Flags().VisitAll(func(f *pflag.Flag) {
			head := "\n  " + cmd.FlagHead(f)
			if n := strings.Count(page.String(), head+"\n") + strings.Count(page.String(), head+" "); !f.Hidden && n != 1 ||
				f.Usage == "" {
				t.Errorf("%s: the flag %s is there %d times, or says nothing", c.CommandPath(), f.Name, n)
			}
		})
	}
}
