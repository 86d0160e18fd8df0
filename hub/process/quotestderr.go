package process

import (
	"slices"
	"strings"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

// The beginnings of the two parts of a quotation.
const (
	said = "it says on stderr: "
	last = "last lines on stderr: "
)

// QuoteStderr returns what an error says about a program's stderr: first the line of [Complaint], then the latest
// lines, at most most lines and room bytes. Each line is printable and bounded, no line is repeated, and the frames of
// a stack are left out. It returns "" if there is nothing to say.
func QuoteStderr(stderr []string, most, room int) string {
	line := Complaint(stderr)
	var parts, rest []string
	if line != "" {
		parts = append(parts, said+bounds.Printable(line))
	}
	// The order is from the end, since a server that was started again repeats its lines.
	latest := withoutStacks(stderr)
	for i := len(latest) - 1; i >= 0 && len(rest) < most; i-- {
		text := bounds.Printable(latest[i])
		told := strings.TrimSpace(plain(latest[i]))
		again := told == line || strings.HasPrefix(line, rejected) && strings.HasSuffix(told, line)
		if again || slices.Contains(rest, text) {
			continue
		}
		if room -= len(text); room < 0 {
			break
		}
		rest = append(rest, text)
	}
	if slices.Reverse(rest); len(rest) > 0 {
		parts = append(parts, last+strings.Join(rest, " | "))
	}
	return strings.Join(parts, "; ")
}

var (
	goroutine = form(`^goroutine \d+ `)
	// nodeItself matches the place at which Node begins to show a line of its own source, which ends with a blank line.
	nodeItself = form(`^node:internal/\S+:\d+$`)
)

// withoutStacks removes the stacks that runtimes print, and what belongs to them: the fields of Node's error, its own
// source, the goroutines of Go. The lines that say what was wrong stay.
func withoutStacks(lines []string) []string {
	var kept []string
	until := func(string) bool { return true } // reports whether a line is no part of the removed block any more
	for _, raw := range lines {
		line := plain(raw)
		indented := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")
		text := strings.TrimSpace(line)
		if over := until; !over(line) {
			continue
		}
		until = func(string) bool { return true }
		switch {
		case text == "}" || text == "": // the end of a block
		case strings.HasPrefix(text, "Traceback (most recent call last)"):
			until = func(line string) bool { return line != "" && line[0] != ' ' && line[0] != '\t' }
		case nodeItself().MatchString(text), goroutine().MatchString(text):
			until = func(line string) bool { return strings.TrimSpace(line) == "" }
		case isFrame(line) && indented && strings.HasSuffix(text, "{"): // "    at f (x.js:1:2) {"
			until = func(line string) bool { return line != "" && line[0] != ' ' && line[0] != '\t' }
		case isFrame(line):
		default:
			kept = append(kept, raw)
		}
	}
	return kept
}

// WithoutStderr returns text without what QuoteStderr has added at its end. It is for reports that must not have a
// program's words.
func WithoutStderr(text string) string {
	for _, mark := range []string{said, last} {
		text, _, _ = strings.Cut(text, mark)
	}
	return strings.TrimRight(text, "; ")
}
