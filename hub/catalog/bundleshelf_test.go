package catalog

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/event"
)

func TestReadAndUnpack(t *testing.T) {
	state := t.TempDir()
	s := NewShelf(ShelfOptions{StateDir: state})
	at := saved(t, node(t, file{"bin/run", "#!/bin/sh\n", 0o755}, file{"empty/", "", fs.ModeDir | 0o755},
		file{"deep/a/b/c.txt", "c", 0o644}))
	b, err := s.Read(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	want := Info{Name: "weather", Title: "The Weather", Description: "Weather", Version: "1.0.0", Author: "Somebody",
		Tools: []string{"now"}}
	if diff := cmp.Diff(want, b.Info); diff != "" {
		t.Error(diff)
	}
	e, err := b.Proposal.Fill(nil)
	if err != nil || e.Server != "weather" || e.Command != "node" ||
		!cmp.Equal(e.Args, []string{b.Folder + "/server/index.js"}) {
		t.Errorf("%+v %v", e, err)
	}
	if _, err := os.Stat(filepath.Join(state, "bundles")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("something was written before the bundle was to be unpacked", err)
	}
	undo, err := s.Unpack(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(b.Folder, "deep", "a", "b", "c.txt")); err != nil || string(text) != "c" {
		t.Error(string(text), err)
	}
	if info, err := os.Stat(filepath.Join(b.Folder, "bin", "run")); err != nil ||
		runtime.GOOS != "windows" && info.Mode() != 0o700 {
		t.Error(info.Mode(), err)
	}
	again, err := s.Unpack(t.Context(), b) // it is there
	if err != nil {
		t.Fatal(err)
	}
	again()
	if _, err := os.Stat(filepath.Join(b.Folder, "manifest.json")); err != nil {
		t.Error("what was there before went", err)
	}
	undo()
	if left, _ := os.ReadDir(filepath.Join(state, "bundles")); len(left) != 0 {
		t.Error(left)
	}
}

// The file that is unpacked is the one that was looked at.
func TestChangedBundle(t *testing.T) {
	s := NewShelf(ShelfOptions{StateDir: t.TempDir()})
	at := saved(t, node(t))
	b, err := s.Read(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, node(t, file{"evil", "x", 0}), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err = s.Unpack(t.Context(), b); event.AsError(err).Reason != event.ReasonBundleInvalid {
		t.Error(err)
	}
	if _, err := os.Stat(b.Folder); err == nil {
		t.Error("it was unpacked")
	}
}

// An unpacking that is cancelled leaves nothing.
func TestUnpackGivenUp(t *testing.T) {
	state := t.TempDir()
	s := NewShelf(ShelfOptions{StateDir: state})
	b, err := s.Read(t.Context(), saved(t, node(t)))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	if _, err := s.Unpack(ctx, b); event.AsError(err).Code != event.CodeCancelled {
		t.Error(err)
	}
	if left, _ := os.ReadDir(filepath.Join(state, "bundles")); len(left) > 0 {
		t.Error(left)
	}
}

// When two add the same bundle and one takes it back, the other keeps the folder. When both do, it is removed.
func TestUnpackedForTwo(t *testing.T) {
	s := NewShelf(ShelfOptions{StateDir: t.TempDir()})
	b, err := s.Read(t.Context(), saved(t, node(t)))
	if err != nil {
		t.Fatal(err)
	}
	there := func() bool { _, err := os.Stat(b.Folder); return err == nil }
	first, err := s.Unpack(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	second, err := s.Unpack(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	if first(); !there() {
		t.Error("the folder of the other was removed")
	}
	if second(); there() {
		t.Error("it was left")
	}
	if _, err := s.Unpack(t.Context(), b); err != nil || !there() {
		t.Error("not again:", err)
	}
	again, err := NewShelf(ShelfOptions{StateDir: filepath.Dir(filepath.Dir(b.Folder))}).Unpack(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	if again(); !there() {
		t.Error("what another hub has was removed")
	}
}

// A disk that takes no more is told as that, whatever error the download ends with.
func TestFetchOnAFullDisk(t *testing.T) {
	state := t.TempDir()
	_, err := NewShelf(ShelfOptions{StateDir: state}).Fetch(t.Context(), func(_ context.Context, w io.Writer) error {
		_ = w.(*disk).w.(*os.File).Close() // as if the disk took no more
		if _, err := w.Write([]byte("PK")); err == nil {
			t.Error("it was written")
		}
		return errors.New("the registry sent nothing")
	})
	if e := event.AsError(err); e.Reason != event.ReasonConfigNotWritable || !strings.Contains(e.Message, "closed") {
		t.Error(err)
	}
	if left, _ := os.ReadDir(filepath.Join(state, "bundles")); len(left) != 0 {
		t.Error(left)
	}
}

// A file that was one thing while it was hashed, and another while it was described, is not unpacked: nobody has seen
// what it would run.
func TestChangedWhileLookedAt(t *testing.T) {
	s := NewShelf(ShelfOptions{StateDir: t.TempDir()})
	seen, err := s.Read(t.Context(), saved(t, node(t)))
	if err != nil {
		t.Fatal(err)
	}
	other := strings.Replace(manifestOf(nodeServer, ""), `"command": "node"`, `"command": "evil"`, 1)
	at := saved(t, pack(t, file{"manifest.json", other, 0}, file{"server/index.js", "x", 0}))
	b, err := s.Read(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	b.Proposal, b.entry = seen.Proposal, seen.entry // what was shown is the first, what was hashed the second
	_, err = s.Unpack(t.Context(), b)
	if e := event.AsError(err); e == nil || !strings.Contains(e.Message, "while it was looked at") {
		t.Error(err)
	}
	if _, err := os.Stat(b.Folder); err == nil {
		t.Error("it was unpacked")
	}
}

// A download that fails, or is no bundle, leaves nothing; one that is dropped is removed.
func TestFetch(t *testing.T) {
	state := t.TempDir()
	s := NewShelf(ShelfOptions{StateDir: state})
	left := func() int {
		all, _ := os.ReadDir(filepath.Join(state, "bundles"))
		return len(all)
	}
	writing := func(b []byte, err error) func(context.Context, io.Writer) error {
		return func(_ context.Context, w io.Writer) error {
			_, _ = w.Write(b)
			return err
		}
	}
	if _, err := s.Fetch(t.Context(), writing([]byte("PK"), errors.New("cut"))); err == nil || left() != 0 {
		t.Error(err, left())
	}
	if _, err := s.Fetch(t.Context(), writing([]byte("PK"), nil)); err == nil || left() != 0 {
		t.Error(err, left())
	}
	b, err := s.Fetch(t.Context(), writing(node(t), nil))
	if err != nil || left() != 1 {
		t.Fatal(err, left())
	}
	if _, err := s.Unpack(t.Context(), b); err != nil || left() != 2 {
		t.Error(err, left())
	}
	if s.Drop(b); left() != 1 {
		t.Error(left())
	}
	if _, err := NewShelf(ShelfOptions{}).Fetch(t.Context(), writing(nil, nil)); err == nil {
		t.Error("without a directory")
	}
}
