package longtext

import (
	"bytes"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// onRequest reports whether the system provides large pages to programs that ask for them, the setting of most
// distributions. Where all programs or none get them, there is no need to ask.
var onRequest = sync.OnceValue(func() bool {
	setting, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled")
	return err == nil && bytes.Contains(setting, []byte("[madvise]"))
})

// advise asks for large pages for memory, or withdraws that. It is advice: if the kernel ignores it, only the time
// differs.
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
