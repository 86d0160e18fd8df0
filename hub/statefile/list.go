package statefile

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"
)

// Entry is an entry of a [List]. A list has one entry for each key.
type Entry[K comparable] interface {
	Key() K
	When() time.Time
}

// ListForm is the form of a list: what distinguishes it from other lists.
type ListForm[E any] struct {
	File    string // the name of the file
	Member  string // the member of the JSON object that holds the entries
	Version int    // of the form; a file of a later version is neither read nor written
	Max     int    // the highest number of entries; the oldest go first
	Room    int    // the highest size of the entries as JSON, in bytes; beyond it the oldest are dropped or shortened

	// Check returns an error for an entry that this hub would misunderstand, and completes the others. If it is nil, all
	// entries are accepted.
	Check func(e *E) error
	// Shorten removes from an entry what it can do without. If it is nil, entries are not shortened.
	Shorten func(e *E)
}

// List is a list of entries in a [File]. Several hubs share the file, and its content is authoritative: Refresh reads
// what others have written, and Save changes what is there. A change that the disk does not take is valid in this
// process, and is written by the next Save that succeeds. So a problem with a file never fails a call. The methods of a
// List are safe for concurrent use. Only Refresh and Save may read and write the file; they do not hold the lock of the
// list meanwhile.
type List[K comparable, E Entry[K]] struct {
	form ListForm[E]
	file *File

	mu      sync.Mutex // guards the fields below; never held while the disk is used
	text    []byte     // the text of the file, as it was last read
	inFile  map[K]E    // the entries of text
	known   map[K]E    // inFile with unsaved; the map is replaced, never changed
	unsaved map[K]*E   // a nil value means that the entry is to be removed
	saving  bool
	turns   uint64 // counts events after which a text that was read before is outdated
}

// OpenList opens a list in dir; with dir "" it is in memory only. Nothing is read before Refresh.
func OpenList[K comparable, E Entry[K]](dir string, form ListForm[E], log *slog.Logger) *List[K, E] {
	l := &List[K, E]{form: form, known: map[K]E{}, unsaved: map[K]*E{}}
	l.file = Open(dir, form.File, Options{Logger: log, Version: form.Version, Check: l.understood})
	return l
}

// Get returns the entry under key.
func (l *List[K, E]) Get(key K) (E, bool) {
	e, ok := l.All()[key]
	return e, ok
}

// All returns the entries. Nobody changes the map, and the caller must not either.
func (l *List[K, E]) All() map[K]E {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.known
}

// Put adds or replaces an entry, in memory; Save writes it.
func (l *List[K, E]) Put(e E) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.change(map[K]*E{e.Key(): &e})
}

// PutNew adds e unless there is an entry under its key, and returns the entry that is valid afterwards.
func (l *List[K, E]) PutNew(e E) E {
	l.mu.Lock()
	defer l.mu.Unlock()
	if old, ok := l.known[e.Key()]; ok {
		return old
	}
	l.change(map[K]*E{e.Key(): &e})
	return e
}

// Drop removes the entries that match, in memory, and returns their number; Save writes the change.
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

// change is called with mu held.
func (l *List[K, E]) change(changes map[K]*E) {
	l.known = changed(l.known, changes)
	maps.Copy(l.unsaved, changes)
}

// changed returns a copy of entries with the changes applied.
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

// Refresh reads what other hubs have written. If the file cannot be read, what was known before stays valid.
func (l *List[K, E]) Refresh() {
	for current := false; !current; {
		turns, before := l.lastRead()
		text, err := l.file.Read()
		if err != nil || bytes.Equal(text, before) {
			return
		}
		found, err := l.decode(text)
		current = err != nil || l.take(turns, text, found) // no error: File has called understood
	}
}

func (l *List[K, E]) lastRead() (turns uint64, text []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.turns, l.text
}

// take makes what was read the known entries. It returns false if that is outdated by now.
func (l *List[K, E]) take(turns uint64, text []byte, found map[K]E) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.turns != turns {
		return false
	}
	l.turns++
	l.text, l.inFile, l.known = text, found, changed(found, l.unsaved)
	return true
}

