package launch

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/grants"
	"github.com/mcphub-go/mcphub/hub/servers"
)

// Launch is the set of config entries that may be launched under the name of one server, and the one that counts.
type Launch struct {
	*Maker
	server  *servers.Server
	owner   Owner
	entry   *Entry // the entry that counts; nil if the config entry is broken
	entries Entries
	beside  []Entries // the entries of each scope, under their addresses
	place   int

	asking int // open prompts
	// the hash of the form that the user has declined; "" if there is none, or if the host wants the user to be asked
	// again
	declined string
	agreed   *terms              // what the entry said of tools when it last needed no question
	told     event.LaunchConsent // what was last sent to the windows
}

// terms are what an entry says of its tools.
type terms struct {
	approvals map[string]config.Policy
	tools     config.ToolFilter
	by        grants.Key // of the consent to them; the zero Key if the entry needed none
}

func termsOf(e *Entry) *terms {
	t := &terms{approvals: e.Conf.Approvals, tools: e.Conf.Tools}
	if e.form != nil {
		t.by = e.form.Key
	}
	return t
}

// New returns the launch of a server, without entries.
func (m *Maker) New(s *servers.Server, owner Owner) *Launch {
	return &Launch{Maker: m, server: s, owner: owner}
}

// Server returns the server of the launch.
func (l *Launch) Server() *servers.Server { return l.server }

// Entry returns the entry that counts, or nil if the config entry is broken.
func (l *Launch) Entry() *Entry { return l.entry }

// Entries returns all entries of the name.
func (l *Launch) Entries() Entries { return l.entries }

// Place returns the server's place in the config, from 1.
func (l *Launch) Place() int { return l.place }

// Move sets the server's place in the config.
func (l *Launch) Move(place int) { l.place = place }

// Take replaces the entries of the name, and the one of them that counts. relaunch reports that something else is
// launched from now on, so that what was agreed to for the previous launch is forgotten.
func (l *Launch) Take(counts *Entry, entries Entries, relaunch bool) {
	switch {
	case relaunch:
		l.agreed = nil
	case l.entry != nil && (l.entry.form == nil || l.Grants.Holds(l.entry.form.Key)):
		l.agreed = termsOf(l.entry)
	}
	l.entry, l.entries = counts, entries
}

// Tell sets the fields of i that are about the launch.
func (l *Launch) Tell(i *event.ServerInfo) {
	i.Place, i.LaunchConsent, i.ConfigName = l.place, l.consentState(), cmp.Or(l.Of(), l.server.Name())
	waiting := len(l.entries.before(l.entry))
	for n, e := range l.entries {
		o := e.Conf.Origin
		switch at := (event.ConfigOrigin{File: o.File, Line: o.Line, Dialect: o.Dialect, Scope: o.Scope}); {
		case n < waiting:
			i.Waiting = append(i.Waiting, at)
		case e != l.entry:
			i.Shadows = append(i.Shadows, at)
		}
	}
}

// Told records the state of the consent that was sent to the windows.
func (l *Launch) Told(consent event.LaunchConsent) { l.told = consent }

// key returns the key that there was to agree to at the last look. If the entry needs no consent, it returns the zero
// key, for which there is no grant. It is called with each tool call.
func (l *Launch) key() grants.Key {
	if l.entry == nil || l.entry.form == nil {
		return grants.Key{}
	}
	return l.entry.form.Key
}

// needsConsent reports whether the server starts only after the user has agreed, because the user may not have written
// the entry, for example if it comes from a workspace. A URL needs consent, too, since headers and tokens would be sent
// there.
func (l *Launch) needsConsent() bool { return l.server.Conf().Origin.NeedsConsent() }

// MustAsk reports whether a consent is needed and has not been given.
func (l *Launch) MustAsk() bool { return l.needsConsent() && !l.Grants.Holds(l.key()) }

// consentState returns the state of the consent for windows.
func (l *Launch) consentState() event.LaunchConsent {
	if !l.needsConsent() || l.server.Broken() {
		return 0
	}
	key := l.key()
	switch {
	case l.asking > 0:
		return event.LaunchAsking
	case l.Grants.Holds(key):
		return event.LaunchGiven
	case l.declined == key.Hash:
		return event.LaunchDeclined
	}
	return event.LaunchNeeded
}

// Reconsider is called when a consent may have been given or lost. It makes another entry count, if that follows, and
// tells the windows. agreed reports whether a consent is needed and given.
func (l *Launch) Reconsider() (agreed bool) {
	l.Settle()
	if l.consentState() != l.told {
		l.owner.Changed()
	}
	return l.needsConsent() && !l.MustAsk()
}

