package statefile

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// entry is what the lists of these tests keep.
type entry struct {
	ID   string    `json:"id"`
	Text string    `json:"text,omitempty"`
	At   time.Time `json:"at"`
}

func (e entry) Key() string     { return e.ID }
func (e entry) When() time.Time { return e.At }

func at(id, text string, second int) entry { return entry{id, text, time.Unix(int64(second), 0).UTC()} }

var things = ListForm[entry]{File: "list.json", Member: "things", Version: 3, Max: 20, Room: 3300}

func openThings(dir string, log *bytes.Buffer) *List[string, entry] {
	return OpenList(dir, things, slog.New(slog.NewTextHandler(log, nil)))
}

func (l *List[K, E]) add(e E) {
	l.Put(e)
	l.Save()
}

func (l *List[K, E]) remove(key K) bool {
	l.Refresh()
	n := l.Drop(func(other K, _ E) bool { return other == key })
	l.Save()
	return n == 1
}

func (l *List[K, E]) count() int { return len(l.All()) }

// breakDisk makes the list of a directory impossible to write, for root as well, until mend.
func breakDisk(t *testing.T, dir string) (mend func()) {
	t.Helper()
	path := filepath.Join(dir, "list.json.new")
	if err := os.MkdirAll(filepath.Join(path, "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
	}
}

// Two hubs use one file at once: what one writes the other finds, and none takes away what is not its own, or brings
// back what the other has removed.
func TestListIsShared(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	var log bytes.Buffer
	one, other := openThings(dir, &log), openThings(dir, &log)
	for i := range 10 {
		[]*List[string, entry]{one, other}[i%2].add(at(fmt.Sprint(i), "x", i))
	}
	for _, l := range []*List[string, entry]{one, other} {
		if l.Refresh(); l.count() != 10 {
			t.Errorf("%d entries", l.count())
		}
	}
	if !one.remove("1") || one.remove("99") {
		t.Error("an entry that the other one wrote was not removed")
	}
	other.add(at("new", "y", 11)) // it has not looked since
	if other.remove("1") {
		t.Error("removed twice")
	}
	if one.Refresh(); one.count() != 10 || other.count() != 10 {
		t.Errorf("%d and %d entries", one.count(), other.count())
	}
	if e := other.PutNew(at("4", "another", 20)); e != at("4", "x", 4) {
		t.Errorf("%+v took the place of what was there", e)
	}
	if e, ok := one.Get("new"); !ok || e != at("new", "y", 11) {
		t.Errorf("%+v", e)
	}
}

// One list may be used by many at once.
func TestListAtOnce(t *testing.T) {
	for range 10 {
		l := openThings(t.TempDir(), &bytes.Buffer{})
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				l.add(at(fmt.Sprint(i), "x", i))
				l.Refresh()
				if _, ok := l.Get(fmt.Sprint(i)); !ok {
					t.Errorf("%d is lost", i)
				}
				if i%2 == 0 {
					l.remove(fmt.Sprint(i))
				}
			})
		}
		all.Wait()
		if l.Refresh(); l.count() != 4 {
			t.Errorf("%d entries", l.count())
		}
	}
}

// A change that comes while another one is written does not wait: the same writer writes it afterwards, in order.
func TestListWhileItIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, gate := t.TempDir(), make(chan struct{})
		l := openThings(dir, &bytes.Buffer{})
		l.file.o.at = func(step string) error {
			if step == "lock" {
				<-gate
			}
			return nil
		}
		l.Put(at("a", "first", 1))
		var writing sync.WaitGroup
		writing.Go(l.Save)
		synctest.Wait()
		l.add(at("a", "second", 2))
		l.add(at("b", "", 3))
		l.remove("b")
		if e, _ := l.Get("a"); e.Text != "second" || l.count() != 1 {
			t.Errorf("%+v of %d", e, l.count())
		}
		close(gate)
		writing.Wait()
		other := openThings(dir, &bytes.Buffer{})
		other.Refresh()
		if e, _ := other.Get("a"); e.Text != "second" || other.count() != 1 {
			t.Errorf("the file has %+v of %d", e, other.count())
		}
	})
}

// What was read before a write and arrives after it is out of date: nothing that was written is lost by it.
func TestListLookedAtAmidAWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, gate := t.TempDir(), make(chan struct{})
		openThings(dir, &bytes.Buffer{}).add(at("before", "", 1))
		l := openThings(dir, &bytes.Buffer{})
		var reads atomic.Int64
		l.file.o.Check = func(text []byte) error { // it has read, and not given the text yet
			if reads.Add(1) == 1 {
				<-gate
			}
			return l.understood(text)
		}
		var looking sync.WaitGroup
		looking.Go(l.Refresh)
		synctest.Wait()
		l.add(at("after", "", 2))
		close(gate)
		looking.Wait()
		if _, ok := l.Get("after"); !ok || l.count() != 2 {
			t.Errorf("%+v", l.All())
		}
	})
}

