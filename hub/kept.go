package hub

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/statefile"
)

// keptEntry is what a kept list is made of: one entry for each key.
type keptEntry[K comparable] interface {
	key() K
	when() time.Time
}

// keptForm is what sets one list apart from the others.
type keptForm[E any] struct {
	file    string // its name
	list    string // the member of the file that has the entries
	what    string // for the log
	version int    // of the form that is written; all before it are read, and a file that says nothing is of version 0
	max     int    // entries; the oldest go
	room    int    // bytes of JSON; what is beyond it, the oldest, goes or is shortened

	// check refuses an entry that must not be taken for another one than it is, and mends one of an earlier version. nil:
	// all are good.
	check func(e *E, version int) error
	// shorten takes out of an entry what it can do without. nil: nothing.
	shorten func(e *E)
}

// kept is a list in one of the hub's own files. Several hubs share the file, and what it says counts: each look takes
// up what others have written, each write changes what is there. What the disk does not take holds in this hub all the
// same, and what this hub does not understand is set aside before another text takes its place: statefile sees to both.
// So no trouble with a file ever fails a call.
type kept[K comparable, E keptEntry[K]] struct {
	form keptForm[E]
	file ownFile
	log  *slog.Logger

	mu      sync.Mutex // guards below; never held over the disk, as the hub asks under its own lock
	text    []byte     // as known was read from it last
	known   map[K]E    // with what is not written; never changed, but replaced
	unsaved map[K]*E   // nil: is to be gone
	saving  bool
	turns   uint64 // counts what makes a text that was read before old
	unread  bool   // the file has a text that cannot be read; the log says so
}

// ownFile is one of the hub's own small files, as statefile has it.
type ownFile interface {
	Read() ([]byte, error)
	Update(change statefile.Change) error
}

// openKept opens a list in the state directory; dir "" keeps it in memory. Nothing is read before refresh.
func openKept[K comparable, E keptEntry[K]](dir string, form keptForm[E], log *slog.Logger) *kept[K, E] {
	k := &kept[K, E]{form: form, log: log, known: map[K]E{}, unsaved: map[K]*E{}}
	k.file = statefile.Open(dir, form.file, statefile.Options{Logger: log, Check: k.understood, Told: dir == ""})
	return k
}

func (k *kept[K, E]) get(key K) (E, bool) {
	e, ok := k.all()[key]
	return e, ok
}

// all gives what is known. Nobody changes that map, the caller included.
func (k *kept[K, E]) all() map[K]E {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.known
}

// put makes an entry hold at once, in memory; save writes it.
func (k *kept[K, E]) put(e E) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.change(map[K]*E{e.key(): &e})
}

// putNew is put if there is no entry; it gives the one that holds then.
func (k *kept[K, E]) putNew(e E) E {
	k.mu.Lock()
	defer k.mu.Unlock()
	if old, ok := k.known[e.key()]; ok {
		return old
	}
	k.change(map[K]*E{e.key(): &e})
	return e
}

// drop takes out the entries that match, in memory, and tells how many there were; save writes that.
func (k *kept[K, E]) drop(match func(K, E) bool) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	gone := map[K]*E{}
	for key, e := range k.known {
		if match(key, e) {
			gone[key] = nil
		}
	}
	k.change(gone)
	return len(gone)
}

