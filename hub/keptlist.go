package hub

import (
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"
)

// maxKept bounds how many answers one file keeps; the oldest go first.
const maxKept = 1000

// keptList is a list of answers in one of the hub's own files, which other hubs use as well. A file that cannot be read or written costs the
// memory of answers beyond this hub, never a call: it is logged once. Its lock may be taken with the hub's held; the file is used without either.
type keptList[T interface{ when() time.Time }] struct {
	file ownFile
	what string // for the log
	log  *slog.Logger

	mu      sync.Mutex // guards all below
	known   map[string]T
	unsaved map[string]*T // what the file did not take yet; nil: is to be gone
	saves   uint64        // counts what it took: what was read before is old
	told    bool
}

// keptFile is the form of the file.
type keptFile[T any] struct {
	Entries map[string]T `json:"entries"`
}

func openKept[T interface{ when() time.Time }](dir, name, what string, log *slog.Logger) *keptList[T] {
	file := openCheckedFile(dir, name, log, func(text []byte) error {
		_, err := decodeKept[T](text)
		return err
	})
	return &keptList[T]{file: file, what: what, log: log, known: map[string]T{}, unsaved: map[string]*T{}}
}

func (k *keptList[T]) trouble(err error) {
	k.mu.Lock()
	told := k.told
	k.told = true
	k.mu.Unlock()
	if !told {
		k.log.Warn(k.what+" are not kept for later", "error", err.Error())
	}
}

// refresh takes over what other hubs have written.
func (k *keptList[T]) refresh() {
	for !k.refreshed() {
	}
}

// refreshed reads the file; false: it was written meanwhile, by this hub.
func (k *keptList[T]) refreshed() bool {
	k.mu.Lock()
	saves := k.saves
	k.mu.Unlock()
	text, err := k.file.Read()
	var entries map[string]T
	if err == nil {
		entries, err = decodeKept[T](text)
	}
	if err != nil {
		k.trouble(err)
		return true
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.saves != saves {
		return false
	}
	k.known = entries
	for id, entry := range k.unsaved {
		if entry == nil {
			delete(k.known, id)
		} else {
			k.known[id] = *entry
		}
	}
	return true
}

func decodeKept[T any](text []byte) (map[string]T, error) {
	var f keptFile[T]
	if len(text) > 0 {
		if err := json.Unmarshal(text, &f); err != nil {
			return nil, err
		}
	}
	if f.Entries == nil {
		f.Entries = map[string]T{}
	}
	return f.Entries, nil
}

func (k *keptList[T]) get(id string) (T, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	entry, ok := k.known[id]
	return entry, ok
}

// find gives some entry that matches, nil when there is none. match must not use the list.
func (k *keptList[T]) find(match func(T) bool) *T {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, entry := range k.known {
		if match(entry) {
			return &entry
		}
	}
	return nil
}

// each visits all entries, oldest first.
func (k *keptList[T]) each(visit func(id string, entry T)) {
	k.mu.Lock()
	known := maps.Clone(k.known)
	k.mu.Unlock()
	ids := slices.SortedFunc(maps.Keys(known), func(a, b string) int { return known[a].when().Compare(known[b].when()) })
	for _, id := range ids {
		visit(id, known[id])
	}
}

// put keeps an entry.
func (k *keptList[T]) put(id string, entry T) { k.change(id, &entry) }

// remove forgets an entry; false: there was none.
func (k *keptList[T]) remove(id string) bool {
	k.refresh() // another hub may have it
	if _, ok := k.get(id); !ok {
		return false
	}
	k.change(id, nil)
	return true
}

func (k *keptList[T]) change(id string, entry *T) {
	k.mu.Lock()
	if entry == nil {
		delete(k.known, id)
	} else {
		k.known[id] = *entry
	}
	k.unsaved[id] = entry
	k.mu.Unlock()
	var unsaved map[string]*T
	err := k.file.Update(func(old []byte) ([]byte, error) {
		k.mu.Lock()
		unsaved = maps.Clone(k.unsaved) // as it is now that it is our turn
		k.mu.Unlock()
		entries, err := decodeKept[T](old)
		if err != nil {
			return nil, err // cannot be: the file's check has set such a text aside
		}
		for id, entry := range unsaved {
			if entry == nil {
				delete(entries, id)
			} else {
				entries[id] = *entry
			}
		}
		dropOldest(entries)
		return json.MarshalIndent(keptFile[T]{entries}, "", "  ")
	})
	if err != nil {
		k.trouble(err)
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.saves++
	for id, entry := range unsaved {
		if k.unsaved[id] == entry {
			delete(k.unsaved, id)
		}
	}
}

func dropOldest[T interface{ when() time.Time }](entries map[string]T) {
	if len(entries) <= maxKept {
		return
	}
	ids := slices.SortedFunc(maps.Keys(entries), func(a, b string) int { return entries[a].when().Compare(entries[b].when()) })
	for _, id := range ids[:len(ids)-maxKept] {
		delete(entries, id)
	}
}
