package transport

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// sweepPatience bounds how long the start of a hub waits for the end of what a
// dead hub left.
const sweepPatience = 2 * time.Second

// maxLedger bounds what is read of a file that anybody may have put there.
const maxLedger = 4 << 20

// Sweep ends what dead hubs left behind, as their files say, and removes the files.
// It is called once, before this hub starts its first server; it takes some
// milliseconds when there is nothing, and at most two seconds for each dead hub.
// It returns how many processes it found by marker, and groups by number.
//
// A file belongs to the hub that its name says. Those of living hubs are left
// alone, whatever they hold, and so are those of hubs whose processes cannot be
// seen from here (another container with the same home directory).
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
		if temp { // a hub died while it wrote; the file before it is whole
			_ = os.Remove(path)
			continue
		}
		st, err := readLedger(path, hub)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue // another hub was quicker
		case err != nil:
			l.log.Warn("a ledger of server processes makes no sense and is removed", "file", path, "error", err.Error())
		case st.Boot != l.st.Boot:
			if sameBoot(st.Boot, l.st.Boot) {
				continue // another world of process numbers: its hub may well live
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

// sweepHub ends what runs of a hub that is dead.
func sweepHub(st ledgerFile) (ended int, clean bool) {
	for _, g := range st.Groups {
		// Unlike a guard's, this knowledge may be days old: a number counts only
		// as long as the process that it was given to has it. What is left of a
		// group without its leader is found by its marker.
		switch g.sight() {
		case present, remains:
			killGroup(g.PID)
			ended++
		}
		notedCgroup(g.Cgroup, st.Marker).kill()
	}
	n, clean := sweepMarked(st.Marker, sweepPatience)
	for _, g := range st.Groups {
		notedCgroup(g.Cgroup, st.Marker).remove()
	}
	return ended + n, clean
}

// ledgerOwner reads the hub out of a file's name.
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
		return st, errors.New("it is no JSON of a ledger") // the decoder's words quote the file
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
