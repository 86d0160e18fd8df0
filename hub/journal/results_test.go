package journal

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

func keep(t *testing.T, s *Results, text string) string {
	t.Helper()
	id, err := s.Keep([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func wants(t *testing.T, s *Results, id, want string) {
	t.Helper()
	if got, err := s.Read(id); err != nil || string(got) != want {
		t.Errorf("result %s is %.40q, %v; want %.40q", id, got, err, want)
	}
}

func isGone(t *testing.T, s *Results, id string) {
	t.Helper()
	if got, err := s.Read(id); !errors.Is(err, ErrNotKept) {
		t.Errorf("result %q is %.40q, %v", id, got, err)
	}
}

// TestKeptResults: what is kept can be read, by a later hub too, and is private.
func TestKeptResults(t *testing.T) {
	dir := t.TempDir()
	s := OpenResults(dir, "results", nil)
	isGone(t, s, "AAAAAAAAAAAAAAAAAAAAAAAAAA")
	if found, _ := os.ReadDir(dir); len(found) != 0 {
		t.Errorf("before anything is kept there is %v", found)
	}
	one, two := keep(t, s, `{"a":1}`), keep(t, s, "")
	wants(t, s, one, `{"a":1}`)
	wants(t, s, two, "")
	s.Close()
	if _, err := s.Keep(nil); err == nil {
		t.Error("something is kept after Close")
	}
	later := OpenResults(dir, "results", nil)
	defer later.Close()
	wants(t, later, one, `{"a":1}`)
}

// TestNoPathIsAnID: whatever is asked for, nothing outside is read.
func TestNoPathIsAnID(t *testing.T) {
	dir := t.TempDir()
	s := OpenResults(dir, "results", nil)
	defer s.Close()
	keep(t, s, "x")
	secret := strings.Repeat("A", 26)
	if err := os.WriteFile(filepath.Join(dir, secret), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"", ".", "..", "../" + secret, `..\` + secret, secret, secret + unfinished,
		filepath.Join(dir, secret)} {
		isGone(t, s, id)
	}
}

// TestResultsAreBounded: the oldest make room, and what is too old goes; files of others stay.
func TestResultsAreBounded(t *testing.T) {
	dir := t.TempDir()
	s := OpenResults(dir, "results", nil)
	defer s.Close()
	s.limits = resultLimits{bytes: 100, files: 8, age: time.Hour}
	text := strings.Repeat("x", 20)
	age := func(id string, by time.Duration) {
		t.Helper()
		when := time.Now().Add(-by)
		if err := os.Chtimes(filepath.Join(dir, "results", id), when, when); err != nil {
			t.Fatal(err)
		}
	}
	var ids []string
	for i := range 5 {
		ids = append(ids, keep(t, s, text))
		age(ids[i], time.Duration(50-i)*time.Minute)
	}
	foreign := filepath.Join(dir, "results", "notes.txt")
	if err := os.WriteFile(foreign, bytes.Repeat([]byte("x"), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	newest := keep(t, s, text) // 120 bytes: down to 75
	for _, id := range ids[:3] {
		isGone(t, s, id)
	}
	for _, id := range append(ids[3:], newest) {
		wants(t, s, id, text)
	}
	for range 9 {
		newest = keep(t, s, text[:1])
	}
	if found, _ := filepath.Glob(filepath.Join(dir, "results", "*")); len(found) > 9 { // 8, and the notes
		t.Errorf("there are %d files", len(found))
	}
	wants(t, s, newest, text[:1])
	age(newest, 2*time.Hour)
	isGone(t, s, newest)
	if _, err := os.Stat(foreign); err != nil {
		t.Error(err)
	}
}

// TestWithoutStateDirectory: results are kept until the end, and nothing of them stays.
func TestWithoutStateDirectory(t *testing.T) {
	s := OpenResults("", "results", nil)
	isGone(t, s, strings.Repeat("A", 26))
	wants(t, s, keep(t, s, "text"), "text")
	dir, _ := s.folder()
	s.Close()
	if _, err := os.Stat(dir); err == nil {
		t.Errorf("%s is still there", dir)
	}
}

// TestResultThatCannotBeKept: the folder cannot be made.
func TestResultThatCannotBeKept(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "results"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := OpenResults(dir, "results", nil)
	defer s.Close()
	if id, err := s.Keep([]byte("x")); err == nil {
		t.Errorf("kept as %s", id)
	}
}

func TestPiece(t *testing.T) {
	text := "añb日c" // 1, 2, 1, 3, 1 bytes
	for _, tt := range []struct {
		offset int64
		limit  int
		want   Piece
	}{
		{0, 0, Piece{text, 0, 0, 8}}, {0, 2, Piece{"a", 0, 1, 8}}, {1, 2, Piece{"ñ", 1, 3, 8}}, {2, 2, Piece{"ñ", 1, 3, 8}},
		{4, 1, Piece{"日", 4, 7, 8}}, {6, 2, Piece{"日", 4, 7, 8}}, {7, 5, Piece{"c", 7, 0, 8}}, {8, 5, Piece{"", 8, 0, 8}},
		{100, 5, Piece{"", 8, 0, 8}}, {-5, 1, Piece{"a", 0, 1, 8}},
	} {
		if got := PieceOf(text, tt.offset, tt.limit); got != tt.want {
			t.Errorf("%d bytes at %d are %+v, not %+v", tt.limit, tt.offset, got, tt.want)
		}
	}
	s := OpenResults(t.TempDir(), "results", nil)
	defer s.Close()
	id := keep(t, s, text)
	for offset := range int64(10) {
		for limit := range 10 {
			want := PieceOf(text, offset, limit)
			if got, err := s.ReadPiece(id, offset, limit); got != want || err != nil {
				t.Errorf("%d bytes at %d of the file are %+v, not %+v: %v", limit, offset, got, want, err)
			}
		}
	}
	s.Remove(id)
	isGone(t, s, id)
	if p, err := s.ReadPiece(id, 0, 0); !errors.Is(err, ErrNotKept) {
		t.Errorf("what was removed is %+v, %v", p, err)
	}
	long := strings.Repeat("x", bounds.PieceBytes+1)
	id = keep(t, s, long+long)
	if got, err := s.ReadPiece(id, 5, 1<<30); len(got.Text) != bounds.PieceBytes || got.Next != bounds.PieceBytes+5 ||
		err != nil {
		t.Errorf("a piece of the file has %d bytes, then comes %d: %v", len(got.Text), got.Next, err)
	}
	if got := PieceOf(long, 0, 1<<30); len(got.Text) != bounds.PieceBytes || got.Next != bounds.PieceBytes {
		t.Errorf("a piece has %d bytes", len(got.Text))
	}
}
