package main

import (
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// escape makes text of a server harmless on a terminal: control characters, which could move the cursor or recolour what was
// said before, and direction marks, which could turn it round, are shown as Go escapes. Everything on one line.
func escape(s string) string { return escapeBut(s, "") }

// escapeBut is escape, except for the characters of keep.
func escapeBut(s, keep string) string {
	if strings.IndexFunc(s, func(r rune) bool { return hostile(r, keep) }) < 0 && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if hostile(r, keep) {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func hostile(r rune, keep string) bool {
	return (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) && !strings.ContainsRune(keep, r)
}

// cut shortens s to at most n runes, with an ellipsis when something is lost.
func cut(s string, n int) string {
	if n <= 0 || utf8.RuneCountInString(s) <= n {
		return s
	}
	return strings.TrimRight(string([]rune(s)[:n-1]), " ") + "…"
}

// firstLine gives the first line of s that is not blank.
func firstLine(s string) string {
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}

// terminalWidth gives the columns of the terminal that w is, 0 when it is none.
func terminalWidth(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// isTerminal tells whether s, a standard stream, is a terminal.
func isTerminal(s any) bool {
	f, ok := s.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
