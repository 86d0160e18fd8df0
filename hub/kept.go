package hub

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"maps"
	"sync"
)

// kept is a list in one of the hub's own files. Several hubs share the file: what it says counts, each look takes up what others have written, and
// each write starts from what is there. What this hub could not write holds in this hub all the same, and is tried again with the next write.
// No trouble with the file ever fails a call: it is logged once, until a read or a write goes well again.
type kept[K comparable, E any] struct {
	file   ownFile
	aside  func(digest string) ownFile // where a text goes that this hub cannot read, before another takes its place
	what   string                      // for the log
	log    *slog.Logger
	decode func(text []byte) (map[K]E, error) // nil text: an empty map
	encode func(map[K]E) ([]byte, error)      // may drop entries to keep the file small

	disk      sync.Mutex // guards the four below, and one look or write at a time; taken before mu, never with the hub's lock held
	looked    bool
	text      []byte // as it was looked at last, read or not
	unread    bool   // the log says so
	unwritten bool   // the log says so

	mu      sync.Mutex // guards below; never held over the disk, the hub asks under its own lock
	filed   map[K]E
	own     map[K]change[E] // that are in no file yet
	changes uint64
}

// change is an entry that was put (or, with gone, dropped) by this hub as its nth change.
type change[E any] struct {
	entry E
	gone  bool
	n     uint64
}

func (k *kept[K, E]) get(key K) (E, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.getLocked(key)
}

func (k *kept[K, E]) getLocked(key K) (E, bool) {
	if c, ok := k.own[key]; ok {
		return c.entry, !c.gone
	}
	e, ok := k.filed[key]
	return e, ok
}

// all gives a copy of what is known.
func (k *kept[K, E]) all() map[K]E {
	k.mu.Lock()
	defer k.mu.Unlock()
	entries, _ := k.withOwn(k.filed)
	return entries
}

// withOwn gives entries with this hub's changes, and the number of the latest of them. k.mu is held.
func (k *kept[K, E]) withOwn(entries map[K]E) (map[K]E, uint64) {
	entries = maps.Clone(entries)
	if entries == nil {
		entries = map[K]E{}
	}
	for key, c := range k.own {
		if c.gone {
			delete(entries, key)
		} else {
			entries[key] = c.entry
		}
	}
	return entries, k.changes
}

// put makes an entry hold at once, in memory; save writes it.
func (k *kept[K, E]) put(key K, entry E) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.change(key, change[E]{entry: entry})
}

// putNew is put if there is no entry; it gives the one that holds then.
func (k *kept[K, E]) putNew(key K, entry E) E {
	k.mu.Lock()
	defer k.mu.Unlock()
	if e, ok := k.getLocked(key); ok {
		return e
	}
	k.change(key, change[E]{entry: entry})
	return entry
}

// drop takes the entries that match out, in memory, and tells how many there were; save writes that.
func (k *kept[K, E]) drop(match func(K, E) bool) (dropped int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	entries, _ := k.withOwn(k.filed)
	for key, e := range entries {
		if match(key, e) {
			k.change(key, change[E]{gone: true})
			dropped++
		}
	}
	return dropped
}

// change: k.mu is held.
func (k *kept[K, E]) change(key K, c change[E]) {
	k.changes++
	c.n = k.changes
	if k.own == nil {
		k.own = map[K]change[E]{}
	}
	k.own[key] = c
}

// refresh takes up what other hubs have written. The text is read each time and understood only when it is another one.
func (k *kept[K, E]) refresh() {
	k.disk.Lock()
	defer k.disk.Unlock()
	text, err := k.file.Read()
	if err == nil {
		if k.looked && bytes.Equal(text, k.text) {
			return
		}
		k.looked, k.text = true, text
		var entries map[K]E
		if entries, err = k.decode(text); err == nil {
			k.unread = false
			k.mu.Lock()
			k.filed = entries
			k.mu.Unlock()
			return
		}
	}
	if !k.unread { // what was known before still holds
		k.unread = true
		k.log.Warn("kept "+k.what+" could not be read", "error", err.Error())
	}
}

var errUnreadable = errors.New("the file holds something that this hub cannot read")

// save writes what no file has yet, if there is anything.
func (k *kept[K, E]) save() {
	k.disk.Lock()
	defer k.disk.Unlock()
	k.mu.Lock()
	pending := len(k.own) > 0
	k.mu.Unlock()
	if !pending {
		return
	}
	var safe []byte // unreadable, and kept elsewhere by now
	var err error
	for range 3 { // unreadable texts may take turns
		var strange []byte
		if strange, err = k.write(safe); !errors.Is(err, errUnreadable) {
			break
		}
		digest := sha256.Sum256(strange)
		if err = k.aside(hex.EncodeToString(digest[:4])).Update(func([]byte) ([]byte, error) { return strange, nil }); err != nil {
			break
		}
		k.log.Warn("kept "+k.what+" that could not be read were set aside", "digest", hex.EncodeToString(digest[:4]))
		safe = strange
	}
	switch {
	case err == nil:
		k.unwritten = false
	case !k.unwritten:
		k.unwritten = true
		k.log.Warn("kept "+k.what+" could not be written: what is new is remembered until the hub ends", "error", err.Error())
	}
}

// write puts this hub's changes into the file. errUnreadable: strange is what is there; with safe equal to it, it is replaced. k.disk is held.
func (k *kept[K, E]) write(safe []byte) (strange []byte, err error) {
	var text []byte
	var entries map[K]E
	var upTo uint64
	err = k.file.Update(func(old []byte) ([]byte, error) {
		found, err := k.decode(old)
		if err != nil && (safe == nil || !bytes.Equal(old, safe)) {
			strange = bytes.Clone(old)
			return nil, errUnreadable
		}
		k.mu.Lock()
		if err != nil {
			found = k.filed // as it was when it could be read
		}
		entries, upTo = k.withOwn(found)
		k.mu.Unlock()
		text, err = k.encode(entries)
		return text, err
	})
	if strange != nil {
		return strange, errUnreadable
	}
	if err != nil {
		return nil, err
	}
	k.looked, k.text = true, text
	k.mu.Lock()
	defer k.mu.Unlock()
	k.filed = entries
	for key, c := range k.own {
		if c.n <= upTo {
			delete(k.own, key)
		}
	}
	return nil, nil
}
