package process

import (
	"os"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcphub-go/mcphub/internal/faketime"
)

// The kernel sends the parent-death signal when the thread that forked ends.
// A server must not get it when the thread that called Start ends.
func TestDeathSignalIsNotFeltWhileTheHubLives_real(t *testing.T) {
	const servers = 50
	c := contained(t)
	token := newToken()
	endAll(t, token)
	var (
		wg      sync.WaitGroup
		mu      sync.Mutex
		threads []int
		ps      []*Process
	)
	for range servers {
		wg.Go(func() {
			runtime.LockOSThread() // not unlocked: the thread ends with the goroutine
			p, err := Start(Command{
				Path: "/bin/sh", Args: []string{"-c", "read wait", token},
				Env: []string{tokenVariable + "=" + token}, Grace: short, Containment: c,
			})
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			threads, ps = append(threads, unix.Gettid()), append(ps, p)
		})
	}
	wg.Wait()
	ended := 0
	for _, tid := range threads {
		if tid == os.Getpid() {
			continue // the first thread is never ended, only parked
		}
		threadGone(t, tid)
		ended++
	}
	if ended < servers/2 {
		t.Fatalf("only %d threads ended: the test shows nothing", ended)
	}
	for _, p := range ps {
		if isClosed(p.left) || !alive(p.PID()) {
			t.Errorf("server %d is gone: %v", p.PID(), p.Exit())
		}
	}
	for _, p := range ps {
		wg.Go(func() { p.Kill("enough") })
	}
	wg.Wait()
	for _, p := range ps {
		if e := p.Exit(); e.Why != "enough" {
			t.Errorf("server %d ended before: %v", p.PID(), e)
		}
	}
}

func threadGone(t *testing.T, tid int) {
	t.Helper()
	deadline := time.After(faketime.Long)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for unix.Tgkill(os.Getpid(), tid, 0) != syscall.ESRCH {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("thread %d lives on", tid)
		}
	}
}
