package config

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
			for i, f := range ar.Files { // absolute on all systems
				ar.Files[i].Data = bytes.ReplaceAll(f.Data, []byte("/run/token"), []byte(filepath.ToSlash(native("/run/token"))))
			}
			sources, rest, want := unpack(t, ar)
			golden(t, file, ar, rest, want, describe(Load(sources)))
		})
	}
}

// Each archive in testdata/<dialect> has one or more files as users have them. The result is written with the place of
// every field, and with the servers that are shadowed.
//
// The name of a file may be followed by what the text of an archive cannot show: "bom", "crlf", and the Source's
// "folder=", "trusted" and "dialect=".
func TestCorpus(t *testing.T) {
	archives, configs := 0, 0
	for name := range dialects {
		files, err := filepath.Glob("testdata/" + name + "/*.txtar")
		if err != nil || len(files) < 4 && name != DialectMcpServers {
			t.Errorf("%s: %d archives, %v", name, len(files), err)
		}
		for _, file := range files {
			archives++
			t.Run(name+"/"+strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
				ar, err := txtar.ParseFile(file)
				if err != nil {
					t.Fatal(err)
				}
				sources, rest, want := unpack(t, ar)
				configs += len(sources)
				servers, problems := All(sources)
				golden(t, file, ar, rest, want, describeAll(servers, problems))
				for _, p := range problems {
					if strings.Contains(fmt.Sprintf("%+v %s", p, p), "s3cret") {
						t.Errorf("a secret is shown: %s", p)
					}
				}
				found := false
				for _, s := range servers {
					found = found || s.Origin.Dialect == name
				}
				if !found {
					t.Errorf("no server was read as one of %s", name)
				}
			})
		}
	}
	if archives < 45 {
		t.Errorf("%d archives with %d files", archives, configs)
	}
}

// unpack turns the files of an archive, named scope/file, into sources. The file "want" is what should come out.
func unpack(t testing.TB, ar *txtar.Archive) (sources []Source, rest []txtar.File, want string) {
	t.Helper()
	for _, f := range ar.Files {
		if f.Name == "want" {
			want = string(f.Data)
			continue
		}
		rest = append(rest, f)
		words := strings.Fields(f.Name)
		scope, name, ok := strings.Cut(words[0], "/")
		if !ok {
			t.Fatalf("%q is not scope/file", f.Name)
		}
		src := Source{Path: name, JSON: f.Data, Scope: scope}
		for _, word := range words[1:] {
			option, value, _ := strings.Cut(word, "=")
			switch option {
			case "bom":
				src.JSON = append([]byte("\xEF\xBB\xBF"), src.JSON...)
			case "crlf":
				src.JSON = bytes.ReplaceAll(src.JSON, []byte("\n"), []byte("\r\n"))
			case "folder":
				src.Folder = value
			case "trusted":
				src.Trusted = true
			case "dialect":
				src.Dialect = value
			default:
				t.Fatalf("%q: what is %s?", f.Name, word)
			}
		}
		sources = append(sources, src)
	}
	return sources, rest, want
}

func golden(t *testing.T, file string, ar *txtar.Archive, rest []txtar.File, want, got string) {
	t.Helper()
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
}
