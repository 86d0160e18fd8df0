package console

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

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
	t.writeWithin(w, TerminalWidth(w), hasColours(w))
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
