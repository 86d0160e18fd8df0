package doortest

import (
	"os"
	"time"

	"github.com/mcphub-go/mcphub/internal/faketime"
)

// endAll removes the programs, which Windows does not allow while a process of one runs. If that fails for long, a
// process is left; it cannot say which one.
func (p *Place) endAll() {
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	bound := time.After(faketime.Long)
	for _, path := range p.programs {
		for removed := false; !removed; {
			err := os.Remove(path)
			if err == nil { // it may stay, and so its folder, while a process has it open
				_, err = os.Lstat(path)
			}
			if removed = os.IsNotExist(err); removed {
				break
			}
			select {
			case <-again.C:
			case <-bound:
				p.t.Errorf("a process of %s is left, or its file: %v", path, err)
				return
			}
		}
	}
}
