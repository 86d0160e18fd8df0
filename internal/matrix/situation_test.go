package matrix

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

var update = flag.Bool("update", false, "write the transcripts")

// Transports, as the config names them.
const (
	stdio = "stdio"
	sse   = "sse"
	web   = "http"
)

const (
	rev2411 = "2024-11-05"
	rev2503 = "2025-03-26"
	rev2506 = "2025-06-18"
	rev2511 = "2025-11-25"
	rev2607 = "2026-07-28"
)

// binding is a revision with a transport.
type binding struct {
	transport, revision string
	capabilities        string // that the server declares; "" for the default of the fake
}

func (b binding) modern() bool { return b.revision == rev2607 }
func (b binding) name() string { return b.transport + "/" + b.revision }

func (b binding) path() string {
	if b.transport == sse {
		return fakeserver.PathSSE
	}
	return fakeserver.PathMCP
}

// everywhere lists all bindings that exist. The older HTTP with SSE belongs to 2024-11-05, but in practice it is also
// used with 2025-11-25 (server-everything).
var everywhere = []binding{
	{transport: stdio, revision: rev2411}, {transport: stdio, revision: rev2503}, {transport: stdio, revision: rev2506},
	{transport: stdio, revision: rev2511}, {transport: stdio, revision: rev2607},
	{transport: sse, revision: rev2411}, {transport: sse, revision: rev2511},
	{transport: web, revision: rev2503}, {transport: web, revision: rev2506}, {transport: web, revision: rev2511},
	{transport: web, revision: rev2607},
}

func where(keep func(binding) bool) (list []binding) {
	for _, b := range everywhere {
		if keep(b) {
			list = append(list, b)
		}
	}
	return list
}

var (
	legacy  = where(func(b binding) bool { return !b.modern() })
	modern  = where(binding.modern)
	overWeb = where(func(b binding) bool { return b.transport == web })
	oneLink = where(func(b binding) bool { return b.transport != web })
	tasks   = where(func(b binding) bool { return b.revision == rev2511 })
)

// situation is a row of the matrix. play sets up the server, starts the cell, and plays the steps.
type situation struct {
	name, test, about string
	on                []binding
	longWaits         bool // it takes a minute or more of fake time
	play              func(*cell)
}

// run plays a situation in each of its bindings and compares the transcripts.
func run(t *testing.T, s situation) {
	t.Helper()
	if s.test != t.Name() {
		t.Fatalf("the test of %s is called %s", s.name, s.test)
	}
	got := map[string]map[string]string{}
	for _, b := range s.on {
		t.Run(b.name(), func(t *testing.T) {
			var text string
			synctest.Test(t, func(t *testing.T) {
				c := newCell(t, b)
				s.play(c)
				c.close()
				text = c.tape.text()
			})
			if *update {
				if got[b.transport] == nil {
					got[b.transport] = map[string]string{}
				}
				got[b.transport][b.revision] = text
				return
			}
			if diff := cmp.Diff(lines(golden(t, s, b)), lines(text)); diff != "" {
				t.Errorf("the transcript differs (-golden +got); whole:\n%s\n%s", text, diff)
			}
		})
	}
	for transport, sections := range got {
		write(t, s, transport, sections)
	}
}

func lines(text string) []string { return strings.Split(text, "\n") }

func goldenFile(s situation, transport string) string {
	return filepath.Join("testdata", transport, s.name+".txtar")
}

// golden reads the expected transcript of a cell.
func golden(t *testing.T, s situation, b binding) string {
	t.Helper()
	a, err := txtar.ParseFile(goldenFile(s, b.transport))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range a.Files {
		if f.Name == b.revision {
			return string(f.Data)
		}
	}
	t.Fatalf("%s has no section %s", goldenFile(s, b.transport), b.revision)
	return ""
}

// write writes transcripts. Sections of cells that did not run are kept.
func write(t *testing.T, s situation, transport string, sections map[string]string) {
	t.Helper()
	name := goldenFile(s, transport)
	a, err := txtar.ParseFile(name)
	if err != nil {
		a = &txtar.Archive{}
	}
	a.Comment = []byte(s.about + "\n\n")
	for revision, text := range sections {
		a.Files = slices.DeleteFunc(a.Files, func(f txtar.File) bool { return f.Name == revision })
		a.Files = append(a.Files, txtar.File{Name: revision, Data: []byte(text)})
	}
	slices.SortFunc(a.Files, func(a, b txtar.File) int { return strings.Compare(a.Name, b.Name) })
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, txtar.Format(a), 0o644); err != nil {
		t.Fatal(err)
	}
}

// textOf returns the text of a tool's result.
func textOf(result json.RawMessage) string {
	var r struct {
		Content []struct{ Text string }
	}
	if json.Unmarshal(result, &r) != nil || len(r.Content) == 0 {
		return ""
	}
	return r.Content[0].Text
}
