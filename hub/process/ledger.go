package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

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

// sweepPatience bounds how long the start of a hub waits for the processes of one dead hub to end.
const sweepPatience = 2 * time.Second

// maxLedger bounds how many bytes of a ledger are read, since anybody may have put the file there.
const maxLedger = 4 << 20

// Sweep ends the processes that dead hubs left behind, according to their ledgers, and removes these files. It is
// called once, before this hub starts its first server. It takes a few milliseconds if there is nothing to do, and at
// most two seconds for each dead hub. It returns how many processes it found by marker plus how many groups it found by
// number.
//
// A file belongs to the hub that its name identifies. Sweep leaves the files of living hubs alone, whatever they hold,
// and those of hubs whose processes cannot be seen from here (in another container with the same home directory).
func (l *Ledger) Sweep() int {
	if l.dir == "" {
		return 0
	}
	entries, err := os.ReadDir(l.dir)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			l.log.Warn("the ledgers of earlier hubs cannot be read", "dir", l.dir, "error", cause(err).Error())
		}
		return 0
	}
	ended := 0
	for _, e := range entries {
		hub, temp, ok := ledgerOwner(e.Name())
		if !ok || !e.Type().IsRegular() {
			continue // not one of ours
		}
		switch hub.sight() {
		case present, unknown:
			continue
		}
		path := filepath.Join(l.dir, e.Name())
		if temp { // its hub died while writing it; the file that it was to replace is whole
			_ = os.Remove(path)
			continue
		}
		st, err := readLedger(path, hub)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue // another hub has removed it
		case err != nil:
			l.log.Warn("a ledger of server processes makes no sense and is removed", "file", path, "error", err.Error())
		case st.Boot != l.st.Boot:
			if sameBoot(st.Boot, l.st.Boot) {
				continue // another PID namespace: its hub may be alive
			}
		default:
			n, clean := sweepHub(st)
			ended += n
			if n > 0 {
				l.log.Info("processes that an earlier hub left behind were ended", "hub_pid", hub.PID, "found", n)
			}
			if !clean {
				l.log.Warn("some processes of an earlier hub do not end; the next start tries again", "hub_pid", hub.PID)
				continue
			}
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			l.log.Warn("the ledger of an earlier hub cannot be removed", "file", path, "error", cause(err).Error())
		}
	}
	return ended
}

// sweepHub ends the processes that a dead hub left behind. clean reports whether it found all of them ended.
func sweepHub(st ledgerFile) (ended int, clean bool) {
	for _, g := range st.Groups {
		// Unlike what a guard knows, a ledger may be days old: a number counts only if the process that the ledger names
		// still has it. A group that lost its leader is found by its marker.
		switch g.sight() {
		case present, remains:
			killGroup(g.PID)
			ended++
		}
	}
	n, clean := sweepMarked(st.Marker, sweepPatience)
	return ended + n, clean
}

// ledgerOwner returns the hub that the name of a file identifies. temp reports whether the name is that of a temporary
// file.
func ledgerOwner(name string) (hub ident, temp, ok bool) {
	name, temp = strings.CutSuffix(name, temporary)
	if _, err := fmt.Sscanf(name, "%d-%d.json", &hub.PID, &hub.Start); err != nil || hub.PID <= 0 {
		return hub, temp, false
	}
	return hub, temp, ledgerName(hub) == name
}

func readLedger(path string, hub ident) (st ledgerFile, err error) {
	f, err := os.Open(path)
	if err != nil {
		return st, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxLedger))
	if err != nil {
		return st, cause(err)
	}
	if err := json.Unmarshal(data, &st); err != nil {
		return st, errors.New("it is no JSON of a ledger") // the decoder's error quotes the file
	}
	if st.Hub != hub || !validMarker(st.Marker) {
		return st, errors.New("it does not say whose it is")
	}
	for _, g := range st.Groups {
		if g.PID <= 1 {
			return st, errors.New("it holds a number that no server can have")
		}
	}
	return st, nil
}

// sameBoot compares the first words of two boot ids: see bootID.
func sameBoot(a, b string) bool {
	a, _, _ = strings.Cut(a, " ")
	b, _, _ = strings.Cut(b, " ")
	return a == b
}
