package doctor

import (
	"fmt"
	"io"
	"strings"
	"time"
)

const (
	plainWidth = 80 // used if the width of the terminal is not known
	leastWidth = 20
)

// The labels of the levels in Markdown.
var labels = map[Level]string{Mend: "**mend**", Improve: "improve", Note: "note", Good: "good"}

// WriteText writes the report for people, in lines of at most width columns; 80 if width is not known. With all, it
// includes the findings of level Good. paint colours the headings by their levels; nil leaves them plain.
func (r *Report) WriteText(w io.Writer, width int, all bool, paint func(Level, string) string) error {
	if paint == nil {
		paint = func(_ Level, text string) string { return text }
	}
	if width < leastWidth {
		width = plainWidth
	}
	b := &strings.Builder{}
	wrap(b, r.title(), width, "")
	for _, line := range r.facts() {
		wrap(b, line, width, "  ")
	}
	for _, level := range []Level{Mend, Improve, Note, Good} {
		if r.Count(level) == 0 || level == Good && !all {
			continue
		}
		fmt.Fprintf(b, "\n%s\n", paint(level, headings[level]))
		for _, f := range r.Findings {
			if f.Level != level {
				continue
			}
			wrap(b, fmt.Sprintf("%s%s: %s", f.Check, f.where(), f.Seen), width, "  ")
			if f.Do != "" {
				wrap(b, "do: "+f.Do, width, "    ")
			}
			if f.Spec != "" && level != Good && level != Note {
				wrap(b, fmt.Sprintf("%s: %s", f.Spec, f.Says), width, "    ")
			}
		}
	}
	fmt.Fprintf(b, "\n%s\n", r.verdict())
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteMarkdown writes the report for an issue in the server's project.
func (r *Report) WriteMarkdown(w io.Writer) error {
	b := &strings.Builder{}
	fmt.Fprintf(b, "## %s\n\n", escape(r.title()))
	for _, line := range r.facts() {
		fmt.Fprintf(b, "- %s\n", escape(line))
	}
	b.WriteString("\n| | check | seen | what to do | specification |\n| --- | --- | --- | --- | --- |\n")
	for _, f := range r.ByLevel() {
		spec := f.Spec
		if f.Says != "" {
			spec += ": " + f.Says
		}
		fmt.Fprintf(b, "| %s | `%s`%s | %s | %s | %s |\n", labels[f.Level], f.Check, escape(f.where()), escape(f.Seen),
			escape(f.Do), escape(spec))
	}
	fmt.Fprintf(b, "\n%s\n", r.verdict())
	_, err := io.WriteString(w, b.String())
	return err
}

var headings = map[Level]string{Mend: "To mend", Improve: "To improve", Note: "Good to know", Good: "As it should be"}

// where returns the transport and era of a finding, if it has them.
func (f Finding) where() string {
	switch {
	case f.Era != "":
		return fmt.Sprintf(" (%s, %s)", f.Transport, f.Era)
	case f.Transport != "":
		return fmt.Sprintf(" (%s)", f.Transport)
	}
	return ""
}

func (r *Report) title() string {
	if r.Says == "" {
		return "mcphub doctor: " + r.Server
	}
	return fmt.Sprintf("mcphub doctor: %s, which calls itself %s", r.Server, r.Says)
}

func (r *Report) facts() []string {
	facts := []string{fmt.Sprintf("examined on %s, in %v", r.Examined.UTC().Format(time.DateOnly),
		r.Took.Round(100*time.Millisecond))}
	if len(r.Revisions) > 0 {
		facts = append(facts, "speaks "+strings.Join(r.Revisions, ", "))
	}
	if r.Tools > 0 {
		facts = append(facts, fmt.Sprintf("%s, about %s of definitions", count(r.Tools, "tool"), count(r.Tokens, "token")))
	}
	if r.Calls > 0 {
		facts = append(facts, fmt.Sprintf("a tool was called %s, to be cancelled", count(r.Calls, "time")))
	} else {
		facts = append(facts, "no tool was called: name one with --tool to see what becomes of a cancel")
	}
	return facts
}

func (r *Report) verdict() string {
	return fmt.Sprintf("%d to mend, %d to improve, %s, %d as it should be", r.Count(Mend), r.Count(Improve),
		count(r.Count(Note), "note"), r.Count(Good))
}

// count returns a number with its noun, whose plural ends in s.
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// wrap writes a text in lines of at most width columns. The first line is indented by indent, the others by two columns
// more.
func wrap(b *strings.Builder, text string, width int, indent string) {
	column := 0
	for _, word := range strings.Fields(text) {
		switch n := len([]rune(word)); {
		case column == 0:
			b.WriteString(indent + word)
			column = len(indent) + n
		case column+1+n > width:
			b.WriteString("\n" + indent + "  " + word)
			column = len(indent) + 2 + n
		default:
			b.WriteString(" " + word)
			column += 1 + n
		}
	}
	b.WriteString("\n")
}

// escape makes a server's text safe for a cell of a Markdown table: it can open no markup, no link and no cell.
func escape(text string) string {
	return markup.Replace(text)
}

var markup = strings.NewReplacer("|", "\\|", "<", "&lt;", ">", "&gt;", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[",
	"]", "\\]", "!", "\\!", "@", "@\u200b", "#", "\\#", "\n", " ")
