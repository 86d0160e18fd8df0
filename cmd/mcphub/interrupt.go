package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

var errInterrupted = errors.New("interrupted")

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

// onInterrupt calls then once, at the first signal. stop ends that and waits for the goroutine. A signal that was not
// received stays in the channel.
func onInterrupt(signals <-chan os.Signal, then func()) (stop func()) {
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

// interruptible returns a context that ends with the cause errInterrupted at the first interrupt. stop must be called.
func (e environment) interruptible() (ctx context.Context, stop func()) {
	signals, stopSignals := e.interrupts()
	ctx, cancel := context.WithCancelCause(context.Background())
	stopWatch := onInterrupt(signals, func() { cancel(errInterrupted) })
	return ctx, func() {
		stopSignals()
		stopWatch()
		cancel(nil)
	}
}
