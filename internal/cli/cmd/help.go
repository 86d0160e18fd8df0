package cmd

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcphub-go/mcphub/internal/cli/console"
)

// Introduction says what the program is.
const Introduction = `mcphub is the MCP backend of a code editor. An editor extension spawns it as a plugin; by hand
it is used with a command.`

// flagSections is the order of the flags on a help page. A flag that is not listed appears under "Flags".
var flagSections = []struct {
	title string
	names []string
}{
	{"What", []string{"tool", "args", "arg", "uri", "name", "server", "task", "client", "drive"}},
	{"Which servers", []string{"config", "stdio", "env", "url", "transport", "header", "era", "folder", "scope",
		"dialect"}},
	{"Time", []string{"cancel-after", "cancel-at", "reason", "timeout", "total-timeout", "idle-timeout", "connect-timeout",
		"linger"}},
	{"Answers to questions", []string{"approve", "elicit", "sample", "sign-in", "launch", "input"}},
	{"Flags", nil},
}

// section is a part of a help page.
type section struct {
	title string
	flags []*pflag.Flag
}

// sectionsOf returns the flags of a command in the sections of its help page.
func sectionsOf(c *cobra.Command) []section {
	var sections []section
	var listed []string
	for _, s := range flagSections {
		var flags []*pflag.Flag
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !slices.Contains(listed, f.Name) && (s.names == nil || slices.Contains(s.names, f.Name)) {
				flags, listed = append(flags, f), append(listed, f.Name)
			}
		})
		if flags != nil {
			sections = append(sections, section{s.title, flags})
		}
	}
	return sections
}

// FlagHead returns a flag with the form of its value.
func FlagHead(f *pflag.Flag) string {
	head := "--" + f.Name
	if f.Shorthand != "" {
		head = "-" + f.Shorthand + ", " + head
	}
	if form := f.Annotations[formOf]; form != nil {
		head += " " + form[0]
	}
	return head
}

// WriteHelp writes the help page of a command.
func WriteHelp(w io.Writer, c *cobra.Command, width int) {
	var page strings.Builder
	if c.HasParent() {
		head := "Usage: " + c.CommandPath()
		_, rest, _ := strings.Cut(c.Use, " ") // its first word is the name
		page.WriteString(console.Hang(strings.TrimSpace(head+" "+rest), len(head)+1, width))
		if about := strings.TrimSpace(cmp.Or(c.Long, c.Short)); about != "" {
			page.WriteString("\n" + console.Wrap(about, width))
		}
	} else {
		page.WriteString(console.Wrap(Introduction, width) + "\nUsage: mcphub COMMAND [FLAGS]\n")
	}
	if c.HasAvailableSubCommands() {
		WriteCommands(&page, c, width)
	}
	if c.Example != "" {
		page.WriteString("\nFor example:\n" + c.Example + "\n")
	}
	if c.HasParent() {
		for _, s := range sectionsOf(c) {
			page.WriteString("\n" + s.title + ":\n")
			for _, f := range s.flags {
				console.WriteEntry(&page, FlagHead(f), f.Usage, console.EntryColumn, width)
			}
		}
	} else {
		page.WriteString("\n" +
			console.Wrap("mcphub help COMMAND explains a command. Start with mcphub demo, or mcphub demo --web "+
				"to see and click it in a browser.", width))
	}
	_, _ = io.WriteString(w, page.String()) // output records a failed write
}

// WriteCommands lists the subcommands of c by their groups.
func WriteCommands(page *strings.Builder, c *cobra.Command, width int) {
	column := 0
	for _, child := range c.Commands() {
		if Shown(child) {
			column = max(column, len(child.Name()))
		}
	}
	groups := append(slices.Clone(c.Groups()), &cobra.Group{Title: "Commands"})
	for _, g := range groups {
		title := "\n" + g.Title + ":\n"
		for _, child := range c.Commands() {
			if child.GroupID == g.ID && Shown(child) {
				page.WriteString(title)
				title = ""
				console.WriteEntry(page, child.Name(), child.Short, column+4, width)
			}
		}
	}
}

// Shown reports whether lists of commands contain c. cobra leaves out its help command, which is shown here.
func Shown(c *cobra.Command) bool { return c.IsAvailableCommand() || c.Name() == "help" }