// Asks reports whether a question with this key is about one of the entries as they are now.
func (l *Launch) Asks(k grants.Key) bool {
	return slices.ContainsFunc(l.entries, func(e *Entry) bool { return e.form != nil && e.form.Key == k })
}

// Asking returns how many questions are open.
func (l *Launch) Asking() int { return l.asking }

// Opened counts a question that has opened (+1) or closed (-1).
func (l *Launch) Opened(by int) {
	if l.asking += by; by > 0 {
		l.owner.Changed()
	}
}

// AskAgain makes the next start ask the user even if the user has declined before.
func (l *Launch) AskAgain() { l.declined = "" }

// Refusal returns the error for a caller that wants a server whose launch the user has declined, else nil.
func (l *Launch) Refusal() error {
	if l.declined == "" || l.server.Running() || l.consentState() != event.LaunchDeclined {
		return nil
	}
	return l.errDeclined("the user declined to start it", *l.server.Conf())
}

func (l *Launch) errDeclined(why string, conf config.Server) *event.Error {
	name := l.server.Name()
	return event.Fail(event.CodeFailedPrecondition, event.ReasonLaunchDeclined, []string{"server", name},
		"server %q%s was not started: %s; start the server to be asked again", name, servers.PlaceOf(&conf), why)
}

// Policy returns the approval policy of a tool. What an entry that needs consent allows counts only if the user has
// agreed to it with the launch; what it denies always counts.
func (l *Launch) Policy(tool string) config.Policy {
	p := l.server.Conf().Policy(tool)
	if p != config.Allow || !l.MustAsk() {
		return p
	}
	// The entry has changed since the start. What was agreed to is still valid if both versions allow the tool.
	if a := l.agreed; a != nil && l.server.Up() && (a.by == grants.Key{} || l.Grants.Holds(a.by)) &&
		a.tools.Visible(tool) && config.PolicyIn(a.approvals, tool) == config.Allow {
		return p
	}
	return config.Ask
}

// Widened reports whether a tool may be called only since a change of the entry that the user has not agreed to. What
// people have agreed to before about calls of the tool does not count then, since it was hidden or denied afterwards.
func (l *Launch) Widened(tool string) bool {
	a := l.agreed
	return a != nil && l.server.Up() && l.MustAsk() &&
		(!a.tools.Visible(tool) || config.PolicyIn(a.approvals, tool) == config.Deny)
}

// counting returns the entry that counts. If every entry needs consent and none has it, that is the first one, about
// which the user is asked.
func (m *Maker) counting(entries Entries) *Entry {
	for _, e := range entries {
		if e.form == nil || m.Grants.Holds(e.form.Key) {
			return e
		}
	}
	return entries[0]
}

// Counting returns the entry that counts for a server that may be running. l is nil if there is no launch of the server
// yet.
func (m *Maker) Counting(l *Launch, entries Entries) *Entry {
	e := m.counting(entries)
	if l != nil && l.server.Up() {
		if now := entries.same(l.entry); now != nil && slices.Index(entries, now) < slices.Index(entries, e) {
			return now
		}
	}
	return e
}

// Settle makes the entry that counts now the server's entry, if it is another one.
func (l *Launch) Settle() {
	if len(l.entries) < 2 || l.server.Removed() || l.server.Broken() || l.House.Draining() {
		return
	}
	if l.asking > 0 { // a change would cancel the server's requests, and thereby its question; settled calls Settle again
		return
	}
	e := l.Counting(l, l.entries)
	if e == l.entry {
		return
	}
	why := fmt.Sprintf("the entry of this server%s counts from now on", servers.PlaceOf(&e.Conf))
	if e.form != nil {
		why = fmt.Sprintf("the user agreed to the entry of this server%s, which takes the place of this one",
			servers.PlaceOf(&e.Conf))
	}
	l.owner.Switch(e, bounds.Reason(why))
}

// AskWaiting asks for consent to the first entry that waits for it, even after the user has declined it. It is called
// without the lock.
func (l *Launch) AskWaiting(ctx context.Context) error {
	var e *Entry
	l.House.Update(func() {
		if waiting := l.entries.before(l.entry); len(waiting) > 0 {
			e, l.declined = waiting[0], ""
		}
	})
	if e == nil {
		return nil
	}
	return l.consent(ctx, e.Conf, nil, true)
}
