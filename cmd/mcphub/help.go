package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Widths of a help page, in columns.
const (
	pipeWidth  = 80  // if the output is not a terminal
	mostWidth  = 110 // longer lines are hard to read
	leastWidth = 40
	flagColumn = 28 // the column in which the description of a flag begins, if the page is wide enough
)

// helpWidth returns the width of a help page for w.
func helpWidth(w io.Writer) int {
	width := terminalWidth(w)
	if width == 0 {
		return pipeWidth
	}
	return min(max(width, leastWidth), mostWidth)
}

// flagSections is the order of the flags on a help page. A flag that is not listed appears under "Flags".
var flagSections = []struct {
	title string
	names []string
}{
	{"What", []string{"tool", "args", "arg", "uri", "name", "server", "task"}},
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

// flagHead returns a flag with the form of its value.
func flagHead(f *pflag.Flag) string {
	head := "--" + f.Name
	if f.Shorthand != "" {
		head = "-" + f.Shorthand + ", " + head
	}
	if form := f.Annotations[formOf]; form != nil {
		head += " " + form[0]
	}
	return head
}

// writeHelp writes the help page of a command.
func writeHelp(w io.Writer, c *cobra.Command, width int) {
	var page strings.Builder
	if c.HasParent() {
		head := "Usage: " + c.CommandPath()
		_, rest, _ := strings.Cut(c.Use, " ") // its first word is the name
		page.WriteString(hung(strings.TrimSpace(head+" "+rest), len(head)+1, width))
		if about := strings.TrimSpace(cmp.Or(c.Long, c.Short)); about != "" {
			page.WriteString("\n" + wrapped(about, width))
		}
	} else {
		page.WriteString(wrapped(introduction, width) + "\nUsage: mcphub COMMAND [FLAGS]\n")
	}
	if c.HasAvailableSubCommands() {
		writeCommands(&page, c, width)
	}
	if c.Example != "" {
		page.WriteString("\nFor example:\n" + c.Example + "\n")
	}
	if c.HasParent() {
		for _, s := range sectionsOf(c) {
			page.WriteString("\n" + s.title + ":\n")
			for _, f := range s.flags {
				writeEntry(&page, flagHead(f), f.Usage, flagColumn, width)
			}
		}
	} else {
		page.WriteString("\n" +
			wrapped("mcphub help COMMAND explains a command. Start with mcphub demo, or mcphub demo --web "+
				"to see and click it in a browser.", width))
	}
	_, _ = io.WriteString(w, page.String()) // output records a failed write
}

// writeCommands lists the subcommands of c by their groups.
func writeCommands(page *strings.Builder, c *cobra.Command, width int) {
	column := 0
	for _, child := range c.Commands() {
		if shown(child) {
			column = max(column, len(child.Name()))
		}
	}
	groups := append(slices.Clone(c.Groups()), &cobra.Group{Title: "Commands"})
	for _, g := range groups {
		title := "\n" + g.Title + ":\n"
		for _, child := range c.Commands() {
			if child.GroupID == g.ID && shown(child) {
				page.WriteString(title)
				title = ""
				writeEntry(page, child.Name(), child.Short, column+4, width)
			}
		}
	}
}

// shown reports whether lists of commands contain c. cobra leaves out its help command, which is shown here.
func shown(c *cobra.Command) bool { return c.IsAvailableCommand() || c.Name() == "help" }

// writeEntry writes a line of a list: head, and about in the column.
func writeEntry(page *strings.Builder, head, about string, column, width int) {
	column = min(column, width/2)
	head = "  " + head
	if utf8.RuneCountInString(head)+2 > column {
		page.WriteString(head + "\n")
		head = ""
	}
	page.WriteString(hung(fmt.Sprintf("%-*s%s", column, head, about), column, width))
}

// wrapped fills the paragraphs of a text. A line that begins with a blank stays as it is.
func wrapped(text string, width int) string {
	var out strings.Builder
	paragraph := ""
	flush := func() {
		if paragraph != "" {
			out.WriteString(hung(paragraph, 0, width))
			paragraph = ""
		}
	}
	for line := range strings.Lines(text) {
		switch line = strings.TrimRight(line, "\n"); {
		case line == "", strings.HasPrefix(line, " "), strings.HasPrefix(line, "\t"):
			flush()
			out.WriteString(strings.ReplaceAll(line, "\t", "  ") + "\n")
		default:
			paragraph = strings.TrimSpace(paragraph + " " + line)
		}
	}
	flush()
	return out.String()
}
