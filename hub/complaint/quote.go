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

// Quote is what an error says of a program's stderr: first the line that matters of all of it, then the latest lines,
// bounded in number by the caller. Each is printable and bounded, and none is said twice. "" when there is nothing to
// say.
func Quote(all, latest []string) string {
	line := Line(all)
	var parts, rest []string
	if line != "" {
		parts = append(parts, said+bounds.Printable(line))
	}
	for i, l := range latest {
		text := strings.TrimSpace(plain(l))
		if text == "" || text == line || slices.Contains(latest[i+1:], l) { // a server that was tried again says it again
			continue
		}
		rest = append(rest, bounds.Printable(l))
	}
	if len(rest) > 0 {
		parts = append(parts, last+strings.Join(rest, " | "))
	}
	return strings.Join(parts, "; ")
}

// Without is a text without what Quote has added at its end: for reports that leave a program's words out.
func Without(text string) string {
	for _, mark := range []string{said, last} {
		text, _, _ = strings.Cut(text, mark)
	}
	return strings.TrimRight(text, "; ")
}
