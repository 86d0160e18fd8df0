package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"

	"github.com/mcphub-go/mcphub/hub/config"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// exitBroken is the exit status of config check if something cannot be used.
const exitBroken = 1

// check prints the verdict on every entry of the files, or of the files in known places if files is empty.
func (o *configOptions) check(env environment, files []string) int {
	sources := o.origins.sources(files)
	report := judge(sources)
	if o.try {
		if status := o.start(env, &report, sources); status != exitOK {
			return status
		}
		report.sort(sources)
	}
	switch {
	case o.json:
		printValue(env.stdout, report)
	case len(report.Files) == 0:
		n := len(config.Candidates(o.origins.knownPlaces()))
		fmt.Fprintf(env.stdout, "no config file is in any of the %d known places; mcphub config places lists them\n", n)
	default:
		report.print(env.stdout, o.verbose)
	}
	if report.broken() {
		return exitBroken
	}
	return exitOK
}

// print prints the report for people, file by file, with each problem in the format of a compiler's message.
func (r *configReport) print(w io.Writer, verbose bool) {
	count := map[string]int{}
	for i, f := range r.Files {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintln(w, escape(fmt.Sprintf("%s (%s)", f.File, f.Scope)))
		var rows [][]string
		for _, s := range r.Servers {
			if s.Origin.File != f.File {
				continue
			}
			count[s.Verdict]++
			rows = append(rows, s.row())
		}
		if rows != nil {
			table{header: []string{"LINE", "SERVER", "DIALECT", "OVER", "RUNS", "CONNECT", "IDLE", "TOTAL", "VERDICT"},
				rows: rows}.write(w)
		} else {
			fmt.Fprintln(w, "no servers")
		}
		if verbose {
			r.printFields(w, f.File)
		}
		for _, p := range r.Problems {
			if p.File == f.File {
				fmt.Fprint(w, toRead(w, p.line()))
			}
		}
	}
	fmt.Fprintf(w, "\n%s in %s", plural(len(r.Servers), "server"), plural(len(r.Files), "file"))
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
	return append(append([]string{strconv.Itoa(s.Origin.Line), s.Name, orDash(s.Dialect), orDash(s.Transport), s.runs()},
		timeouts...), s.told())
}

// printFields prints where each field of the normal form comes from.
func (r *configReport) printFields(w io.Writer, file string) {
	for _, s := range r.Servers {
		if s.Origin.File != file || len(s.Fields) == 0 {
			continue
		}
		fmt.Fprintln(w, escape(s.Name)+":")
		for _, name := range slices.Sorted(maps.Keys(s.Fields)) {
			at := s.Fields[name]
			fmt.Fprintln(w, escape(fmt.Sprintf("  %s at %s:%d:%d, key %s", name, file, at.Line, at.Column, at.Key)))
		}
	}
}

// line returns the problem in the format of the other commands.
func (p problemReport) line() string {
	return problemLine(&mcphubv1.ConfigProblem{
		File: p.File, Line: int32(p.Line), Column: int32(p.Column), Server: p.Server, Key: p.Key, Message: p.Message,
		Fatal: p.Fatal,
	})
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
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
func (o *configOptions) places(env environment) int {
	list := []placeReport{}
	for _, src := range config.Candidates(o.origins.knownPlaces()) {
		info, err := os.Stat(src.Path)
		list = append(list, placeReport{
			File: src.Path, Scope: src.Scope, Dialect: src.Dialect, Folder: src.Folder, Exists: err == nil &&
				info.Mode().IsRegular(),
		})
	}
	if o.json {
		printValue(env.stdout, map[string]any{"places": list})
		return exitOK
	}
	rows := make([][]string, len(list))
	for i, p := range list {
		there := "-"
		if p.Exists {
			there = "yes"
		}
		rows[i] = []string{p.Scope, p.Dialect, there, p.File}
	}
	table{header: []string{"SCOPE", "DIALECT", "THERE", "FILE"}, rows: rows, whole: true}.write(env.stdout)
	return exitOK
}
