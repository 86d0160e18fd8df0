package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// writeTable writes rows under header in columns two blanks apart. The last column takes what is left of width and is
// cut there; width 0 means no limit. Cells are escaped, and names are shortened: most come from servers.
func writeTable(w io.Writer, width int, header []string, rows [][]string) {
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
	for _, row := range all {
		var line strings.Builder
		for i, cell := range row {
			if i == last {
				line.WriteString(cut(cell, widths[last]))
				break
			}
			fmt.Fprintf(&line, "%-*s  ", widths[i], cell)
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
