package transport

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"sync"
)

// Ledger is a file that says which processes a hub runs, for the hub that comes
// after one that was killed together with its guard. It holds numbers, start times
// and the names of programs: no arguments, no environment.
//
// Its methods may be called from any goroutine. None of them fails: where the
// file cannot be written, that is logged once, and everything else works without.
type Ledger struct {
	dir   string // empty: no ledger
	self  ident
	log   *slog.Logger
	write func(path string, data []byte) error

	mu      sync.Mutex
	st      ledgerFile            // guarded by mu; Groups is filled in when it is written
	groups  map[ident]groupRecord // guarded by mu
	dirty   bool                  // guarded by mu: st or groups changed since they were written
	writing bool                  // guarded by mu: somebody is writing, and will see dirty
	told    bool                  // guarded by mu: a failure was logged
}

// ledgerFile is the content of a file.
type ledgerFile struct {
	Boot   string        `json:"boot"`
	Hub    ident         `json:"hub"`
	Marker string        `json:"marker"`
	Groups []groupRecord `json:"groups"`
}

// OpenLedger gives the ledger of this process in the folder "processes" of dir,
// the hub's state directory; "" means none. Nothing is written before the first
// server, and the folder need not exist.
func OpenLedger(dir string, log *slog.Logger) *Ledger {
	l := &Ledger{log: log, write: replaceFile, groups: make(map[ident]groupRecord)}
	self, err := identify(os.Getpid())
	if dir == "" || err != nil { // a ledger that cannot be checked must not be believed
		return l
	}
	l.dir, l.self = filepath.Join(dir, "processes"), self
	l.st = ledgerFile{Boot: bootID(), Hub: self}
	return l
}

// begin notes the hub's marker: from now on the processes can be found by it.
func (l *Ledger) begin(marker string) {
	l.change(func() bool {
		changed := l.st.Marker != marker
		l.st.Marker = marker
		return changed
	})
}

func (l *Ledger) started(r groupRecord) {
	l.change(func() bool { l.groups[r.ident] = r; return true })
}

func (l *Ledger) ended(r groupRecord) {
	l.change(func() bool { delete(l.groups, r.ident); return true })
}

// change applies f and writes. Of several callers one writes for all, so no lock
// is held meanwhile; the others do not wait.
func (l *Ledger) change(f func() bool) {
	if l.dir == "" {
		return
	}
	l.mu.Lock()
	l.dirty = f() || l.dirty
	for l.dirty && !l.writing {
		l.dirty, l.writing = false, true
		st := l.st
		st.Groups = slices.Collect(maps.Values(l.groups))
		sort.Slice(st.Groups, func(i, j int) bool { return st.Groups[i].PID < st.Groups[j].PID })
		l.mu.Unlock()
		err := l.save(st)
		l.mu.Lock()
		l.writing = false
		if err != nil && !l.told {
			l.told = true
			l.log.Warn("the ledger of server processes cannot be written; they are contained without it", "dir", l.dir,
				"error", cause(err).Error())
		}
	}
	l.mu.Unlock()
}

func (l *Ledger) save(st ledgerFile) error {
	data, err := json.Marshal(st)
	if err != nil {
		return err
	}
	return l.write(l.path(), data)
}

func (l *Ledger) path() string { return filepath.Join(l.dir, ledgerName(l.self)) }

func ledgerName(hub ident) string { return fmt.Sprintf("%d-%d.json", hub.PID, hub.Start) }

// close removes the file, unless something runs on that the next hub should end.
// Nothing may be noted after it.
func (l *Ledger) close() {
	if l.dir == "" {
		return
	}
	l.mu.Lock()
	left := len(l.groups)
	l.mu.Unlock()
	if left == 0 {
		_ = os.Remove(l.path())
	}
}

// replaceFile writes a file that is at every moment the old one or the new one. It
// is not synced: after a crash of the system there are no processes to find.
func replaceFile(path string, data []byte) error {
	temp := path + temporary
	err := os.WriteFile(temp, data, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		err = os.WriteFile(temp, data, 0o600)
	}
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		_ = os.Remove(temp) // half a file on a full disk
	}
	return err
}

// temporary is the ending of a file that is being written. The name before it is
// that of its hub, so a sweep knows whose it is.
const temporary = ".tmp"
