package console

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
	"golang.org/x/term"
)

// ForReading returns a line in the form for w: on a terminal it is broken at blanks before the terminal would break it
// in the middle of a word. For other outputs it is not broken.
func ForReading(w io.Writer, line string) string {
	width := terminalWidth(w)
	if width == 0 {
		return line + "\n"
	}
	indent := len(line) - len(strings.TrimLeft(line, " ")) + 2
	return Hang(line, indent, max(width, leastWidth))
}

// columns counts the columns of a terminal. It does not depend on the locale.
var columns = &runewidth.Condition{StrictEmojiNeutral: true}

// ColumnsOf returns how many columns a text takes on a terminal.
func ColumnsOf(s string) int { return columns.StringWidth(s) }

// CutColumns shortens s to at most n columns of a terminal, with an ellipsis if it cuts something.
func CutColumns(s string, n int) string {
	if ColumnsOf(s) <= n {
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
		if ColumnsOf(more) > width && strings.TrimSpace(line) != "" {
			lines = append(lines, strings.TrimRight(line, " "))
			more = word
		}
		line = more
	}
	return append(lines, strings.TrimRight(line, " "))
}

// Hang breaks a line at blanks. All lines but the first are indented.
func Hang(line string, indent, width int) string {
	head := columns.Truncate(line, indent, "")
	text := head + strings.Join(folded(line[len(head):], width-indent), "\n"+strings.Repeat(" ", indent))
	return strings.TrimRight(text, " ") + "\n"
}

// terminalWidth returns the number of columns of the terminal w, 0 if w is not a terminal.
func terminalWidth(w io.Writer) int {
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

// IsTerminal reports whether s, a standard stream, is a terminal.
func IsTerminal(s any) bool {
	f := fileOf(s)
	return f != nil && term.IsTerminal(int(f.Fd()))
}

// Widths of a help page, in columns.
const (
	PipeWidth   = 80  // if the output is not a terminal
	mostWidth   = 110 // longer lines are hard to read
	leastWidth  = 40
	EntryColumn = 28 // the column in which the description of a flag begins, if the page is wide enough
)

// PageWidth returns the width of a help page for w.
func PageWidth(w io.Writer) int {
	width := terminalWidth(w)
	if width == 0 {
		return PipeWidth
	}
	return min(max(width, leastWidth), mostWidth)
}

// WriteEntry writes a line of a list: head, and about in the column.
func WriteEntry(page *strings.Builder, head, about string, column, width int) {
	column = min(column, width/2)
	head = "  " + head
	if utf8.RuneCountInString(head)+2 > column {
		page.WriteString(head + "\n")
		head = ""
	}
	page.WriteString(Hang(fmt.Sprintf("%-*s%s", column, head, about), column, width))
}

// Wrap fills the paragraphs of a text. A line that begins with a blank stays as it is.
func Wrap(text string, width int) string {
	var out strings.Builder
	paragraph := ""
	flush := func() {
		if paragraph != "" {
			out.WriteString(Hang(paragraph, 0, width))
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

// Table has rows under a header. Cells are escaped, and names are shortened, since most of them come from servers.
type Table struct {
	Header []string
	Rows   [][]string
	Colour func(column int, cell string) string // colour of a cell if there are colours; nil: no cell has one
	Whole  bool                                 // the last column, such as a path, is never cut
}

// leastLast is the least useful width of the last column.
const leastLast = 20

// Write writes the table in the form for w. If w is not a terminal, the table has columns, two blanks apart, and
// nothing is cut. On a terminal the last column is cut at the end of the line. If that would leave less than leastLast,
// each row becomes a few lines, one for each cell that is not empty.
func (t Table) Write(w io.Writer) {
	t.writeWithin(w, terminalWidth(w), hasColours(w))
}

// writeWithin is write for a terminal with this width; 0 means that there is no terminal.
func (t Table) writeWithin(w io.Writer, width int, colours bool) {
	paint := func(row, column int, text string) string {
		switch {
		case !colours || text == "":
			return text
		case row == 0:
			return painted(Bold, text)
		case t.Colour == nil:
			return text
		}
		return painted(t.Colour(column, t.Rows[row-1][column]), text)
	}
	last := len(t.Header) - 1
	widths := make([]int, len(t.Header))
	rows := slices.Concat([][]string{t.Header}, t.Rows)
	for _, row := range rows {
		for i, cell := range row {
			if row[i] = Escape(cell); i < last {
				row[i] = ShortName(row[i])
			}
			widths[i] = max(widths[i], ColumnsOf(row[i]))
		}
	}
	room := width // for the last column
	for _, n := range widths[:last] {
		room -= n + 2
	}
	if width > 0 && room < min(leastLast, widths[last]) {
		t.writeRecords(w, width, paint)
		return
	}
	for n, row := range rows {
		line := ""
		for i, cell := range row[:last] {
			line += paint(n, i, cell) + strings.Repeat(" ", widths[i]-ColumnsOf(cell)+2)
		}
		end := row[last]
		switch {
		case width == 0:
		case !t.Whole:
			end = CutColumns(end, room)
		case widths[last] > room: // then the column is below the others
			line = strings.TrimRight(line, " ") + "\n  "
		}
		fmt.Fprintln(w, strings.TrimRight(line+paint(n, last, end), " "))
	}
}

// writeRecords writes each row as lines of title and cell, with an empty line between rows.
func (t Table) writeRecords(w io.Writer, width int, paint func(row, column int, text string) string) {
	widest := 0
	for _, title := range t.Header {
		widest = max(widest, ColumnsOf(title)+2)
	}
	for n, row := range t.Rows {
		if n > 0 {
			fmt.Fprintln(w)
		}
		for i, cell := range row {
			if cell == "-" || cell == "" {
				continue
			}
			title := t.Header[i]
			for _, line := range folded(cell, width-widest) {
				fmt.Fprintln(w, paint(0, i, title)+strings.Repeat(" ", widest-ColumnsOf(title))+paint(n+1, i, line))
				title = ""
			}
		}
	}
}
