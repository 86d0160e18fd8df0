package plugin

import (
	"os"
	"syscall"
	"testing"
)

// TestHangupIsNoSecondSignal: a SIGHUP after SIGTERM does not end the wait for the close; a second SIGTERM does.
func TestHangupIsNoSecondSignal(t *testing.T) {
	in := make(chan os.Signal) // unbuffered: when a signal is taken, the one before it has been handled
	w := &signalWatch{end: make(chan os.Signal, 1), again: make(chan struct{}), in: in, quit: make(chan struct{}),
		ended: make(chan struct{})}
	go w.run()
	defer w.stop()
	for _, s := range []os.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGHUP} {
		in <- s
	}
	if first := <-w.end; first != syscall.SIGTERM {
		t.Errorf("the first signal is %v, want SIGTERM", first)
	}
	select {
	case <-w.again:
		t.Error("SIGHUP counts as a second SIGTERM")
	default:
	}
	in <- syscall.SIGTERM
	<-w.again
}
