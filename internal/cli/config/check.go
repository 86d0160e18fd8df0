package config

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/internal/cli/console"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
	"github.com/mcphub-go/mcphub/internal/cli/source"
)

// check prints the verdict on every entry of the files, or of the files in known places if files is empty. Without
// --start it spawns no hub, and neither runs nor connects to anything that a file names. Only if a program is not
// found, it asks the login shell for its PATH, as a start does.
func (o *options) check(files []string) error {
	if err := o.origins.Check(); err != nil {
		return exit.Wrong(err)
	}
	if len(files) == 0 && (o.origins.Scope != "" || o.origins.Dialect != "") {
		return exit.Wrongf("--scope and --dialect say what a FILE is, and none is named")
	}
	if err := o.answers.Inputs.Check(); err != nil {
		return exit.Wrong(err)
	}
	sources := o.origins.Sources(files)
	report := judge(sources)
	if o.try {
		if err := o.start(&report, sources); err != nil {
			return err
		}
		report.sort(sources)
	}
	switch {
	case o.json:
		console.PrintValue(o.Out, report)
	case len(report.Files) == 0:
		n := len(config.Candidates(o.origins.KnownPlaces()))
		fmt.Fprintf(o.Out, "no config file is in any of the %d known places; mcphub config places lists them\n", n)
	default:
		report.print(o.Out, o.verbose)
	}
	if report.broken() {
		return exit.Broken
	}
	return nil
}

// print prints the report for people, file by file, with each problem in the format of a compiler's message.
func (r *configReport) print(w io.Writer, verbose bool) {
	count := map[string]int{}
	for i, f := range r.Files {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintln(w, console.Escape(fmt.Sprintf("%s (%s)", f.File, f.Scope)))
		var rows [][]string
		for _, s := range r.Servers {
			if s.Origin.File != f.File {
				continue
			}
			count[s.Verdict]++
			rows = append(rows, s.row())
		}
		if rows != nil {
			console.Table{Header: []string{"LINE", "SERVER", "DIALECT", "OVER", "RUNS", "CONNECT", "IDLE", "TOTAL", "VERDICT"},
				Rows: rows}.Write(w)
		} else {
			fmt.Fprintln(w, "no servers")
		}
		if verbose {
			r.printFields(w, f.File)
		}
		for _, p := range r.Problems {
			if p.File == f.File {
				fmt.Fprint(w, console.ForReading(w, source.ProblemLine(config.Problem(p))))
			}
		}
	}
	fmt.Fprintf(w, "\n%s in %s", console.Plural(len(r.Servers), "server"), console.Plural(len(r.Files), "file"))
	separator := ": "
	for _, v := range []string{verdictOK, verdictWarning, verdictDisabled, verdictReplaced, verdictBroken} {
		if count[v] > 0 {
			fmt.Fprintf(w, "%s%d %s", separator, count[v], v)
			separator = ", "
		}
	}
	fmt.Fprintln(w)
}

func (s *serverReport) row() []string {
	timeouts := []string{toldTimeout(s.Timeouts.Connect), toldTimeout(s.Timeouts.Idle), toldTimeout(s.Timeouts.Total)}
	if s.Transport == "" {
		timeouts = []string{"-", "-", "-"}
	}
	return slices.Concat([]string{strconv.Itoa(s.Origin.Line), s.Name, console.OrDash(s.Dialect),
		console.OrDash(s.Transport), s.runs()}, timeouts, []string{s.told()})
}

// printFields prints where each field of the normal form comes from.
func (r *configReport) printFields(w io.Writer, file string) {
	for _, s := range r.Servers {
		if s.Origin.File != file || len(s.Fields) == 0 {
			continue
		}
		fmt.Fprintln(w, console.Escape(s.Name)+":")
		for _, name := range slices.Sorted(maps.Keys(s.Fields)) {
			at := s.Fields[name]
			fmt.Fprintln(w, console.Escape(fmt.Sprintf("  %s at %s:%d:%d, key %s", name, file, at.Line, at.Column, at.Key)))
		}
	}
}

// placeReport is a place where an application keeps servers.
type placeReport struct {
	File    string `json:"file"`
	Scope   string `json:"scope"`
	Dialect string `json:"dialect"`
	Folder  string `json:"folder,omitempty"`
	Exists  bool   `json:"exists"`
}

// places lists the known places, those with the lowest precedence first.
func (o *options) places() error {
	if err := o.origins.Check(); err != nil {
		return exit.Wrong(err)
	}
	if o.origins.Scope != "" || o.origins.Dialect != "" || o.verbose || o.try {
		return exit.Wrongf("config places takes --folder and --json alone")
	}
	list := []placeReport{}
	for _, src := range config.Candidates(o.origins.KnownPlaces()) {
		info, err := os.Stat(src.Path)
		list = append(list, placeReport{
			File: src.Path, Scope: src.Scope, Dialect: src.Dialect, Folder: src.Folder, Exists: err == nil &&
				info.Mode().IsRegular(),
		})
	}
	if o.json {
		console.PrintValue(o.Out, map[string]any{"places": list})
		return nil
	}
	rows := make([][]string, len(list))
	for i, p := range list {
		there := "-"
		if p.Exists {
			there = "yes"
		}
		rows[i] = []string{p.Scope, p.Dialect, there, p.File}
	}
	console.Table{Header: []string{"SCOPE", "DIALECT", "THERE", "FILE"}, Rows: rows, Whole: true}.Write(o.Out)
	return nil
}
