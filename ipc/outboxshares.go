package ipc

import "github.com/mcphub-go/mcphub/hub/bounds"

// shares counts what waits for a window of one kind, by server. One server may have a quarter of it. The zero value is
// empty.
type shares struct {
	all load
	of  map[string]load
}

// take counts one more entry of a server, and takes its size from on. It returns false, and counts nothing, if that
// exceeds a quarter of most for the server, most for all, or what on has left.
func (s *shares) take(server string, size int, most load, on *bounds.Account) bool {
	mine := s.of[server]
	mine.add(size)
	if mine.entries > most.entries/4 || mine.bytes > most.bytes/4 || s.all.entries >= most.entries ||
		s.all.bytes+size > most.bytes || on.Take(size) != nil {
		return false
	}
	if s.of == nil {
		s.of = make(map[string]load)
	}
	s.of[server] = mine
	s.all.add(size)
	return true
}

// give reverses one take.
func (s *shares) give(server string, size int, on *bounds.Account) {
	mine := s.of[server]
	mine.remove(size)
	if mine.entries == 0 {
		delete(s.of, server)
	} else {
		s.of[server] = mine
	}
	s.all.remove(size)
	on.Give(size)
}
