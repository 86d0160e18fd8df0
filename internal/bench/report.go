package main

import (
	"encoding/json"
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
	What    string  `json:"what"`
	Value   float64 `json:"value"`
	Unit    string  `json:"unit"`
	Target  *target `json:"target,omitempty"` // nil: for information
	Reached *bool   `json:"reached,omitempty"`
	Detail  string  `json:"detail,omitempty"`
	// Series is the name of a set of rows of which the table in Markdown has the worst; "" for a row on its own.
	Series string `json:"series,omitempty"`
	// First is the value of the first measurement, which missed the target, if this is the second.
	First *float64 `json:"first,omitempty"`
}

// target is a limit for a number.
type target struct {
	AtLeast bool    `json:"atLeast"` // else at most
	Bound   float64 `json:"bound"`
}

func (t target) reached(v float64) bool {
	if t.AtLeast {
		return v >= t.Bound
	}
	return v <= t.Bound
}

// number returns a row without a target.
func number(what string, value float64, unit, detail string, args ...any) row {
	return row{What: what, Value: value, Unit: unit, Detail: fmt.Sprintf(detail, args...)}
}

func (r row) atLeast(bound float64) row { return r.aim(target{true, bound}) }
func (r row) atMost(bound float64) row  { return r.aim(target{false, bound}) }

func (r row) aim(t target) row {
	reached := t.reached(r.Value)
	r.Target, r.Reached = &t, &reached
	return r
}

func (r row) in(series string) row {
	r.Series = series
	return r
}

func (r row) missed() bool { return r.Reached != nil && !*r.Reached }

// mayChange reports whether a second measurement may reach what this one missed. A bound of zero is for what must never
// be there.
func (r row) mayChange() bool { return r.missed() && r.Target.Bound != 0 }

// verdict says in one word whether the target was reached; it is empty without a target.
func (r row) verdict() string {
	switch {
	case r.Reached == nil:
		return ""
	case r.missed():
		return "missed"
	}
	return "reached"
}

// reach formats the target, and is empty without one.
func (r row) reach() string {
	switch {
	case r.Target == nil:
		return ""
	case r.Target.AtLeast:
		return ">= " + figure(r.Target.Bound, r.Unit)
	}
	return "<= " + figure(r.Target.Bound, r.Unit)
}

// again replaces the rows that missed their targets by those of a second measurement that reached them.
func again(first, second []row) []row {
	rows := slices.Clone(first)
	for i, r := range rows {
		if !r.mayChange() {
			continue
		}
		for _, s := range second {
			if s.What == r.What && !s.missed() {
				s.First = &r.Value
				rows[i] = s
			}
		}
	}
	return rows
}

// report is the result of a run.
type report struct {
	Commit   string    `json:"commit"`
	Time     time.Time `json:"time"`
	Go       string    `json:"go"`
	System   string    `json:"system"`
	CPUs     int       `json:"cpus"`
	Rounds   int       `json:"rounds"`
	Quick    bool      `json:"quick"`
	Seconds  float64   `json:"seconds"`
	Groups   []result  `json:"groups"`
	Failures []string  `json:"failures,omitempty"` // measurements that could not be made
}

type result struct {
	Name    string  `json:"name"`
	About   string  `json:"about"`
	Seconds float64 `json:"seconds"`
	Rows    []row   `json:"rows,omitempty"`
	Error   string  `json:"error,omitempty"`
}

func newReport(o options) *report {
	return &report{
		Commit: o.bin.commit, Time: time.Now(), Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH,
		CPUs: runtime.GOMAXPROCS(0), Rounds: o.rounds, Quick: o.quick,
	}
}

func (r *report) add(g group, rows []row, err error) {
	before := r.Seconds
	r.Seconds = time.Since(r.Time).Seconds()
	res := result{Name: g.name, About: g.about, Rows: rows, Seconds: r.Seconds - before}
	if err != nil {
		res.Error = strings.ReplaceAll(err.Error(), "\n", "; ")
		r.Failures = append(r.Failures, g.name+": "+res.Error)
	}
	r.Groups = append(r.Groups, res)
}

const columns = "%-66s %14s  %-14s %s\n"

func (r *report) printHead(w io.Writer) {
	fmt.Fprintf(w, "commit %s, %s, %s, %d CPUs, %d rounds\n\n", r.Commit, r.Go, r.System, r.CPUs, r.Rounds)
	fmt.Fprintf(w, columns, "", "measured", "reach", "")
}

// printLast prints the group that was added last.
func (r *report) printLast(w io.Writer) {
	g := r.Groups[len(r.Groups)-1]
	fmt.Fprintf(w, "%s (%.1f s)\n", g.Name, g.Seconds)
	for _, x := range g.Rows {
		fmt.Fprintf(w, columns, "  "+x.What, figure(x.Value, x.Unit), x.reach(), x.verdict())
		if x.First != nil {
			fmt.Fprintf(w, "      measured twice; at first it was %s\n", figure(*x.First, x.Unit))
		}
		for line := range strings.Lines(x.Detail) {
			fmt.Fprintf(w, "      %s\n", strings.TrimRight(line, "\n"))
		}
	}
	if g.Error != "" {
		fmt.Fprintf(w, "  not measured: %s\n", g.Error)
	}
}

// count returns how many targets were reached and missed.
func (r *report) count() (reached, missed int) {
	for _, g := range r.Groups {
		for _, x := range g.Rows {
			switch {
			case x.Reached == nil:
			case *x.Reached:
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
	return missed == 0 && len(r.Failures) == 0
}

// summary is the line that counts.
func (r *report) summary() string {
	reached, missed := r.count()
	return fmt.Sprintf("%d reached, %d missed, %d groups not measured, %.0f s", reached, missed, len(r.Failures),
		r.Seconds)
}

// printFoot prints the summary, and repeats what fails the run.
func (r *report) printFoot(w io.Writer) {
	fmt.Fprintf(w, "\n%s\n", r.summary())
	for _, g := range r.Groups {
		for _, x := range g.Rows {
			if x.missed() {
				fmt.Fprintf(w, "missed: %s: %s: %s, not %s\n", g.Name, x.What, figure(x.Value, x.Unit), x.reach())
			}
		}
	}
	for _, failure := range r.Failures {
		fmt.Fprintf(w, "not measured: %s\n", failure)
	}
}

func (r *report) printJSON(w io.Writer) {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	_ = enc.Encode(r) // a failed write cannot be reported anywhere
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
