package process

import (
	"errors"
	"io/fs"
	"os"
	"strings"
)

// lookUp reads /proc/N/stat. living is false for a zombie.
func lookUp(pid int) (start uint64, living bool, err error) {
	raw, err := os.ReadFile(procPath(pid, "stat"))
	if errors.Is(err, fs.ErrNotExist) || vanished(err) {
		if _, e := os.Stat("/proc/self/stat"); e != nil {
			return 0, false, e // no /proc at all, so nothing is known about any process
		}
		return 0, false, errNoProcess
	}
	if err != nil {
		return 0, false, err
	}
	s, ok := parseStat(raw)
	if !ok {
		return 0, false, fs.ErrInvalid
	}
	return s.start, s.living(), nil
}

// bootID returns a text that differs between two boots of the system, and between two PID namespaces of one boot:
// containers that share a home directory see each other's ledgers. Its first word identifies the boot.
func bootID() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + " " + space
}
