package main

import (
	"fmt"
	"io"
	"strings"
)

// table has rows under a header. Cells are escaped, and names are shortened, since most of them come from servers.
type table struct {
	header []string
	rows   [][]string
	colour func(column int, cell string) string // colour of a cell if there are colours; nil: no cell has one
	whole  bool                                 // the last column, such as a path, is never cut
}

// leastLast is the least useful width of the last column.
const leastLast = 20

// write writes the table in the form for w. If w is not a terminal, the table has columns, two blanks apart, and
// nothing is cut. On a terminal the last column is cut at the end of the line. If that would leave less than leastLast,
// each row becomes a few lines, one for each cell that is not empty.
func (t table) write(w io.Writer) {
	t.writeWithin(w, terminalWidth(w), hasColours(w))
}

// writeWithin is write for a terminal with this width; 0 means that there is no terminal.
func (t table) writeWithin(w io.Writer, width int, colours bool) {
	last := len(t.header) - 1
	widths := make([]int, len(t.header))
	for i, title := range t.header {
		widths[i] = cellsOf(title)
	}
	for _, row := range t.rows {
		for i, cell := range row {
			if row[i] = escape(cell); i < last {
				row[i] = shortName(row[i])
			}
			widths[i] = max(widths[i], cellsOf(row[i]))
		}
	}
	room := 0 // for the last column; 0: no limit
	if width > 0 {
		room = width
		for _, n := range widths[:last] {
			room -= n + 2
		}
		if room < min(leastLast, widths[last]) {
			t.writeRecords(w, width, colours)
			return
		}
	}
	below := t.whole && room > 0 && widths[last] > room
	line := func(row []string, colourOf func(column int, cell string) string) {
		var line strings.Builder
		for i, cell := range row[:last] {
			line.WriteString(painted(colourOf(i, cell), cell) + strings.Repeat(" ", widths[i]-cellsOf(cell)+2))
		}
		end := row[last]
		if below {
			fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
			line.Reset()
			end = "  " + end
		} else if room > 0 {
			end = cutCells(end, room)
		}
		fmt.Fprintln(w, strings.TrimRight(line.String()+painted(colourOf(last, row[last]), end), " "))
	}
	line(t.header, t.colours(colours, func(int, string) string { return bold }))
	for _, row := range t.rows {
		line(row, t.colours(colours, t.colour))
	}
}

// writeRecords writes each row as lines of title and cell, with an empty line between rows.
func (t table) writeRecords(w io.Writer, width int, colours bool) {
	column := 0
	for _, title := range t.header {
		column = max(column, cellsOf(title)+2)
	}
	colourOf := t.colours(colours, t.colour)
	for n, row := range t.rows {
		if n > 0 {
			fmt.Fprintln(w)
		}
		for i, cell := range row {
			if cell == "-" || cell == "" {
				continue
			}
			// The text is broken before it is coloured, since an escape sequence takes no columns.
			text := hung(fmt.Sprintf("%-*s%s", column, t.header[i], cell), column, width)
			title, rest := text[:len(t.header[i])], text[len(t.header[i]):]
			fmt.Fprint(w, painted(t.colours(colours, func(int, string) string { return bold })(i, cell), title)+
				paintedLines(colourOf(i, cell), rest))
		}
	}
}

// colours returns of, or a function without colours if there are none.
func (t table) colours(on bool, of func(column int, cell string) string) func(column int, cell string) string {
	if !on || of == nil {
		return func(int, string) string { return "" }
	}
	return of
}

// paintedLines colours the text on each line, without the blanks before it and the line end.
func paintedLines(colour, text string) string {
	if colour == "" {
		return text
	}
	var out strings.Builder
	for line := range strings.Lines(text) {
		begin := len(line) - len(strings.TrimLeft(line, " "))
		end := len(strings.TrimRight(line, "\n"))
		out.WriteString(line[:begin] + painted(colour, line[begin:end]) + line[end:])
	}
	return out.String()
}

// word returns the word for an enum value: for SERVER_STATE_READY it is ready.
func word(value fmt.Stringer, prefix string) string {
	s := strings.TrimPrefix(value.String(), prefix)
	if s == "UNSPECIFIED" {
		return "-"
	}
	return strings.ReplaceAll(strings.ToLower(s), "_", " ")
}

// orDash returns s, or a dash if s is empty: an empty cell would look like a mistake.
func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
