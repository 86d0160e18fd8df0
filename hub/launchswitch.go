package hub

import (
	"context"
	"fmt"
	"slices"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/servers"
)

// What a folder brings changes nothing of the user's before the user has agreed to it. So of the entries of one name
// the first one counts that needs no yes or has one; those before it wait. A yes makes the server change over at once,
// and its calls are told why they end. When a yes ends, with a window perhaps, what runs goes on; the change back comes
// when it has stopped.

// counting gives the entry that counts. When the user has agreed to none of those that need it, and there is no other,
// it is the first, which asks. h.mu is held.
func (h *Hub) counting(entries configEntries) *configEntry {
	for _, e := range entries {
		if e.form == nil || h.grants.Holds(e.form.Key) {
			return e
		}
	}
	return entries[0]
}

// countingFor is counting for a server that may run. h.mu is held.
func (h *Hub) countingFor(s *server, entries configEntries) *configEntry {
	e := h.counting(entries)
	if s != nil && s.Up() {
		if now := entries.same(s.entry); now != nil && slices.Index(entries, now) < slices.Index(entries, e) {
			return now
		}
	}
	return e
}

// settle makes s change over to the entry that counts now, if that is another one. h.mu is held.
func (h *Hub) settle(s *server) {
	if len(s.entries) < 2 || s.Life().Removed() || s.Life().Broken() || h.draining {
		return
	}
	if s.launch.asking > 0 { // a change over ends the requests of s, and so its question; consentSettled comes back to it
		return
	}
	e := h.countingFor(s, s.entries)
	if e == s.entry {
		return
	}
	why := fmt.Sprintf("the entry of this server%s counts from now on", servers.PlaceOf(&e.conf))
	if e.form != nil {
		why = fmt.Sprintf("the user agreed to the entry of this server%s, which takes the place of this one",
			servers.PlaceOf(&e.conf))
	}
	h.carryOut(step{have: s, conf: e.conf, entry: e, entries: s.entries, problems: s.Problems(), place: s.place,
		relaunch: e.key != s.entry.key, why: bounds.Printable(why)})
}

// waiting gives the entries that would count if the user agreed to them. h.mu is held.
func (s *server) waiting() configEntries {
	return s.entries[:max(0, slices.Index(s.entries, s.entry))]
}

// StartWorkspaceEntry asks for the consent to the first entry of a workspace that waits for it, and starts it in the
// place of the one that counts. It also asks a user again who has declined. Without such an entry it is StartServer.
func (h *Hub) StartWorkspaceEntry(ctx context.Context, name string) (event.ServerInfo, error) {
	s, err := h.find(name)
	if err != nil {
		return event.ServerInfo{}, err
	}
	var e *configEntry
	h.update(func() {
		if waiting := s.waiting(); len(waiting) > 0 {
			e, s.launch.declined = waiting[0], ""
		}
	})
	if e != nil {
		if err := h.consent(ctx, s, e.conf, nil, true); err != nil {
			return event.ServerInfo{}, contextError(ctx, err)
		}
	}
	return h.StartServer(ctx, name)
}
