package grants

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/hub/config"
)

func TestNotesOfWriters(t *testing.T) {
	dir, log := t.TempDir(), slog.New(slog.DiscardHandler)
	by := config.Writer{Name: "x", Window: "w"}
	conf := func(name, command string) config.Server {
		return config.Server{Name: name, Command: command, Env: map[string]*string{"TOKEN": new("s3cret")}}
	}
	s := Open(dir, "hub-1", log)
	if err := s.NoteWritten("f", conf("a", "1"), by, []config.Server{conf("a", "1")}); err != nil {
		t.Fatal(err)
	}
	if err := s.NoteWritten("g", conf("a", "1"), by, []config.Server{conf("a", "1")}); err != nil {
		t.Fatal(err)
	}
	// The file says something else now: what it no longer says is dropped, and what another file says is not.
	if err := s.NoteWritten("f", conf("a", "2"), by, []config.Server{conf("a", "2")}); err != nil {
		t.Fatal(err)
	}
	for hub, window := range map[string]string{"hub-1": "w", "hub-2": ""} {
		writers := Open(dir, hub, log).Writers()
		elsewhere := conf("a", "2")
		elsewhere.Origin = config.Origin{File: "h", Folder: "/x", Scope: "workspace", Dialect: "roo"}
		for _, c := range []config.Server{conf("a", "1"), conf("a", "2"), elsewhere} {
			if got := writers(c); got != (config.Writer{Name: "x", Window: window}) {
				t.Errorf("%s %v: %+v", hub, c, got)
			}
		}
		for _, c := range []config.Server{conf("b", "1"), conf("a", "3")} {
			if got := writers(c); got != (config.Writer{}) {
				t.Errorf("%s %v: %+v", hub, c, got)
			}
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "written.json"))
	if err != nil || strings.Contains(string(text), "s3cret") || strings.Count(string(text), `"sum"`) != 2 {
		t.Errorf("%s (%v)", text, err)
	}
}

// A note is about the file that it names, by whatever path or link: the same entry in a file that a person wrote by
// hand is the person's. A file that is gone, or cannot be looked at, may be the one.
func TestNotesNameTheirFile(t *testing.T) {
	dir, log := t.TempDir(), slog.New(slog.DiscardHandler)
	place := t.TempDir()
	written, byHand, link := filepath.Join(place, "written.json"), filepath.Join(place, "hand.json"),
		filepath.Join(place, "link.json")
	for _, file := range []string{written, byHand} {
		if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(written, link); err != nil {
		t.Fatal(err)
	}
	at := func(file string) config.Server {
		return config.Server{Name: "a", Command: "1", Origin: config.Origin{File: file, Scope: "user"}}
	}
	by := config.Writer{Name: "Some Program"}
	if err := Open(dir, "hub", log).NoteWritten(written, at(written), by, []config.Server{at(written)}); err != nil {
		t.Fatal(err)
	}
	want := func(file string, want config.Writer) {
		t.Helper()
		if got := Open(dir, "hub", log).Writers()(at(file)); got != want {
			t.Errorf("%s: %+v, want %+v", filepath.Base(file), got, want)
		}
	}
	want(written, by)
	want(filepath.Join(place, "x", "..", "written.json"), by)
	want(link, by)
	want(byHand, config.Writer{})
	want(filepath.Join(place, "nowhere.json"), by)
	for _, file := range []string{written, link} {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	want(byHand, by) // it may have been moved
}

// Without the key that the notes were made with nobody knows what they are about: every entry counts as noted, and no
// further note is made.
func TestNotesWithoutTheirSecret(t *testing.T) {
	dir, log := t.TempDir(), slog.New(slog.DiscardHandler)
	conf := config.Server{Name: "a", Command: "1"}
	if err := Open(dir, "hub-1", log).NoteWritten("f", conf, config.Writer{Name: "x"}, nil); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "consent-key.json")); err != nil {
		t.Fatal(err)
	}
	s := Open(dir, "hub-1", log)
	if got := s.Writers()(config.Server{Name: "other"}); got.Name == "" {
		t.Error("an entry without a readable note needs no consent")
	}
	if err := s.NoteWritten("f", conf, config.Writer{Name: "x"}, nil); err == nil {
		t.Error("the notes were begun anew")
	}
}

func TestNotesAreBounded(t *testing.T) {
	dir, log := t.TempDir(), slog.New(slog.DiscardHandler)
	s := Open(dir, "hub-1", log)
	if err := s.NoteWritten("f", config.Server{Name: "a"}, config.Writer{Name: "x"}, nil); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "written.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var more strings.Builder
	for i := range maxWritten {
		fmt.Fprintf(&more, `{"file":"f%d","sum":"%d","by":"x","time":"2026-01-01T00:00:00Z"},`, i, i)
	}
	full := strings.Replace(string(text), `"entries": [`, `"entries": [`+more.String(), 1)
	if err := os.WriteFile(path, []byte(full), 0o600); err != nil {
		t.Fatal(err)
	}
	err = Open(dir, "hub-1", log).NoteWritten("g", config.Server{Name: "b"}, config.Writer{Name: "x"}, nil)
	if err == nil || !strings.Contains(err.Error(), "which is the most") {
		t.Error(err)
	}
}
