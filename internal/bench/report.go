package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
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

// report is the result of a run.
type report struct {
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
		Time: time.Now(), Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.GOMAXPROCS(0),
		Rounds: o.rounds, Quick: o.quick,
	}
}

func (r *report) add(g group, rows []row, err error) {
	before := r.Seconds
	r.Seconds = time.Since(r.Time).Seconds()
	res := result{Name: g.name, About: g.about, Rows: rows, Seconds: r.Seconds - before}
	if err != nil {
		res.Error = err.Error()
		r.Failures = append(r.Failures, g.name+": "+res.Error)
	}
	r.Groups = append(r.Groups, res)
}

const columns = "%-66s %14s  %-14s %s\n"

func (r *report) printHead(w io.Writer) {
	fmt.Fprintf(w, "%s, %s, %d CPUs, %d rounds\n\n", r.Go, r.System, r.CPUs, r.Rounds)
	fmt.Fprintf(w, columns, "", "measured", "reach", "")
}

// printLast prints the group that was added last.
func (r *report) printLast(w io.Writer) {
	g := r.Groups[len(r.Groups)-1]
	fmt.Fprintf(w, "%s (%.1f s)\n", g.Name, g.Seconds)
	for _, x := range g.Rows {
		reach, verdict := "", ""
		if x.Target != nil {
			sign := "<= "
			if x.Target.AtLeast {
				sign = ">= "
			}
			reach, verdict = sign+figure(x.Target.Bound, x.Unit), "missed"
			if *x.Reached {
				verdict = "reached"
			}
		}
		fmt.Fprintf(w, columns, "  "+x.What, figure(x.Value, x.Unit), reach, verdict)
		for line := range strings.Lines(x.Detail) {
			fmt.Fprintf(w, "      %s\n", strings.TrimRight(line, "\n"))
		}
	}
	if g.Error != "" {
		fmt.Fprintf(w, "  not measured: %s\n", g.Error)
	}
}

func (r *report) printFoot(w io.Writer) {
	reached, missed := 0, 0
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
	fmt.Fprintf(w, "\n%d reached, %d missed, %d groups not measured, %.0f s\n", reached, missed, len(r.Failures),
		r.Seconds)
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
