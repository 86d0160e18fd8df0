package main

import (
	"fmt"
	"os"
	"strings"
)

// writeMarkdown writes a table of the rows that have targets, with the commit and the date, to a file. Of a series, it
// has the row that is nearest to its bound, or farthest beyond.
func (r *report) writeMarkdown(file string) error {
	return os.WriteFile(file, []byte(r.markdown()), 0o644)
}

func (r *report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, commit %s, %s, %s, %d CPUs, %d rounds: %s.\n\n", r.Time.Format("2006-01-02"), r.Commit, r.Go,
		r.System, r.CPUs, r.Rounds, r.summary())
	b.WriteString("| group | what | measured | floor | |\n| --- | --- | --- | --- | --- |\n")
	line := func(group, what, measured, floor, verdict string) {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", group, strings.ReplaceAll(what, "|", `\|`), measured, floor, verdict)
	}
	for _, g := range r.Groups {
		for _, x := range shortened(g.Rows) {
			verdict := ""
			switch {
			case x.missed():
				verdict = "missed"
			case x.First != nil:
				verdict = "at first " + figure(*x.First, x.Unit)
			}
			line(g.Name, x.What, figure(x.Value, x.Unit), x.reach(), verdict)
		}
		if g.Error != "" {
			line(g.Name, g.Error, "", "", "not measured")
		}
	}
	return b.String()
}

// shortened returns the rows with targets, and of each series only one.
func shortened(rows []row) []row {
	var short []row
	at, members := map[string]int{}, map[string]int{} // by series: the place in short, the number of rows
	for _, x := range rows {
		if x.Target == nil {
			continue
		}
		i, known := at[x.Series]
		switch {
		case x.Series == "" || !known:
			at[x.Series] = len(short)
			short = append(short, x)
		case x.partOfBound() > short[i].partOfBound():
			short[i] = x
		}
		members[x.Series]++
	}
	for i, x := range short {
		if x.Series != "" {
			short[i].What += fmt.Sprintf(" (the worst of %d)", members[x.Series])
		}
	}
	return short
}

// partOfBound is how near the value is to its bound; beyond 1 it misses it. For a bound of 0 it is the value.
func (r row) partOfBound() float64 {
	switch {
	case r.Target.AtLeast:
		return r.Target.Bound / r.Value
	case r.Target.Bound == 0:
		return r.Value
	}
	return r.Value / r.Target.Bound
}
