package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// writeTable writes rows under header in columns two blanks apart. The last column takes what is left of width and is
// cut there; width 0 means no limit. Cells are escaped, and names are shortened: most come from servers. colourOf gives
// the colour of a cell where w has colours; nil leaves all plain.
func writeTable(w io.Writer, width int, header []string, rows [][]string,
	colourOf func(column int, cell string) string) {
	colours := hasColours(w)
	widths := make([]int, len(header))
	all := append([][]string{header}, rows...)
	for _, row := range all {
		for i, cell := range row {
			if row[i] = escape(cell); i < len(row)-1 {
				row[i] = shortName(row[i])
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	last := len(header) - 1
	if width > 0 {
		left := width
		for _, n := range widths[:last] {
			left -= n + 2
		}
		// A terminal too narrow for the table wraps: a stub of a last column would say nothing.
		widths[last] = max(left, 20)
	}
	for n, row := range all {
		var line strings.Builder
		for i, cell := range row {
			colour := bold // of the header
			if n > 0 && colourOf != nil {
				colour = colourOf(i, cell)
			} else if n > 0 {
				colour = ""
			}
			if !colours {
				colour = ""
			}
			if i == last {
				line.WriteString(painted(colour, cut(cell, widths[last])))
				break
			}
			line.WriteString(painted(colour, cell) + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2))
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
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
