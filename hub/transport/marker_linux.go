package transport

import (
	"time"

	"golang.org/x/sys/unix"
)

// marked gives the living processes that carry the needle. consider picks those
// whose environment is worth a look; nil means everybody. Where it is somebody
// else's process, its environment cannot be read and it is passed over.
//
// settled is false when a process was seen in the middle of exec, where it has no
// environment for a moment: look again.
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

// midExec looks again, since most of those without an environment have ended.
func midExec(pid int) bool {
	buf := make([]byte, 1024)
	s, ok := parseStat(buf[:readInto(buf, procPath(pid, "stat"))])
	return ok && s.living() && s.envEnd == 0
}

// signalMarked signals a process if it still carries the needle. The descriptor is
// opened before the second look, so the signal cannot go to a process that got
// the number in between.
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

// cleanLooks is how many looks in a row must find nobody. One does not do: /proc
// is read by rising numbers, and a fork during the look may get a lower one.
const cleanLooks = 3

// sweepMarked kills everything that carries a hub's marker. It reports how many it
// found, and whether nobody was left before the limit.
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
