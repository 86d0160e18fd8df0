package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

var errNoDocsCommand = errors.New("in which form? docs markdown or docs man DIR")

// markdownWidth is the width of the repository's documents.
const markdownWidth = 160

// documented returns every command that has a page, in the order of the overview.
func (l *commandLine) documented() []*cobra.Command {
	l.root.InitDefaultHelpCmd()
	l.root.InitDefaultCompletionCmd()
	var all []*cobra.Command
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, child := range c.Commands() {
			if shown(child) {
				all = append(all, child)
				walk(child)
			}
		}
	}
	walk(l.root)
	return all
}

// runMarkdown writes docs/cli.md.
func runMarkdown(l *commandLine) int {
	out := l.env.stdout
	fmt.Fprint(out, "# The command line\n\n<!-- Written by `make cli-docs` from cmd/mcphub; a test compares them. -->\n\n")
	fmt.Fprint(out, wrapped(introduction+" `mcphub help COMMAND` says the same as this page.", markdownWidth))
	var overview strings.Builder
	writeCommands(&overview, l.root, 100)
	fmt.Fprint(out, "\n```\n"+strings.TrimSpace(overview.String())+"\n```\n")
	for _, c := range l.documented() {
		var page strings.Builder
		writeHelp(&page, c, 100)
		fmt.Fprintf(out, "\n## mcphub %s\n\n```\n%s\n```\n", pathOf(c), strings.TrimSpace(page.String()))
	}
	return exitOK
}

// runMan writes mcphub.1 and a man page for each command.
func runMan(l *commandLine, args []string) int {
	if len(args) == 0 {
		return usageError(l.env, "docs man", errors.New("into which folder? docs man DIR"))
	}
	err := os.MkdirAll(args[0], 0o777)
	for _, c := range append([]*cobra.Command{l.root}, l.documented()...) {
		if err != nil {
			break
		}
		name := strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1"
		err = os.WriteFile(filepath.Join(args[0], name), []byte(manPage(c)), 0o666)
	}
	if err != nil {
		l.env.say("mcphub docs man: %v", err)
		return exitServer
	}
	return exitOK
}

// manPage returns the page of a command: the text of its help, as it is, under the headings that man needs.
func manPage(c *cobra.Command) string {
	name := roff(strings.ReplaceAll(c.CommandPath(), " ", "-"))
	var help strings.Builder
	writeHelp(&help, c, pipeWidth-7) // man indents the text
	return fmt.Sprintf(".TH \"%s\" 1 \"\" \"mcphub %s\" \"McpHub\"\n.SH NAME\n%s \\- %s\n.SH DESCRIPTION\n.nf\n%s.fi\n",
		strings.ToUpper(name), roff(version), name, roff(c.Short), roff(help.String()))
}

// roff escapes text for a man page. A line that begins with a dot or an apostrophe would be a macro, and a hyphen has
// to be one that can be pasted into a shell.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
