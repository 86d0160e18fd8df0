package main

import (
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
	"golang.org/x/term"
)

// escape makes text of a server harmless on a terminal. It replaces by Go escapes: control characters, which could move
// the cursor or change the colour of earlier text; direction marks, which could reverse text; and invisible characters,
// which could make two texts look the same. The result is one line.
func escape(s string) string { return escapeBut(s, "") }

// escapeBut is escape, except that it keeps the characters of keep.
func escapeBut(s, keep string) string {
	if strings.IndexFunc(s, func(r rune) bool { return hostile(r, keep) || joiner(r) }) < 0 && utf8.ValidString(s) {
		return s
	}
	s = strings.ToValidUTF8(s, string(utf8.RuneError))
	var b strings.Builder
	var before rune
	for i, r := range s {
		after, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
		if hostile(r, keep) || joiner(r) && !(mayJoin(before) && mayJoin(after)) {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		} else {
			b.WriteRune(r)
		}
		before = r
	}
	return b.String()
}

func hostile(r rune, keep string) bool {
	return (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || unseen(r) && !joiner(r)) &&
		!strings.ContainsRune(keep, r)
}

// unseen reports whether r is a character that takes no room or is invisible: a format character, a line or paragraph
// separator, or a letter that fonts draw as nothing.
func unseen(r rune) bool {
	switch r {
	case 0x115f, 0x1160, 0x3164, 0xffa0, 0x2800, 0x034f, 0x17b4, 0x17b5:
		// Hangul fillers, the empty Braille cell, grapheme joiner, Khmer vowels
		return true
	}
	// variation selectors supplement
	return unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) || 0xe0100 <= r && r <= 0xe01ef
}

// joiner reports whether r is one of the two characters that join or separate letters of Persian and Indian scripts,
// and combine emojis. They are kept between such characters.
func joiner(r rune) bool { return r == 0x200c || r == 0x200d }

func mayJoin(r rune) bool {
	return r > unicode.MaxASCII && (unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r) || unicode.IsMark(r) ||
		unicode.Is(unicode.So, r) || unicode.Is(unicode.Sk, r))
}

// maxName is how many characters of a name are shown. MCP allows as many for the name of a tool (2025-11-25
// server/tools, "Tool Names").
const maxName = 128

// shortName returns the name of a tool or a server for people. Of a name that is too long it returns the beginning and
// the length; the full name can be seen elsewhere.
func shortName(name string) string {
	if len(name) <= maxName {
		return name
	}
	n := utf8.RuneCountInString(name)
	if n <= maxName {
		return name
	}
	return string([]rune(name)[:maxName/2]) + "… (" + strconv.Itoa(n) + " characters)"
}

// columns counts the columns of a terminal. It does not depend on the locale.
var columns = &runewidth.Condition{StrictEmojiNeutral: true}

// columnsOf returns how many columns a text takes on a terminal.
func columnsOf(s string) int { return columns.StringWidth(s) }

// cutColumns shortens s to at most n columns of a terminal, with an ellipsis if it cuts something.
func cutColumns(s string, n int) string {
	if columnsOf(s) <= n {
		return s
	}
	return strings.TrimRight(columns.Truncate(s, n-1, ""), " ") + "…"
}

// folded breaks a text at blanks into lines of at most width columns. A word that is too long is not broken.
func folded(text string, width int) (lines []string) {
	words := strings.Split(text, " ")
	line := words[0]
	for _, word := range words[1:] {
		more := line + " " + word
		if len(lines) > 0 {
			more = strings.TrimLeft(more, " ")
		}
		if columnsOf(more) > width && strings.TrimSpace(line) != "" {
			lines = append(lines, strings.TrimRight(line, " "))
			more = word
		}
		line = more
	}
	return append(lines, strings.TrimRight(line, " "))
}

// hung breaks a line at blanks. All lines but the first are indented.
func hung(line string, indent, width int) string {
	head := columns.Truncate(line, indent, "")
	text := head + strings.Join(folded(line[len(head):], width-indent), "\n"+strings.Repeat(" ", indent))
	return strings.TrimRight(text, " ") + "\n"
}

// cut shortens s to at most n runes, with an ellipsis if it cuts something.
func cut(s string, n int) string {
	if n <= 0 || utf8.RuneCountInString(s) <= n {
		return s
	}
	return strings.TrimRight(string([]rune(s)[:n-1]), " ") + "…"
}

// firstLine returns the first line of s that is not blank.
func firstLine(s string) string {
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}

// terminalWidth returns the number of columns of the terminal w, 0 if w is not a terminal.
func terminalWidth(w io.Writer) int {
	if live, ok := w.(*liveLine); ok {
		return live.width()
	}
	f := fileOf(w)
	if f == nil {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// isTerminal reports whether s, a standard stream, is a terminal.
func isTerminal(s any) bool {
	f := fileOf(s)
	return f != nil && term.IsTerminal(int(f.Fd()))
}
