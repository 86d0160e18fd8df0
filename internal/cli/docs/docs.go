// Package docs has mcphub docs, which writes the help of all commands as Markdown and as man pages.
//
// What must not live here: the help itself (package cmd, and each command).
package docs

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphub-go/mcphub/internal/cli/cmd"
	"github.com/mcphub-go/mcphub/internal/cli/console"
	"github.com/mcphub-go/mcphub/internal/cli/door"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
)

// NewDocsCmd returns mcphub docs, which writes the help in other forms.
func NewDocsCmd(f *door.Factory) *cobra.Command {
	c := &cobra.Command{
		Use: "docs", Short: "write this help in other forms", Hidden: true,
		RunE: func(*cobra.Command, []string) error {
			return exit.Wrongf("in which form? docs markdown or docs man DIR")
		},
	}
	c.AddCommand(&cobra.Command{
		Use: "markdown", Short: "write the page of all commands to stdout",
		Run: func(c *cobra.Command, _ []string) { writeMarkdown(f.Out, c.Root()) },
	}, &cobra.Command{
		Use: "man DIR", Short: "write a man page for each command into a folder", Args: cmd.AtMost(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return exit.Wrongf("into which folder? docs man DIR")
			}
			return writeMan(c.Root(), args[0], f.Version)
		},
	})
	return c
}

// markdownWidth is the width of the repository's documents.
const markdownWidth = 160

// documented returns every command that has a page, in the order of the overview.
func documented(of *cobra.Command) (all []*cobra.Command) {
	for _, child := range of.Commands() {
		if cmd.Shown(child) {
			all = append(append(all, child), documented(child)...)
		}
	}
	return all
}

// writeMarkdown writes docs/cli.md.
func writeMarkdown(out io.Writer, root *cobra.Command) {
	fmt.Fprint(out, "# The command line\n\n<!-- Written by `make cli-docs` from cmd/mcphub; a test compares them. -->\n\n")
	fmt.Fprint(out, console.Wrap(cmd.Introduction+" `mcphub help COMMAND` says the same as this page.", markdownWidth))
	var overview strings.Builder
	cmd.WriteCommands(&overview, root, 100)
	fmt.Fprint(out, "\n```\n"+strings.TrimSpace(overview.String())+"\n```\n")
	for _, c := range documented(root) {
		var page strings.Builder
		cmd.WriteHelp(&page, c, 100)
		fmt.Fprintf(out, "\n## mcphub %s\n\n```\n%s\n```\n", cmd.PathOf(c), strings.TrimSpace(page.String()))
	}
}

// writeMan writes mcphub.1 and a man page for each command.
func writeMan(root *cobra.Command, folder, version string) error {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	for _, c := range append([]*cobra.Command{root}, documented(root)...) {
		name := strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1"
		if err := os.WriteFile(filepath.Join(folder, name), []byte(manPage(c, version)), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// manPage returns the page of a command: the text of its help, as it is, under the headings that man needs.
func manPage(c *cobra.Command, version string) string {
	name := roff(strings.ReplaceAll(c.CommandPath(), " ", "-"))
	var help strings.Builder
	cmd.WriteHelp(&help, c, console.PipeWidth-7) // man indents the text
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
