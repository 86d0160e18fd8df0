package main

import (
	"fmt"
	"io"
	"strings"
)

// table is rows under a header. Cells are escaped, and names are shortened: most come from servers.
type table struct {
	header []string
	rows   [][]string
	colour func(column int, cell string) string // of a cell where there are colours; nil: all are plain
	whole  bool                                 // the last column, a path say, is never cut
}

// leastLast is how much of a last column is worth showing.
const leastLast = 20

// write writes the table for what w is: in columns two blanks apart, all of it where w is no terminal. On a terminal
// the last column is cut where the line ends. Where that leaves a stub of it, each row becomes a few lines, one for
// each cell that says something.
func (t table) write(w io.Writer) {
	t.writeWithin(w, terminalWidth(w), hasColours(w))
}

// writeWithin is write for a terminal of a width; 0 is none.
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
	room := 0 // for the last column; 0: any
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
			// The colour goes into the text when it is broken: an escape sequence takes no room.
			text := hung(fmt.Sprintf("%-*s%s", column, t.header[i], cell), column, width)
			title, rest := text[:len(t.header[i])], text[len(t.header[i]):]
			fmt.Fprint(w, painted(t.colours(colours, func(int, string) string { return bold })(i, cell), title)+
				paintedLines(colourOf(i, cell), rest))
		}
	}
}

// colours gives colours where there are any, and where somebody chooses them.
func (t table) colours(on bool, of func(column int, cell string) string) func(column int, cell string) string {
	if !on || of == nil {
		return func(int, string) string { return "" }
	}
	return of
}

// paintedLines paints what stands on lines, without the blanks before it and the ends.
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

// word gives the word of an enum value for people: SERVER_STATE_READY is ready.
func word(value fmt.Stringer, prefix string) string {
	s := strings.TrimPrefix(value.String(), prefix)
	if s == "UNSPECIFIED" {
		return "-"
	}
	return strings.ReplaceAll(strings.ToLower(s), "_", " ")
}

// orDash gives s, or a dash: an empty cell looks like a fault of the table.
func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
