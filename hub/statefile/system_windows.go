package statefile

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

func diskFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL) ||
		errors.Is(err, windows.ERROR_DISK_QUOTA_EXCEEDED)
}

func writeProtected(err error) bool { return errors.Is(err, windows.ERROR_WRITE_PROTECT) }

// A file that another program has open, most often a virus scanner, cannot be replaced at that moment.
const (
	sharingTries = 50
	sharingPause = 20 * time.Millisecond
)

func rename(from, to string) error {
	return shared(func() error { return os.Rename(from, to) })
}

func remove(path string) error { return shared(func() error { return os.Remove(path) }) }

func open(path string) (f *os.File, err error) {
	err = shared(func() (err error) {
		f, err = os.Open(path)
		return err
	})
	return f, err
}

// shared calls f again, for up to a second in all, while another program holds the file.
func shared(f func() error) error {
	for try := 1; ; try++ {
		err := f()
		held := errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_LOCK_VIOLATION) ||
			errors.Is(err, windows.ERROR_ACCESS_DENIED)
		if !held || try == sharingTries {
			return err
		}
		time.Sleep(sharingPause)
	}
}
