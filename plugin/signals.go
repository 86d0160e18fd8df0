package plugin

import (
	"os"
	"os/signal"
	"syscall"
)

// signalWatch turns signals into the two things that they can mean here.
type signalWatch struct {
	end   chan os.Signal // the first SIGTERM or SIGHUP; buffered
	again chan struct{}  // closed at the second SIGTERM
	in    chan os.Signal
	pipes chan os.Signal
	quit  chan struct{}
	ended chan struct{}
}

// watchSignals starts to watch. The caller stops it.
//
// SIGHUP counts like SIGTERM, unless the process was started with it ignored (nohup): when a terminal closes, the hub's
// children are in groups of their own and would not hear of it. It never counts as the second signal, for some senders
// send both in a row.
//
// SIGPIPE on standard output or error would end the process before any clean-up, at the first log line after the host's
// death. It is caught and not read rather than ignored, since an ignored signal would be inherited by every MCP server.
func watchSignals() *signalWatch {
	w := &signalWatch{
		end:   make(chan os.Signal, 1),
		again: make(chan struct{}),
		in:    make(chan os.Signal, 8),
		pipes: make(chan os.Signal, 1),
		quit:  make(chan struct{}),
		ended: make(chan struct{}),
	}
	signal.Notify(w.pipes, syscall.SIGPIPE)
	signal.Notify(w.in, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(w.in, syscall.SIGHUP)
	}
	go w.run()
	return w
}

func (w *signalWatch) run() {
	defer close(w.ended)
	asked, terms := false, 0
	for {
		select {
		case s := <-w.in:
			if !asked {
				asked = true
				w.end <- s
			}
			if s == syscall.SIGTERM {
				if terms++; terms == 2 {
					close(w.again)
				}
			}
		case <-w.quit:
			return
		}
	}
}

// stop gives SIGTERM and SIGHUP back their meaning. SIGPIPE stays caught: what is left of the process may still log.
func (w *signalWatch) stop() {
	signal.Stop(w.in)
	close(w.quit)
	<-w.ended
}
