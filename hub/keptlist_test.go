package hub

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/hub/statefile"
)

// entry is what the lists of these tests keep.
type entry struct {
	Text string    `json:"text"`
	At   time.Time `json:"at"`
}

func (e entry) when() time.Time { return e.At }

func at(text string, second int) entry { return entry{text, time.Unix(int64(second), 0).UTC()} }

func (k *keptList[T]) count() (n int) {
	k.each(func(string, T) { n++ })
	return n
}

// Two hubs use one file at once: what one writes the other finds, and none takes away what is not its own.
func TestKeptListIsShared(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	var lists [2]*keptList[entry]
	for i := range lists {
		lists[i] = openKept[entry](dir, "list.json", "things", slog.New(slog.DiscardHandler))
	}
	for i := range 10 {
		lists[i%2].put(fmt.Sprint(i), at("x", i))
	}
	for _, l := range lists {
		l.refresh()
		if n := l.count(); n != 10 {
			t.Errorf("%d entries", n)
		}
	}
	if !lists[0].remove("1") || lists[1].remove("1") || lists[0].remove("99") {
		t.Error("an entry that the other one wrote was not removed once")
	}
	var order []string
	lists[1].each(func(id string, _ entry) { order = append(order, id) })
	if got := strings.Join(order, ""); got != "023456789" {
		t.Errorf("order %s", got)
	}
	if e, ok := lists[1].get("4"); !ok || e != at("x", 4) {
		t.Errorf("%+v", e)
	}
}

// One list may be used by many at once.
func TestKeptListAtOnce(t *testing.T) {
	l := openKept[entry](t.TempDir(), "list.json", "things", slog.New(slog.DiscardHandler))
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			l.put(fmt.Sprint(i), at("x", i))
			l.refresh()
			if _, ok := l.get(fmt.Sprint(i)); !ok {
				t.Errorf("%d is lost", i)
			}
			if i%2 == 0 {
				l.remove(fmt.Sprint(i))
			}
		})
	}
	all.Wait()
	if l.refresh(); l.count() != 4 {
		t.Errorf("%d entries", l.count())
	}
}

func memoryFile() ownFile { return openOwnFile("", "", slog.New(slog.DiscardHandler)) }

// fullDisk is a file that can be read and, for a time, not be written.
type fullDisk struct {
	ownFile
	full bool
}

func (f *fullDisk) Update(change statefile.Change) error {
	if f.full {
		return errors.New("no space left on device")
	}
	return f.ownFile.Update(change)
}

// What the file does not take is known all the same, for this hub, and written with the next change that it takes.
func TestKeptListOnAFullDisk(t *testing.T) {
	var log bytes.Buffer
	disk := &fullDisk{ownFile: memoryFile()}
	open := func() *keptList[entry] {
		l := openKept[entry]("", "", "things", slog.New(slog.NewTextHandler(&log, nil)))
		l.file = disk
		return l
	}
	l := open()
	l.put("old", at("x", 1))
	disk.full = true
	l.put("new", at("y", 2))
	l.remove("old")
	l.refresh()
	if _, ok := l.get("new"); !ok || l.count() != 1 {
		t.Errorf("%d entries", l.count())
	}
	other := open()
	if other.refresh(); other.count() != 1 {
		t.Errorf("the file has %d entries", other.count())
	}
	disk.full = false
	l.put("newer", at("z", 3))
	other.refresh()
	if _, ok := other.get("old"); ok || other.count() != 2 {
		t.Errorf("the file has %d entries", other.count())
	}
	if n := strings.Count(log.String(), "things are not kept for later"); n != 1 {
		t.Errorf("told %d times: %s", n, log.String())
	}
}

// A file that nobody can read, of a later hub perhaps, is told of, and set aside by the next change.
func TestKeptListUnreadable(t *testing.T) {
	for _, text := range []string{`{"entries":{"a":{"text":"tell-tale`, `{"entries":["tell-tale"]}`} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "things.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		l := openKept[entry](dir, "things.json", "things", slog.New(slog.NewTextHandler(&log, nil)))
		l.refresh()
		l.put("b", at("x", 1))
		if l.refresh(); l.count() != 1 || strings.Contains(log.String(), "tell-tale") || !strings.Contains(log.String(), "WARN") {
			t.Errorf("%d entries; %s", l.count(), log.String())
		}
		aside, err := filepath.Glob(filepath.Join(dir, "things.json.broken-*"))
		if err != nil || len(aside) != 1 {
			t.Fatalf("set aside: %v, %v", aside, err)
		}
		if kept, err := os.ReadFile(aside[0]); string(kept) != text {
			t.Errorf("set aside: %q, %v", kept, err)
		}
		again := openKept[entry](dir, "things.json", "things", slog.New(slog.DiscardHandler))
		if again.refresh(); again.count() != 1 {
			t.Errorf("the next hub has %d entries", again.count())
		}
	}
}

// The file is bounded; the oldest go.
func TestKeptListIsBounded(t *testing.T) {
	entries := map[string]entry{}
	for i := range maxKept + 5 {
		entries[fmt.Sprint(i)] = at("x", i)
	}
	dropOldest(entries)
	if _, ok := entries["4"]; ok || len(entries) != maxKept {
		t.Errorf("%d are left, the oldest too: %v", len(entries), ok)
	}
}
