package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// row is one number that is measured, with its floor.
type row struct {
	what   string
	atMost bool // else at least
	floor  float64
	unit   string
}

func atLeast(floor float64, unit, what string) row { return row{what, false, floor, unit} }
func atMost(floor float64, unit, what string) row  { return row{what, true, floor, unit} }

// reached reports whether a group has measured the row and found its floor kept. NaN keeps none.
func (r row) reached(f figures) bool {
	x, ok := f[r.what]
	if r.atMost {
		return ok && x.value <= r.floor
	}
	return ok && x.value >= r.floor
}

// group is a set of rows that are measured together. Each of its rows must be measured.
type group struct {
	name    string
	measure measurement
	rows    []row
}

// groups is the table of everything that is measured.
var groups = []group{
	{"engine", measureEngine, []row{
		atLeast(0.3, "", "engine / byte loop, sequential"),
		atLeast(0.25, "", "engine / byte loop, 64 at once"),
		atLeast(4, "times", "engine / go-sdk, sequential"),
		atLeast(15, "times", "engine / go-sdk, 64 at once"),
		atLeast(2, "times", "engine / mcp-go, sequential"),
		atLeast(4, "times", "engine / mcp-go, 64 at once"),
	}},
	{"web", measureWeb, []row{
		atLeast(0.6, "", "HTTP, legacy / POST loop, sequential"),
		atLeast(0.6, "", "HTTP, legacy / POST loop, 64 at once"),
		atLeast(0.6, "", "HTTP, modern / POST loop, sequential"),
		atLeast(0.6, "", "HTTP, modern / POST loop, 64 at once"),
	}},
	{"path", measurePath, []row{
		atMost(1.5, "", "time of the whole path / of a relay, sequential"),
		atMost(1.6, "", "time of the whole path / of a relay, 64 at once"),
	}},
	{"cancel", measureCancel, []row{
		atMost(100, "us", "CancelRequest -> notification in the server's pipe, median"),
		atMost(1000, "us", "CancelRequest -> notification in the server's pipe, p99"),
	}},
	{"webcancel", measureWebCancel, []row{
		atMost(1, "ms", "HTTP, legacy, headers at once: CancelRequest -> notification read"),
		atMost(1, "ms", "HTTP, legacy, headers with the answer: CancelRequest -> notification read"),
		atMost(1, "ms", "HTTP, modern, headers at once: CancelRequest -> reset seen"),
		atMost(1, "ms", "HTTP, modern, headers with the answer: CancelRequest -> reset seen"),
	}},
	{"large", measureLarge, []row{
		atLeast(150, "MB/s", "a result of 60 MiB from stdio to the host, ours together"),
	}},
	{"memory", measureMemory, []row{
		atMost(6, "KiB", "memory a request in flight, beyond gRPC's own"),
		atMost(12, "MiB", "idle hub without servers, anonymous memory"),
		atMost(150, "KiB", "each idle stdio server, heap of the hub"),
		atMost(36, "MB", "binary, stripped"),
	}},
	{"start", measureStart, []row{
		atMost(1.05, "", "spawn -> first answer / an empty plugin behind the same door"),
	}},
	{"core", measureCore, []row{
		atLeast(1_000_000, "/s", "events that the core alone applies a second"),
	}},
	{"storm", measureStorm, []row{
		atMost(1, "", "hub CPU in a storm / a loop that reads the pipes and drops it all"),
	}},
	{"gateway", measureGateway, []row{
		atMost(0.3, "ms", "stdio, a call through the gateway, more than directly"),
		atLeast(0.4, "", "stdio, through the gateway / through a relay, 64 at once"),
		atLeast(0.4, "", "stdio, TypeScript SDK: through the gateway / directly, 64 at once"),
		atMost(1.7, "", "HTTP, time of a call through the gateway / through a relay"),
		atMost(1, "ms", "a client's cancel -> notification in the server's pipe, median"),
	}},
	{"bystander", measureBystander, []row{
		atMost(250, "ms", "worst call of a bystander while a server or a folder does its worst"),
		atMost(250, "ms", "worst call of a bystander while 32 clients of a gateway do their worst"),
	}},
}

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
