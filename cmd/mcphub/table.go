package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
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
	paint := func(row, column int, text string) string {
		switch {
		case !colours:
			return text
		case row == 0:
			return painted(bold, text)
		case t.colour == nil:
			return text
		}
		return painted(t.colour(column, t.rows[row-1][column]), text)
	}
	last := len(t.header) - 1
	widths := make([]int, len(t.header))
	rows := slices.Concat([][]string{t.header}, t.rows)
	for _, row := range rows {
		for i, cell := range row {
			if row[i] = escape(cell); i < last {
				row[i] = shortName(row[i])
			}
			widths[i] = max(widths[i], columnsOf(row[i]))
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
			line += paint(n, i, cell) + strings.Repeat(" ", widths[i]-columnsOf(cell)+2)
		}
		end := row[last]
		switch {
		case width == 0:
		case !t.whole:
			end = cutColumns(end, room)
		case widths[last] > room: // then the column is below the others
			line = strings.TrimRight(line, " ") + "\n  "
		}
		fmt.Fprintln(w, strings.TrimRight(line+paint(n, last, end), " "))
	}
}

// writeRecords writes each row as lines of title and cell, with an empty line between rows.
func (t table) writeRecords(w io.Writer, width int, paint func(row, column int, text string) string) {
	widest := 0
	for _, title := range t.header {
		widest = max(widest, columnsOf(title)+2)
	}
	for n, row := range t.rows {
		if n > 0 {
			fmt.Fprintln(w)
		}
		for i, cell := range row {
			if cell == "-" || cell == "" {
				continue
			}
			title := t.header[i]
			for _, line := range folded(cell, width-widest) {
				fmt.Fprintln(w, paint(0, i, title)+strings.Repeat(" ", widest-columnsOf(title))+paint(n+1, i, line))
				title = ""
			}
		}
	}
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
func orDash(s string) string { return cmp.Or(s, "-") }
