package complaint

import (
	"slices"
	"strings"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

// How the two parts of a quotation begin.
const (
	said = "it says on stderr: "
	last = "last lines on stderr: "
)

// Quote is what an error says of a program's stderr: first the line that matters, then the latest lines, at most so
// many and of so many bytes. Each is printable and bounded, none is said twice, and the frames of a stack are left out.
// "" when there is nothing to say.
func Quote(stderr []string, most, room int) string {
	line := Line(stderr)
	var parts, rest []string
	if line != "" {
		parts = append(parts, said+bounds.Printable(line))
	}
	// Backwards: a server that was tried again says the same again.
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
	// nodeItself is where Node shows a line of its own source, up to a blank line.
	nodeItself = form(`^node:internal/\S+:\d+$`)
)

// withoutStacks leaves out the stacks that runtimes print, with what belongs to them: the fields of Node's error, its
// own source, Go's goroutines. The lines that say what was wrong stay.
func withoutStacks(lines []string) []string {
	var kept []string
	until := func(string) bool { return true } // whether a line is no more of the block that is left out
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

// Without is a text without what Quote has added at its end: for reports that leave a program's words out.
func Without(text string) string {
	for _, mark := range []string{said, last} {
		text, _, _ = strings.Cut(text, mark)
	}
	return strings.TrimRight(text, "; ")
}
