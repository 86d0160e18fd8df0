package longtext

import (
	"bytes"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// onRequest tells whether the system gives large pages to those who ask, which is what most distributions set. Where
// everybody or nobody gets them, there is nothing to ask for.
var onRequest = sync.OnceValue(func() bool {
	setting, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled")
	return err == nil && bytes.Contains(setting, []byte("[madvise]"))
})

// advise asks for large pages under memory, or for no more of them. It is advice: whether it is taken changes nothing
// but the time.
func advise(memory []byte, large bool) {
	if !onRequest() {
		return
	}
	advice := unix.MADV_NOHUGEPAGE
	if large {
		advice = unix.MADV_HUGEPAGE
	}
	_ = unix.Madvise(memory, advice)
}
