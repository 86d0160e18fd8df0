package ipc

import (
	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
)

// shares counts what waits for a window, by server. A server may have at most as much as is then left free for others,
// so that there is always room for another server (package bounds, rule 3). The zero value is empty.
type shares struct {
	all load
	of  map[string]load
}

// take counts one more entry of a server. It returns false, and counts nothing, if that exceeds the server's share.
func (s *shares) take(server string, size, maxEntries, maxBytes int) bool {
	mine := s.of[server]
	if mine.entries >= maxEntries-s.all.entries || mine.entries > 0 && mine.bytes+size > maxBytes-s.all.bytes ||
		s.all.bytes+size > maxBytes {
		return false
	}
	if s.of == nil {
		s.of = make(map[string]load)
	}
	mine.add(size)
	s.of[server] = mine
	s.all.add(size)
	return true
}

// give reverses one take.
func (s *shares) give(server string, size int) {
	mine := s.of[server]
	mine.remove(size)
	if mine.entries == 0 {
		delete(s.of, server)
	} else {
		s.of[server] = mine
	}
	s.all.remove(size)
}

// shelf holds the log messages that wait for a window. The zero value is empty.
type shelf struct {
	queue fifo[*sharedEvent]
	held  shares
}

func (l *shelf) len() int { return l.queue.len() }

// put queues a log message, unless its server has used its share or the window's account has no room.
func (l *shelf) put(e *sharedEvent, on *bounds.Account) bool {
	server, size := serverOfLog(e), event.PayloadSize(e.event.Body)
	if !l.held.take(server, size, bounds.WindowLogs, bounds.WindowLogBytes) {
		return false
	}
	if on.Take(size) != nil {
		l.held.give(server, size)
		return false
	}
	l.queue.push(e)
	return true
}

// next removes and returns the oldest message, nil if there is none.
func (l *shelf) next(on *bounds.Account) *sharedEvent {
	if l.queue.len() == 0 {
		return nil
	}
	e := l.queue.pop()
	size := event.PayloadSize(e.event.Body)
	l.held.give(serverOfLog(e), size)
	on.Give(size)
	return e
}

func serverOfLog(e *sharedEvent) string {
	if m, ok := e.event.Body.(*event.LogMessage); ok {
		return m.Server
	}
	return ""
}
