package config

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write what comes out into the golden files")

// Each archive in testdata/load holds the sources, named scope/file, and the file
// "want": the normal form and the problems.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/load/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var sources []Source
			want := ""
			var rest []txtar.File
			for _, f := range ar.Files {
				if f.Name == "want" {
					want = string(f.Data)
					continue
				}
				scope, name, ok := strings.Cut(f.Name, "/")
				if !ok {
					t.Fatalf("%q is not scope/file", f.Name)
				}
				sources = append(sources, Source{Path: name, JSON: f.Data, Scope: scope})
				rest = append(rest, f)
			}
			got := describe(Load(sources))
			if *update {
				ar.Files = append(rest, txtar.File{Name: "want", Data: []byte(got)})
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("run with -update if this is right:\n%s", diff)
			}
		})
	}
}

// describe writes servers and problems as text, every field that is not its default.
func describe(servers []Server, problems []Problem) string {
	var b strings.Builder
	line := func(key string, show bool, value any) {
		if show {
			fmt.Fprintf(&b, "  %s: %v\n", key, value)
		}
	}
	for _, s := range servers {
		o := s.Origin
		fmt.Fprintf(&b, "server %q from %s:%d (%s, %s)\n", s.Name, o.File, o.Line, o.Dialect, o.Scope)
		line("transport", s.Transport != TransportStdio, s.Transport)
		line("command", s.Transport == TransportStdio || s.Command != "", fmt.Sprintf("%q", append([]string{s.Command}, s.Args...)))
		line("url", s.URL != "", fmt.Sprintf("%q, shown as %q", s.URL, s.DisplayURL()))
		for _, name := range slices.Sorted(maps.Keys(s.Header)) {
			line("header "+name, true, fmt.Sprintf("%q", s.Header[name]))
		}
		line("oauth", !reflect.DeepEqual(s.OAuth, OAuth{}), fmt.Sprintf("%+v", s.OAuth))
		for _, name := range slices.Sorted(maps.Keys(s.Env)) {
			if v := s.Env[name]; v == nil {
				line("env "+name, true, "unset")
			} else {
				line("env "+name, true, fmt.Sprintf("%q", *v))
			}
		}
		line("dir", s.Dir != "", fmt.Sprintf("%q", s.Dir))
		line("disabled", s.Disabled, true)
		for _, t := range []struct {
			name string
			d    *time.Duration
		}{{"connect", s.Timeouts.Connect}, {"idle", s.Timeouts.Idle}, {"total", s.Timeouts.Total}, {"human", s.Timeouts.Human}} {
			if t.d != nil {
				line("timeout "+t.name, true, *t.d)
			}
		}
		for _, pattern := range slices.Sorted(maps.Keys(s.Approvals)) {
			line(fmt.Sprintf("approval %q", pattern), true, s.Approvals[pattern])
		}
		line("era", s.Era != "auto", s.Era)
		line("stop", s.Grace != Grace{}, fmt.Sprintf("stdin %v, terminate %v, kill %v", s.Grace.Stdin, s.Grace.Terminate, s.Grace.Kill))
		line("maxMessageBytes", s.MaxMessageBytes != 0, s.MaxMessageBytes)
	}
	for _, p := range problems {
		kind := "warning"
		if p.Fatal {
			kind = "fatal"
		}
		fmt.Fprintf(&b, "%s: %s\n", kind, p)
	}
	return b.String()
}
