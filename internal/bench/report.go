package main

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// row is one number and its target.
type row struct {
	what    string
	value   float64
	unit    string
	target  *target // nil: for information
	reached bool    // true without a target
	detail  string
	first   *float64 // the first measurement, which missed the target, if this is the second
}

// target is a limit for a number.
type target struct {
	atLeast bool // else at most
	bound   float64
}

func (t target) reached(v float64) bool {
	if t.atLeast {
		return v >= t.bound
	}
	return v <= t.bound
}

// number returns a row without a target.
func number(what string, value float64, unit, detail string, args ...any) row {
	return row{what: what, value: value, unit: unit, reached: true, detail: fmt.Sprintf(detail, args...)}
}

func (r row) atLeast(bound float64) row { return r.aim(target{true, bound}) }
func (r row) atMost(bound float64) row  { return r.aim(target{false, bound}) }

func (r row) aim(t target) row {
	r.target, r.reached = &t, t.reached(r.value)
	return r
}

func (r row) missed() bool { return !r.reached }

// mayChange reports whether a second measurement may reach what this one missed. A bound of zero is for what must never
// be there.
func (r row) mayChange() bool { return r.missed() && r.target.bound != 0 }

// verdict says in one word whether the target was reached; it is empty without a target.
func (r row) verdict() string {
	switch {
	case r.target == nil:
		return ""
	case r.missed():
		return "missed"
	}
	return "reached"
}

// reach formats the target, and is empty without one.
func (r row) reach() string {
	switch {
	case r.target == nil:
		return ""
	case r.target.atLeast:
		return ">= " + figure(r.target.bound, r.unit)
	}
	return "<= " + figure(r.target.bound, r.unit)
}

// again replaces the rows that missed their targets by those of a second measurement that reached them.
func again(first, second []row) []row {
	rows := slices.Clone(first)
	for i, r := range rows {
		if !r.mayChange() {
			continue
		}
		for _, s := range second {
			if s.what == r.what && !s.missed() {
				s.first = &r.value
				rows[i] = s
			}
		}
	}
	return rows
}

// report is the result of a run.
type report struct {
	options  options
	start    time.Time
	groups   []result
	failures []string // measurements that could not be made
}

type result struct {
	name    string
	seconds float64
	rows    []row
	err     string
}

func newReport(o options) *report { return &report{options: o, start: time.Now()} }

func (r *report) seconds() float64 { return time.Since(r.start).Seconds() }

func (r *report) add(g group, rows []row, err error) {
	res := result{name: g.name, rows: rows, seconds: r.seconds()}
	for _, before := range r.groups {
		res.seconds -= before.seconds
	}
	if err != nil {
		res.err = strings.ReplaceAll(err.Error(), "\n", "; ")
		r.failures = append(r.failures, g.name+": "+res.err)
	}
	r.groups = append(r.groups, res)
}

const columns = "%-66s %14s  %-14s %s\n"

func (r *report) printHead(w io.Writer) {
	fmt.Fprintf(w, "commit %s, %s, %s/%s, %d CPUs, %d rounds\n\n", r.options.bin.commit, runtime.Version(), runtime.GOOS,
		runtime.GOARCH, runtime.GOMAXPROCS(0), r.options.rounds)
	fmt.Fprintf(w, columns, "", "measured", "reach", "")
}

// printLast prints the group that was added last.
func (r *report) printLast(w io.Writer) {
	g := r.groups[len(r.groups)-1]
	fmt.Fprintf(w, "%s (%.1f s)\n", g.name, g.seconds)
	for _, x := range g.rows {
		fmt.Fprintf(w, columns, "  "+x.what, figure(x.value, x.unit), x.reach(), x.verdict())
		if x.first != nil {
			fmt.Fprintf(w, "      measured twice; at first it was %s\n", figure(*x.first, x.unit))
		}
		for line := range strings.Lines(x.detail) {
			fmt.Fprintf(w, "      %s\n", strings.TrimRight(line, "\n"))
		}
	}
	if g.err != "" {
		fmt.Fprintf(w, "  not measured: %s\n", g.err)
	}
}

// count returns how many targets were reached and missed.
func (r *report) count() (reached, missed int) {
	for _, g := range r.groups {
		for _, x := range g.rows {
			switch {
			case x.target == nil:
			case x.reached:
				reached++
			default:
				missed++
			}
		}
	}
	return reached, missed
}

// ok reports whether everything was measured and every target reached.
func (r *report) ok() bool {
	_, missed := r.count()
	return missed == 0 && len(r.failures) == 0
}

// summary is the line that counts.
func (r *report) summary() string {
	reached, missed := r.count()
	return fmt.Sprintf("%d reached, %d missed, %d groups not measured, %.0f s", reached, missed, len(r.failures),
		r.seconds())
}

// printFoot prints the summary, and repeats what fails the run.
func (r *report) printFoot(w io.Writer) {
	fmt.Fprintf(w, "\n%s\n", r.summary())
	for _, g := range r.groups {
		for _, x := range g.rows {
			if x.missed() {
				fmt.Fprintf(w, "missed: %s: %s: %s, not %s\n", g.name, x.what, figure(x.value, x.unit), x.reach())
			}
		}
	}
	for _, failure := range r.failures {
		fmt.Fprintf(w, "not measured: %s\n", failure)
	}
}

// figure formats a value with its significant digits only.
func figure(v float64, unit string) string {
	digits := 0
	switch abs := max(v, -v); {
	case v == float64(int64(v)):
	case abs < 10:
		digits = 2
	case abs < 100:
		digits = 1
	}
	s := strconv.FormatFloat(v, 'f', digits, 64)
	if unit != "" {
		s += " " + unit
	}
	return s
}