// A change that the disk does not take holds all the same, for this hub, and is written with the next one that it
// takes. The log says so once.
func TestListOnAFullDisk(t *testing.T) {
	var log bytes.Buffer
	dir := filepath.Join(t.TempDir(), "state")
	l := openThings(dir, &log)
	l.add(at("old", "x", 1))
	mend := breakDisk(t, dir)
	l.add(at("new", "y", 2))
	if !l.remove("old") || l.remove("old") {
		t.Error("it was not removed once")
	}
	other := openThings(dir, &bytes.Buffer{})
	if other.Refresh(); other.count() != 1 {
		t.Errorf("the file has %d entries", other.count())
	}
	if l.Refresh(); l.count() != 1 {
		t.Errorf("%d entries", l.count())
	}
	mend()
	other.add(at("another", "w", 3))
	l.add(at("newer", "z", 4))
	other.Refresh()
	if _, ok := other.Get("old"); ok || other.count() != 3 {
		t.Errorf("the file has %d entries", other.count())
	}
	if n := strings.Count(log.String(), "WARN"); n != 1 || !strings.Contains(log.String(), "cannot be written") {
		t.Errorf("told %d times: %s", n, log.String())
	}
}

// A file that this hub does not understand costs what was in it, but not what is known from before. It is told of,
// without what it says, and set aside.
func TestListUnreadable(t *testing.T) {
	for name, text := range map[string]string{
		"half":         `{"version":3,"things":[{"id":"tell-tale`,
		"another kind": `["tell-tale"]`,
		"odd version":  `{"version":"tell-tale","things":[]}`,
		"another type": `{"version":3,"things":{"a":"tell-tale"}}`,
		"time":         `{"version":3,"things":[{"id":"a","at":"tell-tale"}]}`,
	} {
		var log bytes.Buffer
		dir := filepath.Join(t.TempDir(), "state")
		path := filepath.Join(dir, "list.json")
		l := openThings(dir, &log)
		l.add(at("before", "", 1))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if l.Refresh(); l.count() != 1 {
				t.Errorf("%s: %d entries", name, l.count())
			}
		}
		l.add(at("after", "", 2))
		next := openThings(dir, &log)
		if next.Refresh(); next.count() != 2 {
			t.Errorf("%s: the file has %d entries", name, next.count())
		}
		if n := strings.Count(log.String(), "WARN"); n != 2 || strings.Contains(log.String(), "tell-tale") {
			t.Errorf("%s: told %d times: %s", name, n, log.String())
		}
		asides, err := filepath.Glob(path + ".broken-*")
		if err != nil || len(asides) != 1 {
			t.Fatalf("%s: set aside %q, %v", name, asides, err)
		}
		if kept, err := os.ReadFile(asides[0]); err != nil || string(kept) != text {
			t.Errorf("%s: set aside is %q, %v", name, kept, err)
		}
	}
}

// A list that a newer hub wrote is neither read nor written: what is known holds, and so do changes, in this hub.
func TestListOfANewerHub(t *testing.T) {
	var log bytes.Buffer
	dir := filepath.Join(t.TempDir(), "state")
	l := openThings(dir, &log)
	l.add(at("before", "", 1))
	const newer = `{"version":4,"things":[],"more":"tell-tale"}`
	must(t, os.WriteFile(l.file.path, []byte(newer), 0o600))
	l.add(at("after", "", 2))
	l.Refresh()
	wantIDs(t, "in this hub", l, "after", "before")
	wantOnDisk(t, l.file.path, newer)
	wantLogged(t, &log, "level=WARN", 2)
	wantLogged(t, &log, "tell-tale", 0)
	must(t, os.Remove(l.file.path))
	l.add(at("later", "", 3))
	wantIDsOnDisk(t, "when it is away", dir, "after", "later")
}

// The file is bounded, in entries and in bytes: the oldest go, or what is long in them.
func TestListIsBounded(t *testing.T) {
	shortened := things
	shortened.Shorten = func(e *entry) { e.Text = "" }
	for _, c := range []struct {
		form  ListForm[entry]
		text  int // bytes in each entry
		whole int // entries that are left as they were
		all   int
	}{{things, 1, 20, 20}, {things, 950, 3, 3}, {shortened, 950, 3, 20}} {
		dir := t.TempDir()
		l := OpenList(dir, c.form, slog.New(slog.DiscardHandler))
		for i := range 25 {
			l.Put(at(fmt.Sprintf("%02d", i), strings.Repeat("x", c.text), i))
		}
		l.Save()
		l.Refresh()
		var whole []string
		for id, e := range l.All() {
			if len(e.Text) == c.text {
				whole = append(whole, id)
			}
		}
		slices.Sort(whole)
		if len(whole) != c.whole || whole[len(whole)-1] != "24" || l.count() != c.all {
			t.Errorf("%d bytes: %v are whole, of %d", c.text, whole, l.count())
		}
	}
}
