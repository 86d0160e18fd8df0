package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// TestCommandLinePage: docs/cli.md says what mcphub help says (make cli-docs writes it).
func TestCommandLinePage(t *testing.T) {
	want, _, status := helpOf(t, "docs", "markdown")
	if status != exitOK {
		t.Fatalf("status %d", status)
	}
	got, err := os.ReadFile(filepath.Join("..", "..", "docs", "cli.md"))
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
	if _, stderr, status := helpOf(t, "docs", "man", dir); status != exitOK {
		t.Fatalf("status %d: %s", status, stderr)
	}
	for _, path := range append(everyCommand(), nil) {
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
	for _, c := range newCommandLine(environment{stdout: &output{w: io.Discard}, stderr: io.Discard}).documented() {
		text, err := os.ReadFile(filepath.Join(dir, strings.ReplaceAll(c.CommandPath(), " ", "-")+".1"))
		if err != nil {
			t.Fatal(err)
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !strings.Contains(string(text), "  "+roff(flagHead(f))) {
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
	if _, stderr, status := helpOf(t, "docs", "man", file); status != exitServer || stderr == "" {
		t.Errorf("into a file: status %d, %q", status, stderr)
	}
	if got := roff(".x\n'y\n-z \\"); got != "\\&.x\n\\&'y\n\\-z \\e" {
		t.Errorf("roff: %q", got)
	}
}

// TestEveryFlagIsInOneSection: a flag that is in two sections would be explained twice.
func TestEveryFlagIsInOneSection(t *testing.T) {
	l := newCommandLine(environment{stdout: &output{w: io.Discard}, stderr: io.Discard})
	for _, c := range l.documented() {
		seen := map[string]bool{}
		for _, s := range sectionsOf(c) {
			for _, f := range s.flags {
				if seen[f.Name] || f.Usage == "" {
					t.Errorf("%s: the flag %s is there twice, or says nothing", c.CommandPath(), f.Name)
				}
				seen[f.Name] = true
			}
		}
	}
}