// Save writes the unsaved changes. If another call of Save is under way, that call writes them.
func (l *List[K, E]) Save() {
	for tried := l.toWrite(nil, true); tried != nil; {
		err := l.write(tried)
		if err != nil {
			l.trim(tried)
		}
		tried = l.toWrite(tried, err == nil || errors.Is(err, ErrNoPlace)) // with ErrNoPlace the list is in memory only
		if err == nil {
			l.Refresh() // the file has what other hubs wrote, too
		}
	}
}

// toWrite returns the changes that Save writes next, or nil if there are none, or if another call of Save is under way.
// tried are the changes that Save has tried last, nil at first. kept reports whether they are in the file now; if not,
// Save tries again only if there are other changes.
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

// write applies changes to the file, or to what was known before its text became one that cannot be understood.
func (l *List[K, E]) write(changes map[K]*E) error {
	l.Refresh()
	before := l.All()
	return l.file.Update(func(old []byte) ([]byte, error) {
		entries, err := l.decode(old)
		if err != nil { // cannot happen: File has called understood
			return nil, err
		}
		if old == nil {
			entries = before
		}
		return l.encode(changed(entries, changes))
	})
}

// trim keeps the entries that the disk did not take within the bounds of the file: the oldest are dropped or shortened.
// Entries that were changed after tried stay as they are until the next call.
func (l *List[K, E]) trim(tried map[K]*E) {
	all := l.All()
	fits, _, err := l.fit(all)
	if err != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	known := maps.Clone(l.known)
	for key := range all {
		if _, ok := known[key]; !ok || l.unsaved[key] != tried[key] {
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
		if _, ok := l.inFile[key]; e == nil && l.unsaved[key] == nil && !ok { // removed before it was ever in the file
			delete(l.unsaved, key)
			delete(tried, key)
		}
	}
	l.known = known
}

// understood returns an error if text is not a text of this list. It is the Check of the File.
func (l *List[K, E]) understood(text []byte) error {
	if _, known := l.lastRead(); bytes.Equal(text, known) {
		return nil
	}
	_, err := l.decode(text)
	return err
}

func (l *List[K, E]) decode(text []byte) (map[K]E, error) {
	entries := map[K]E{}
	if len(text) == 0 {
		return entries, nil
	}
	var file map[string]json.RawMessage
	var list []E
	if json.Unmarshal(text, &file) != nil ||
		file[l.form.Member] != nil && json.Unmarshal(file[l.form.Member], &list) != nil {
		return nil, errOtherForm
	}
	for _, e := range list {
		if l.form.Check != nil {
			if err := l.form.Check(&e); err != nil {
				return nil, err
			}
		}
		entries[e.Key()] = e
	}
	return entries, nil
}

// encode returns the text of the entries, oldest first.
func (l *List[K, E]) encode(entries map[K]E) ([]byte, error) {
	_, list, err := l.fit(entries)
	if err != nil {
		return nil, err
	}
	slices.Reverse(list)
	text, err := json.MarshalIndent(map[string]any{"version": l.form.Version, l.form.Member: list}, "", "  ")
	return append(text, '\n'), err
}

// fit returns the newest entries, as many as the file has room for, and their JSON texts, newest first.
func (l *List[K, E]) fit(entries map[K]E) (fits map[K]E, list []json.RawMessage, err error) {
	newest := slices.SortedFunc(maps.Values(entries), func(a, b E) int {
		if c := b.When().Compare(a.When()); c != 0 {
			return c
		}
		return cmp.Compare(fmt.Sprint(a.Key()), fmt.Sprint(b.Key()))
	})
	fits, list = map[K]E{}, []json.RawMessage{}
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
			return nil, nil, err
		}
		fits[e.Key()], list = e, append(list, text)
	}
	return fits, list, nil
}

// Sum returns a hash over texts and their lengths: a name for an entry that reveals nothing about it.
func Sum(texts ...string) string {
	h := sha256.New()
	for _, t := range texts {
		fmt.Fprintf(h, "%d:%s", len(t), t)
	}
	return hex.EncodeToString(h.Sum(nil))
}
