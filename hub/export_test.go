package hub

import (
	"fmt"
	"time"
)

// Leftovers tells what a hub still keeps that belongs to nothing any more; "" is as it should be when no call is open. For tests.
func (h *Hub) Leftovers() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	text := ""
	add := func(what string, n int) {
		if n != 0 {
			text += fmt.Sprintf("%d %s; ", n, what)
		}
	}
	add("requests", len(h.requests))
	add("prompts", len(h.prompts))
	early := 0
	for _, e := range h.early {
		if time.Now().Before(e.until) {
			early++
		}
	}
	add("early cancels", early)
	for _, s := range h.servers {
		add("users of "+s.name, s.users)
		if s.listing != nil {
			add("listings of "+s.name, 1)
		}
		if s.conn != nil {
			add("wire requests of "+s.name, len(s.conn.session.Pending()))
			add("open calls of "+s.name, s.conn.session.InFlight())
		}
	}
	return text
}
