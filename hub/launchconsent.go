package hub

import (
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/grants"
)

// launch is what is known of the consent to start one server. Guarded by Hub.mu.
type launch struct {
	asking int // open prompts
	// the hash that the user has declined; "" = none, or the host wants the user to be asked again
	declined string
	started  *grants.Form        // what was agreed to when the server was started last
	told     event.LaunchConsent // what the windows know
}

// needsConsent tells whether a server starts only after the user has agreed: what a workspace brings, the user may not
// have written. It is the same for a URL, as headers and tokens would go there.
func needsConsent(conf config.Server) bool {
	return conf.Origin.NeedsConsent()
}

// launchKey is what there is to agree to for s, which needs consent, when somebody looked last; the zero key, to which
// nobody agrees, where there is nothing. It is asked for with each call. h.mu is held.
func (h *Hub) launchKey(s *server) grants.Key {
	if s.entry == nil || s.entry.form == nil {
		return grants.Key{}
	}
	return s.entry.form.Key
}

// agreedToLaunch tells whether a yes holds for what there is to agree to for s, which needs consent. h.mu is held.
func (h *Hub) agreedToLaunch(s *server) bool { return h.grants.Holds(h.launchKey(s)) }

// consentState is what the windows are shown. h.mu is held.
func (s *server) consentState() event.LaunchConsent {
	if !needsConsent(*s.Conf()) || s.Life().Broken() {
		return 0
	}
	key := s.hub.launchKey(s)
	switch {
	case s.launch.asking > 0:
		return event.LaunchAsking
	case s.hub.grants.Holds(key):
		return event.LaunchGiven
	case s.launch.declined == key.Hash:
		return event.LaunchDeclined
	}
	return event.LaunchNeeded
}

// consentsChanged draws the consequences where a yes may have come or gone: the windows are told, questions about tools
// that this answers are closed, and an eager server that waits for a person starts if it need not wait any more. h.mu
// is held.
func (h *Hub) consentsChanged() {
	for _, s := range h.servers {
		h.settle(s)
		if s.consentState() != s.launch.told {
			h.changed(s)
		}
		h.policyChanged(s)
		if needsConsent(*s.Conf()) && h.agreedToLaunch(s) {
			s.StartIfLonely()
		}
	}
}

// refreshLaunches takes up what another hub has been told. It may read a file: not with the lock.
func (h *Hub) refreshLaunches() {
	h.grants.Refresh(grants.Launch)
	defer h.lock().unlock()
	h.consentsChanged()
}
