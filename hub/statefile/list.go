package statefile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sort"
	"sync"
	"time"
)

// Entry is what a [List] is made of: one for each key.
type Entry[K comparable] interface {
	Key() K
	When() time.Time
}

// ListForm is what sets one list apart from the others.
type ListForm[E any] struct {
	File    string // its name
	Member  string // the member of the JSON object that has the entries
	What    string // for the log
	Version int    // of the form that is written; all before it are read, and a file that says nothing is of version 0
	Max     int    // entries; the oldest go
	Room    int    // bytes of JSON; what is beyond it, the oldest, goes or is shortened

	// Check refuses an entry that must not be taken for another one than it is, and mends one of an earlier version. nil:
	// all are good.
	Check func(e *E, version int) error
	// Shorten takes out of an entry what it can do without. nil: nothing.
	Shorten func(e *E)
}

// List is a list of entries in a [File]. Several hubs share the file, and what it says counts: each Refresh takes up
// what others have written, each Save changes what is there. What the disk does not take holds in this process all the
// same, and is written by the next Save that can; what this version does not understand is set aside before another
// text takes its place. So no trouble with a file ever fails a call. Its methods are safe for concurrent use; Refresh
// and Save alone may read and write the file, and the lock of the list is not held meanwhile.
type List[K comparable, E Entry[K]] struct {
	form ListForm[E]
	file textFile
	log  *slog.Logger

	mu      sync.Mutex // guards below; never held over the disk
	text    []byte     // as known was read from it last
	known   map[K]E    // with what is not written; never changed, but replaced
	unsaved map[K]*E   // nil: is to be gone
	saving  bool
	turns   uint64 // counts what makes a text that was read before old
	unread  bool   // the file has a text that cannot be read; the log says so
}

// textFile is what a list needs of a File.
type textFile interface {
	Read() ([]byte, error)
	Update(change Change) error
}

// OpenList opens a list in dir; dir "" keeps it in memory. Nothing is read before Refresh.
func OpenList[K comparable, E Entry[K]](dir string, form ListForm[E], log *slog.Logger) *List[K, E] {
	return openListOn[K](systemDisk{}, dir, form, log)
}

func openListOn[K comparable, E Entry[K]](d disk, dir string, form ListForm[E], log *slog.Logger) *List[K, E] {
	l := &List[K, E]{form: form, log: log, known: map[K]E{}, unsaved: map[K]*E{}}
	l.file = openOn(d, dir, form.File, Options{Logger: log, Check: l.understood})
	return l
}

// Get gives what is known under key.
func (l *List[K, E]) Get(key K) (E, bool) {
	e, ok := l.All()[key]
	return e, ok
}

// All gives what is known. Nobody changes that map, the caller included.
func (l *List[K, E]) All() map[K]E {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.known
}

// Put makes an entry hold at once, in memory; Save writes it.
func (l *List[K, E]) Put(e E) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.change(map[K]*E{e.Key(): &e})
}

// PutNew is Put if there is no entry; it gives the one that holds then.
func (l *List[K, E]) PutNew(e E) E {
	l.mu.Lock()
	defer l.mu.Unlock()
	if old, ok := l.known[e.Key()]; ok {
		return old
	}
	l.change(map[K]*E{e.Key(): &e})
	return e
}

// Drop takes out the entries that match, in memory, and tells how many there were; Save writes that.
func (l *List[K, E]) Drop(match func(K, E) bool) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	gone := map[K]*E{}
	for key, e := range l.known {
		if match(key, e) {
			gone[key] = nil
		}
	}
	l.change(gone)
	return len(gone)
}

// change: mu is held.
func (l *List[K, E]) change(changes map[K]*E) {
	l.known = changed(l.known, changes)
	maps.Copy(l.unsaved, changes)
}

// changed gives entries with changes.
func changed[K comparable, E any](entries map[K]E, changes map[K]*E) map[K]E {
	entries = maps.Clone(entries)
	for key, e := range changes {
		if e == nil {
			delete(entries, key)
		} else {
			entries[key] = *e
		}
	}
	return entries
}

// Refresh takes up what other hubs have written.
func (l *List[K, E]) Refresh() {
	for !l.refreshed() {
	}
}

// refreshed is one look; false: what it found is old by now.
func (l *List[K, E]) refreshed() bool {
	turns, before := l.lastRead()
	text, err := l.file.Read()
	var found map[K]E
	same := err == nil && bytes.Equal(text, before)
	if err == nil && !same {
		found, err = l.decode(text)
	}
	current, news := l.take(turns, text, found, err, same)
	if news {
		l.log.Warn("kept "+l.form.What+" could not be read", "error", err.Error())
	}
	return current
}

func (l *List[K, E]) lastRead() (turns uint64, text []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.turns, l.text
}

// take makes what a look found what is known. current is false when it is old by now; news tells that the file cannot
// be read and could be before.
func (l *List[K, E]) take(turns uint64, text []byte, found map[K]E, err error, same bool) (current, news bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.turns != turns {
		return false, false
	}
	news = err != nil && !l.unread
	l.unread = err != nil // then what was known before still holds
	if err == nil && !same {
		l.turns++
		l.text, l.known = text, changed(found, l.unsaved)
	}
	return true, news
}

// Save writes what is not written, unless somebody else does: then that one takes it along.
func (l *List[K, E]) Save() {
	var tried map[K]*E
	for kept := true; ; {
		if tried = l.toWrite(tried, kept); tried == nil {
			return
		}
		err := l.write(tried)
		if err != nil {
			l.trim(tried)
		}
		kept = err == nil || errors.Is(err, ErrNoPlace) // then all there is is in memory
	}
}