// change: k.mu is held.
func (k *kept[K, E]) change(changes map[K]*E) {
	k.known = changed(k.known, changes)
	maps.Copy(k.unsaved, changes)
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

// refresh takes up what other hubs have written. It may read the file: not with the hub's lock.
func (k *kept[K, E]) refresh() {
	for !k.refreshed() {
	}
}

// refreshed is one look; false: what it found is old by now.
func (k *kept[K, E]) refreshed() bool {
	turns, before := k.lastRead()
	text, err := k.file.Read()
	var found map[K]E
	same := err == nil && bytes.Equal(text, before)
	if err == nil && !same {
		found, err = k.decode(text)
	}
	current, news := k.take(turns, text, found, err, same)
	if news {
		k.log.Warn("kept "+k.form.what+" could not be read", "error", err.Error())
	}
	return current
}

func (k *kept[K, E]) lastRead() (turns uint64, text []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.turns, k.text
}

// take makes what a look found what is known. current is false when it is old by now; news tells that the file cannot
// be read and could be before.
func (k *kept[K, E]) take(turns uint64, text []byte, found map[K]E, err error, same bool) (current, news bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.turns != turns {
		return false, false
	}
	news = err != nil && !k.unread
	k.unread = err != nil // then what was known before still holds
	if err == nil && !same {
		k.turns++
		k.text, k.known = text, changed(found, k.unsaved)
	}
	return true, news
}

// save writes what is not written, unless somebody else does: then that one takes it along. It may write a file: not
// with the hub's lock.
func (k *kept[K, E]) save() {
	for written := map[K]*E(nil); ; {
		changes := k.toWrite(written)
		if changes == nil {
			return
		}
		k.write(changes)
		written = changes
	}
}

// toWrite gives what one writer writes next, nil when there is nothing more, or another writer. written is what it has
// written last, nil at first.
func (k *kept[K, E]) toWrite(written map[K]*E) map[K]*E {
	k.mu.Lock()
	defer k.mu.Unlock()
	if written == nil && k.saving {
		return nil
	}
	if written != nil {
		k.turns++
	}
	for key, e := range written {
		if now, ok := k.unsaved[key]; ok && now == e {
			delete(k.unsaved, key)
		}
	}
	if k.saving = len(k.unsaved) > 0; !k.saving {
		return nil
	}
	return maps.Clone(k.unsaved)
}

// write changes the file. When it says that it could not, the changes hold in it all the same, as far as this hub goes,
// and the log has that.
func (k *kept[K, E]) write(changes map[K]*E) {
	k.refresh()
	before := k.ifUnread()
	_ = k.file.Update(func(old []byte) ([]byte, error) {
		entries, err := k.decode(old)
		if err != nil { // cannot be: statefile has asked understood
			return nil, err
		}
		if old == nil && before != nil {
			entries = before
		}
		return k.encode(changed(entries, changes))
	})
}

// ifUnread gives what was known when the text could be read, nil when it can be.
func (k *kept[K, E]) ifUnread() map[K]E {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.unread {
		return nil
	}
	return k.known
}

// understood tells statefile whether a text is one of this list.
func (k *kept[K, E]) understood(text []byte) error {
	if _, known := k.lastRead(); bytes.Equal(text, known) {
		return nil
	}
	_, err := k.decode(text)
	return err
}

// errOtherForm tells nothing of the text: it may hold secrets.
var errOtherForm = errors.New("it is no JSON text of the form that this hub writes")

func (k *kept[K, E]) decode(text []byte) (map[K]E, error) {
	entries := map[K]E{}
	if len(text) == 0 {
		return entries, nil
	}
	var file map[string]json.RawMessage
	var version int
	if json.Unmarshal(text, &file) != nil || file["version"] != nil && json.Unmarshal(file["version"], &version) != nil {
		return nil, errOtherForm
	}
	if version < 0 || version > k.form.version {
		return nil, fmt.Errorf("it is of version %d, and this hub knows versions up to %d", version, k.form.version)
	}
	var list []E
	var byName map[string]E // as some were in version 0
	raw := file[k.form.list]
	if raw != nil && json.Unmarshal(raw, &list) != nil && (version > 0 || json.Unmarshal(raw, &byName) != nil) {
		return nil, errOtherForm
	}
	if byName != nil {
		list = slices.Collect(maps.Values(byName))
	}
	for _, e := range list {
		if k.form.check != nil {
			if err := k.form.check(&e, version); err != nil {
				return nil, err
			}
		}
		entries[e.key()] = e
	}
	return entries, nil
}

// encode writes the entries, oldest first, as far as there is room for them.
func (k *kept[K, E]) encode(entries map[K]E) ([]byte, error) {
	newest := slices.SortedFunc(maps.Values(entries), func(a, b E) int {
		if c := b.when().Compare(a.when()); c != 0 {
			return c
		}
		return cmp.Compare(fmt.Sprint(a.key()), fmt.Sprint(b.key()))
	})
	list := []json.RawMessage{}
	room := k.form.room
	for _, e := range newest[:min(len(newest), k.form.max)] {
		text, err := json.Marshal(e)
		if room -= len(text); room < 0 && err == nil {
			if k.form.shorten == nil {
				break
			}
			k.form.shorten(&e)
			text, err = json.Marshal(e)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	slices.Reverse(list)
	text, err := json.MarshalIndent(map[string]any{"version": k.form.version, k.form.list: list}, "", "  ")
	return append(text, '\n'), err
}
