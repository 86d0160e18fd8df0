package door

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// ErrInterrupted is the cause of what an interrupt has ended.
var ErrInterrupted = errors.New("interrupted")

// notifyInterrupts returns a channel that gets Ctrl-C and SIGTERM. stop stops that.
//
// Ctrl-C reaches the whole process group of the terminal, and so the hub, too. The hub ignores it and waits for its
// host, which is this process. SIGPIPE is ignored: a reader of the output that goes away must not end this process
// before the hub is closed.
func notifyInterrupts() (signals <-chan os.Signal, stop func()) {
	signal.Ignore(syscall.SIGPIPE)
	c := make(chan os.Signal, 2)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
	return c, func() { signal.Stop(c) }
}

// OnInterrupt calls then once, at the first signal. stop ends that and waits for the goroutine. A signal that was not
// received stays in the channel.
func OnInterrupt(signals <-chan os.Signal, then func()) (stop func()) {
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-signals:
			then()
		case <-quit:
		}
	}()
	return func() {
		close(quit)
		<-ended
	}
}

// Interruptible returns a context that ends with the cause ErrInterrupted at the first interrupt. stop must be called.
func (f *Factory) Interruptible() (ctx context.Context, stop func()) {
	return f.interruptible(false)
}

// InterruptibleOnce is Interruptible for a command whose end may take long: a second interrupt ends the process at
// once.
func (f *Factory) InterruptibleOnce() (ctx context.Context, stop func()) {
	return f.interruptible(true)
}

func (f *Factory) interruptible(once bool) (ctx context.Context, stop func()) {
	signals, stopSignals := f.Interrupts()
	ctx, cancel := context.WithCancelCause(context.Background())
	stopWatch := OnInterrupt(signals, func() {
		cancel(ErrInterrupted)
		if once {
			stopSignals()
		}
	})
	return ctx, func() {
		stopSignals()
		stopWatch()
		cancel(nil)
	}
}
