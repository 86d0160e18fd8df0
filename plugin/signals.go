package plugin

import (
	"os"
	"os/signal"
	"syscall"
)

// signalWatch turns signals into the two events that they may mean for the hub.
type signalWatch struct {
	end   chan os.Signal // the first SIGTERM or SIGHUP; buffered
	again chan struct{}  // closed at the second SIGTERM
	in    chan os.Signal
	pipes chan os.Signal
	quit  chan struct{}
	ended chan struct{}
}

// watchSignals starts to watch signals. The caller must stop it.
//
// SIGHUP counts like SIGTERM, unless the process was started with SIGHUP ignored (nohup). When a terminal closes, the
// hub's child processes get no SIGHUP, because they are in process groups of their own. SIGHUP never counts as the
// second signal, since some senders send both signals in a row.
//
// SIGPIPE on standard output or error would end the process before any clean-up, at the first log line after the host's
// death. The signal is caught and not read. It is not ignored, since every MCP server would inherit an ignored signal.
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

// stop restores the default action of SIGTERM and SIGHUP. SIGPIPE stays caught, since the process may still log.
func (w *signalWatch) stop() {
	signal.Stop(w.in)
	close(w.quit)
	<-w.ended
}
