package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// figures are what a group has measured, by the names of its rows.
type figures map[string]figure

// figure is a value, with lines that say what it was made of.
type figure struct {
	value  float64
	detail string
}

func (f figures) put(what string, value float64, detail string, args ...any) {
	f[what] = figure{value, fmt.Sprintf(detail, args...)}
}

// report prints what was measured, and remembers what fails the run.
type report struct {
	out      io.Writer
	reached  int
	failures []string
}

const columns = "%-74s %12s  %-12s %s\n"

// add prints the rows of a group. A row that was not measured fails the run like one that missed its floor.
func (r *report) add(g group, f figures, err error, took time.Duration) {
	fmt.Fprintf(r.out, "%s (%.1f s)\n", g.name, took.Seconds())
	for _, x := range g.rows {
		sign := ">= "
		if x.atMost {
			sign = "<= "
		}
		measured, floor, verdict := "", sign+format(x.floor, x.unit), "reached"
		found, ok := f[x.what]
		if ok {
			measured = format(found.value, x.unit)
		}
		switch {
		case x.reached(f):
			r.reached++
		case ok:
			verdict = "missed"
			r.failures = append(r.failures, fmt.Sprintf("missed: %s: %s: %s, not %s", g.name, x.what, measured, floor))
		default:
			verdict = "not measured"
			r.failures = append(r.failures, fmt.Sprintf("not measured: %s: %s", g.name, x.what))
		}
		fmt.Fprintf(r.out, columns, "  "+x.what, measured, floor, verdict)
		for line := range strings.SplitSeq(strings.Trim(found.detail, "\n"), "\n") {
			if line != "" {
				fmt.Fprintln(r.out, "      "+line)
			}
		}
	}
	if err != nil {
		said := strings.ReplaceAll(err.Error(), "\n", "; ") // one line for each failure
		r.failures = append(r.failures, g.name+": "+said)
		fmt.Fprintln(r.out, "  failed:", said)
	}
}

// finish prints the line that counts and repeats what fails the run. It returns the exit code.
func (r *report) finish() int {
	fmt.Fprintf(r.out, "\n%d reached, %d failures\n", r.reached, len(r.failures))
	for _, failure := range r.failures {
		fmt.Fprintln(r.out, failure)
	}
	if len(r.failures) > 0 {
		return 1
	}
	return 0
}

// format formats a value with its significant digits only.
func format(v float64, unit string) string {
	digits := 0
	switch abs := max(v, -v); {
	case v == float64(int64(v)):
	case abs < 10:
		digits = 2
	case abs < 100:
		digits = 1
	}
	return strings.TrimSpace(strconv.FormatFloat(v, 'f', digits, 64) + " " + unit)
}