// toWrite gives what one writer writes next, nil when there is nothing more, or another writer. tried is what it has
// tried last, nil at first, and kept whether the file has it: if not, only something new is a reason to try again.
func (l *List[K, E]) toWrite(tried map[K]*E, kept bool) map[K]*E {
	l.mu.Lock()
	defer l.mu.Unlock()
	if tried == nil && l.saving {
		return nil
	}
	if tried != nil {
		l.turns++
	}
	if !kept && maps.Equal(l.unsaved, tried) {
		l.saving = false
		return nil
	}
	for key, e := range tried {
		if now, ok := l.unsaved[key]; ok && now == e && kept {
			delete(l.unsaved, key)
		}
	}
	if l.saving = len(l.unsaved) > 0; !l.saving {
		return nil
	}
	return maps.Clone(l.unsaved)
}

// write changes the file.
func (l *List[K, E]) write(changes map[K]*E) error {
	l.Refresh()
	before := l.ifUnread()
	return l.file.Update(func(old []byte) ([]byte, error) {
		entries, err := l.decode(old)
		if err != nil { // cannot be: File has asked understood
			return nil, err
		}
		if old == nil && before != nil {
			entries = before
		}
		return l.encode(changed(entries, changes))
	})
}

// trim keeps what the disk did not take within the bounds of the file: the oldest entries go, or are shortened. What
// was changed after tried is left to the next time.
func (l *List[K, E]) trim(tried map[K]*E) {
	text, err := l.encode(l.All())
	if err != nil {
		return
	}
	_, read := l.lastRead()
	fits, err := l.decode(text)
	onDisk, readErr := l.decode(read)
	if err != nil || readErr != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	known := maps.Clone(l.known)
	for key := range l.known {
		if l.unsaved[key] != tried[key] {
			continue
		}
		if e, ok := fits[key]; !ok {
			delete(known, key)
			delete(l.unsaved, key)
			delete(tried, key)
		} else if tried[key] != nil {
			known[key], l.unsaved[key], tried[key] = e, &e, &e
		}
	}
	for key, e := range tried {
		if _, ok := onDisk[key]; e == nil && l.unsaved[key] == nil && !ok { // gone without ever having been there
			delete(l.unsaved, key)
			delete(tried, key)
		}
	}
	l.known = known
}

// ifUnread gives what was known when the text could be read, nil when it can be.
func (l *List[K, E]) ifUnread() map[K]E {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.unread {
		return nil
	}
	return l.known
}

// understood tells File whether a text is one of this list.
func (l *List[K, E]) understood(text []byte) error {
	if _, known := l.lastRead(); bytes.Equal(text, known) {
		return nil
	}
	_, err := l.decode(text)
	return err
}

// errOtherForm tells nothing of the text: it may hold secrets.
var errOtherForm = errors.New("it is no JSON text of the form that this hub writes")

func (l *List[K, E]) decode(text []byte) (map[K]E, error) {
	entries := map[K]E{}
	if len(text) == 0 {
		return entries, nil
	}
	var file map[string]json.RawMessage
	var version int
	if json.Unmarshal(text, &file) != nil || file["version"] != nil && json.Unmarshal(file["version"], &version) != nil {
		return nil, errOtherForm
	}
	if version < 0 || version > l.form.Version {
		return nil, fmt.Errorf("it is of version %d, and this hub knows versions up to %d", version, l.form.Version)
	}
	var list []E
	var byName map[string]E // as some were in version 0
	raw := file[l.form.Member]
	if raw != nil && json.Unmarshal(raw, &list) != nil && (version > 0 || json.Unmarshal(raw, &byName) != nil) {
		return nil, errOtherForm
	}
	if byName != nil {
		list = slices.Collect(maps.Values(byName))
	}
	for _, e := range list {
		if l.form.Check != nil {
			if err := l.form.Check(&e, version); err != nil {
				return nil, err
			}
		}
		entries[e.Key()] = e
	}
	return entries, nil
}

// encode writes the entries, oldest first, as far as there is room for them.
func (l *List[K, E]) encode(entries map[K]E) ([]byte, error) {
	newest := slices.Collect(maps.Values(entries))
	sort.Slice(newest, func(i, j int) bool {
		a, b := newest[i], newest[j]
		if c := b.When().Compare(a.When()); c != 0 {
			return c < 0
		}
		return fmt.Sprint(a.Key()) < fmt.Sprint(b.Key())
	})
	list := []json.RawMessage{}
	room := l.form.Room
	for _, e := range newest[:min(len(newest), l.form.Max)] {
		text, err := json.Marshal(e)
		if room -= len(text); room < 0 && err == nil {
			if l.form.Shorten == nil {
				break
			}
			l.form.Shorten(&e)
			text, err = json.Marshal(e)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	slices.Reverse(list)
	text, err := json.MarshalIndent(map[string]any{"version": l.form.Version, l.form.Member: list}, "", "  ")
	return append(text, '\n'), err
}

// Sum is a hash over texts, each with its length: a name for an entry that tells nothing of it.
func Sum(texts ...string) string {
	h := sha256.New()
	for _, t := range texts {
		fmt.Fprintf(h, "%d:%s", len(t), t)
	}
	return hex.EncodeToString(h.Sum(nil))
}
