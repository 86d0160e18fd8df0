package process

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"sync"

	"github.com/mcphub-go/mcphub/hub/statefile"
)

// Ledger is a file that lists the processes of a hub. If a hub is killed together with its guard, the next hub ends
// these processes. The file holds process numbers, start times, the names of programs and the hub's marker,
// but no arguments and no environment.
//
// The methods may be called from any goroutine. None of them fails: if the file cannot be written, that is logged once,
// and everything else works without it.
type Ledger struct {
	dir   string // empty: no ledger
	self  ident
	log   *slog.Logger
	write func(path string, data []byte) error

	mu      sync.Mutex
	st      ledgerFile            // guarded by mu; Groups is filled in when it is written
	groups  map[ident]groupRecord // guarded by mu
	dirty   bool                  // guarded by mu: st or groups changed since they were written
	writing bool                  // guarded by mu: a goroutine is writing, and will look at dirty again
	told    bool                  // guarded by mu: a failure was logged
}

// ledgerFile is the content of a file.
type ledgerFile struct {
	Boot   string        `json:"boot"`
	Hub    ident         `json:"hub"`
	Marker string        `json:"marker"`
	Groups []groupRecord `json:"groups"`
}

// OpenLedger returns the ledger of this process in the folder "processes" of dir, the hub's state directory. If dir is
// "", the ledger does nothing. Nothing is written before the first server starts, and the folder need not exist.
func OpenLedger(dir string, log *slog.Logger) *Ledger {
	l := &Ledger{log: log, write: replaceFile, groups: make(map[ident]groupRecord)}
	self, err := identify(os.Getpid())
	if dir == "" || err != nil { // without an identity, the ledger could not be verified
		return l
	}
	l.dir, l.self = filepath.Join(dir, "processes"), self
	l.st = ledgerFile{Boot: bootID(), Hub: self}
	return l
}

// begin records the hub's marker, by which the next hub can find its processes.
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

// change applies f, which reports whether it changed anything, and writes the file. Of concurrent callers, one writes
// for all, without holding mu. The others do not wait.
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

// close removes the file, unless a process still runs, for the next hub to end. Nothing may be recorded after close.
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

// replaceFile does not sync the file: after a crash of the system there are no processes to find.
func replaceFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return statefile.Replacement{Beside: path + temporary, Volatile: true}.Replace(path, data)
}

// temporary is the suffix of a file that is being written. The name before it is that of the ledger, so that Sweep
// knows the hub that it belongs to.
const temporary = ".tmp"
