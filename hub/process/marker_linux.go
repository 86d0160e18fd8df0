package process

import (
	"time"

	"golang.org/x/sys/unix"
)

// marked returns the living processes whose environment holds needle. consider selects the processes whose environment
// is read; nil selects all. Processes of other users are skipped, since their environment cannot be read.
//
// settled is false if a process was seen in the middle of exec, when it has no environment for a moment. The caller
// then has to look again.
func marked(needle string, consider func(procStat) bool) (found []procStat, settled bool, err error) {
	var candidates []procStat
	err = eachProcess(func(s procStat) {
		if s.living() && !s.kernel && (consider == nil || consider(s)) {
			candidates = append(candidates, s)
		}
	})
	if err != nil {
		return nil, true, err
	}
	settled = true
	for _, s := range candidates {
		yes, n, err := environHolds(s.pid, needle)
		switch {
		case yes:
			found = append(found, s)
		case err == nil && n == 0 && s.envEnd == 0:
			settled = settled && !midExec(s.pid)
		}
	}
	return found, settled, nil
}

// midExec reports whether a process is in the middle of exec. It reads the state again, since most processes without an
// environment have ended.
func midExec(pid int) bool {
	buf := make([]byte, 1024)
	s, ok := parseStat(buf[:readInto(buf, procPath(pid, "stat"))])
	return ok && s.living() && s.envEnd == 0
}

// signalMarked signals a process if its environment still holds needle. The descriptor is opened before that check, so
// that the signal cannot reach another process that was given the number in between.
func signalMarked(pid int, needle string, signals ...unix.Signal) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err == unix.ENOSYS { // before Linux 5.3
		if yes, _, _ := environHolds(pid, needle); yes {
			for _, s := range signals {
				_ = unix.Kill(pid, s)
			}
		}
		return
	}
	if err != nil {
		return
	}
	defer func() { _ = unix.Close(fd) }()
	if yes, _, _ := environHolds(pid, needle); yes {
		for _, s := range signals {
			_ = unix.PidfdSendSignal(fd, s, nil, 0)
		}
	}
}

// cleanLooks is how many scans of /proc in a row must find no process. One scan is not enough: /proc is read in the
// order of the numbers, and a process that is forked during the scan may have a lower number.
const cleanLooks = 3

// sweepMarked kills all processes that carry the marker of a hub, for at most limit. ended is how many it found, and
// clean reports whether none was left in the end.
func sweepMarked(hub string, limit time.Duration) (ended int, clean bool) {
	needle := hubNeedle(hub)
	seen := map[ident]bool{}
	end := time.Now().Add(limit)
	for quiet := 0; ; {
		found, settled, err := marked(needle, nil)
		if err != nil {
			return len(seen), false
		}
		for _, s := range found {
			seen[ident{s.pid, s.start}] = true
			signalMarked(s.pid, needle, unix.SIGKILL)
		}
		if quiet++; len(found) > 0 || !settled {
			quiet = 0
		}
		if quiet == cleanLooks {
			return len(seen), true
		}
		if time.Now().After(end) {
			return len(seen), false
		}
		time.Sleep(5 * time.Millisecond)
	}
}
