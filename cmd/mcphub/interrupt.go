package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

var errInterrupted = errors.New("interrupted")

// notifyInterrupts delivers Ctrl-C and SIGTERM. stop ends that.
//
// A Ctrl-C reaches the whole process group of the terminal, and so the hub too; the hub ignores it and waits for its
// host, which is this process. SIGPIPE is ignored: a reader of our output that goes away must not take us down before
// the hub is closed.
func notifyInterrupts() (signals <-chan os.Signal, stop func()) {
	signal.Ignore(syscall.SIGPIPE)
	c := make(chan os.Signal, 2)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
	return c, func() { signal.Stop(c) }
}

// onInterrupt runs then once, at the first signal. stop ends the watch and waits for it; a signal that was not taken
// stays in the channel.
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

// interruptible gives a context that ends with the cause errInterrupted at the first interrupt. stop must be called.
func interruptible() (ctx context.Context, stop func()) {
	signals, stopSignals := notifyInterrupts()
	ctx, cancel := context.WithCancelCause(context.Background())
	stopWatch := onInterrupt(signals, func() { cancel(errInterrupted) })
	return ctx, func() {
		stopSignals()
		stopWatch()
		cancel(nil)
	}
}
