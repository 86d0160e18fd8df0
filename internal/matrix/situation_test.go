package matrix

import (
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
type binding struct{ transport, revision string }

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
	{stdio, rev2411}, {stdio, rev2503}, {stdio, rev2506}, {stdio, rev2511}, {stdio, rev2607},
	{sse, rev2411}, {sse, rev2511},
	{web, rev2503}, {web, rev2506}, {web, rev2511}, {web, rev2607},
}

// in reports whether a binding is among those that a selector names: alternatives that are separated by "|", of words
// that must all hold.
func (b binding) in(selector string) bool {
	for alternative := range strings.SplitSeq(selector, "|") {
		if !slices.ContainsFunc(strings.Fields(alternative), func(word string) bool { return !b.is(word) }) {
			return true
		}
	}
	return false
}

func (b binding) is(word string) bool {
	switch word {
	case "everywhere", loose:
		return true
	case "legacy":
		return !b.modern()
	case "modern":
		return b.modern()
	case "link": // the connection is one stream
		return b.transport != web
	}
	return word == b.transport || word == b.revision
}

// situation is a row of the matrix: an entry of testdata/*.txtar (doc.go has the grammar).
type situation struct {
	file, name, about string
	on                []binding
	with              []string
	steps             []scripted
}

// scripted is a step for the bindings of a selector.
type scripted struct{ selector, text string }

// loose is the word for a step with independent exchanges, whose order the protocol does not fix.
const loose = "loose"

func situations(t *testing.T) (all []situation) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no situations: %v", err)
	}
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range a.Files {
			all = append(all, read(t, file, f))
		}
	}
	return all
}

func read(t *testing.T, file string, f txtar.File) situation {
	t.Helper()
	s := situation{file: file, name: f.Name}
	for line := range strings.Lines(string(f.Data)) {
		line = strings.TrimSuffix(line, "\n")
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "":
		case "#":
			s.about = strings.TrimSpace(s.about + " " + rest)
		case "on":
			s.on = where(t, rest)
		case "with":
			s.with = append(s.with, rest)
		default:
			step := scripted{"everywhere", line}
			if selector, text, found := strings.Cut(line, ") "); found && line[0] == '(' {
				step = scripted{selector[1:], text}
			}
			where(t, step.selector)
			s.steps = append(s.steps, step)
		}
	}
	if s.about == "" || len(s.on) == 0 || len(s.steps) == 0 {
		t.Fatalf("%s: %s says not what, where and how", file, s.name)
	}
	return s
}

func where(t *testing.T, selector string) (list []binding) {
	t.Helper()
	for _, b := range everywhere {
		if b.in(selector) {
			list = append(list, b)
		}
	}
	if len(list) == 0 {
		t.Fatalf("%q selects nothing", selector)
	}
	return list
}

// TestMatrix plays each situation in each of its bindings, and compares the transcripts.
func TestMatrix(t *testing.T) {
	for _, s := range situations(t) {
		got, want := map[binding]string{}, map[binding]string{}
		if !*update {
			want = golden(t, s)
		}
		for _, b := range s.on {
			t.Run(s.name+"/"+b.name(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := newCell(t, b, s)
					c.play(s.steps)
					c.close()
					got[b] = c.transcript()
				})
				if !*update && got[b] != want[b] {
					t.Errorf("the transcript differs (-golden +got); whole:\n%s\n%s", got[b],
						cmp.Diff(lines(want[b]), lines(got[b])))
				}
			})
		}
		if *update {
			write(t, s, got)
		}
	}
}

func lines(text string) []string { return strings.Split(text, "\n") }

func goldenFile(s situation, transport string) string {
	return filepath.Join("testdata", transport, s.name+".txtar")
}

// golden reads the expected transcripts. A section of a file is named by its revisions.
func golden(t *testing.T, s situation) map[binding]string {
	t.Helper()
	all := map[binding]string{}
	for _, b := range s.on {
		if _, read := all[b]; read {
			continue
		}
		a, err := txtar.ParseFile(goldenFile(s, b.transport))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range a.Files {
			for revision := range strings.FieldsSeq(f.Name) {
				of := binding{b.transport, revision}
				all[of] = string(f.Data)
				if !strings.Contains(all[of], endTitle) {
					all[of] += s.usualEnd(of)
				}
			}
		}
		if _, read := all[b]; !read {
			t.Fatalf("%s has no section %s", goldenFile(s, b.transport), b.revision)
		}
	}
	return all
}

const endTitle = "# the hub ends\n"

// usualEnd returns how the hub ends, where nothing is special: files leave it out.
func (s situation) usualEnd(b binding) string {
	switch listens := b.modern() && s.listens(); {
	case b.transport == stdio && listens:
		return endTitle + `> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"the hub is shutting down"}}` +
			"\n> end\n< end\n"
	case b.transport == stdio:
		return endTitle + "> end\n< end\n"
	case b.transport == sse:
		return endTitle + "[GET] over\n"
	case !b.modern():
		return endTitle + "[DELETE] DELETE /mcp Mcp-Session-Id=<session>\n[DELETE] status 200\n[GET] over\n"
	case listens:
		return endTitle + "[subscriptions/listen 2] closed by the hub\n"
	}
	return endTitle
}

// listens reports whether the hub keeps a subscriptions/listen open to a modern server.
func (s situation) listens() bool {
	return !slices.ContainsFunc(s.with, func(w string) bool { return capabilities[w] != "" })
}

// write writes the transcripts of a situation. Revisions in which they are the same share one.
func write(t *testing.T, s situation, got map[binding]string) {
	t.Helper()
	archives := map[string]*txtar.Archive{}
	for _, b := range s.on {
		text, ran := got[b]
		if !ran {
			t.Logf("%s was not played everywhere, and is not written", s.name)
			return
		}
		if archives[b.transport] == nil {
			archives[b.transport] = &txtar.Archive{}
		}
		a := archives[b.transport]
		text = strings.TrimSuffix(text, s.usualEnd(b))
		i := slices.IndexFunc(a.Files, func(f txtar.File) bool { return string(f.Data) == text })
		if i < 0 {
			a.Files = append(a.Files, txtar.File{Name: b.revision, Data: []byte(text)})
		} else {
			a.Files[i].Name += " " + b.revision
		}
	}
	for transport, a := range archives {
		name := goldenFile(s, transport)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, txtar.Format(a), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTranscriptsHaveSituations: a transcript that no situation writes says nothing.
func TestTranscriptsHaveSituations(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, s := range situations(t) {
		for _, b := range s.on {
			known[goldenFile(s, b.transport)] = true
		}
	}
	for _, file := range files {
		if !known[file] {
			t.Errorf("%s is of no situation", file)
		}
	}
}
