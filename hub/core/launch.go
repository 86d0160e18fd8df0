package core

import (
	"slices"

	"github.com/mcphub-go/mcphub/hub/event"
)

// A server that its user may not have configured is launched only after a person has agreed to what would run. Several
// files may have an entry under one name: the first one counts that needs no consent, or has it.

// EntryID names an entry of the config under the name of a server: by the file that has it, and by the key of what it
// launches. It stays the same when the file is read anew.
type EntryID struct{ File, Launch string }

// Form names what there is to agree to for a launch: the file that has the entry, and the hash of what a person is
// shown. The zero value is that of an entry that needs no consent.
type Form struct{ File, Hash string }

// LaunchEntry is an entry of the config under the name of a server, as far as it counts for the launch.
type LaunchEntry struct {
	EntryID
	Form  Form // as it was at the last look
	Held  bool // a person has agreed to Form
	Tools ToolRules
	// Refusal says which rule of a managed policy refuses the launch: see JudgePolicies. nil = none. It is not changed.
	Refusal *event.LaunchRefusal
}

// ToolRules is what an entry says of its tools. It does not change. No effect depends on it, so it is nil in a record
// that is played.
type ToolRules interface {
	Policy(tool string) event.Policy // whether calls of the tool are asked about
	Visible(tool string) bool        // whether the tool is not hidden
}

func (e *LaunchEntry) mayLaunch() bool { return e.Form == Form{} || e.Held }

// launch is what may be launched under the name of a server, and what people have agreed to of it.
type launch struct {
	entries  []LaunchEntry // in the order in which they would count if people had agreed to all; none of a broken entry
	counts   EntryID       // the server's own entry
	read     uint64        // how often the entries were replaced
	asking   int           // questions whose answer was not read
	declined Form          // a person has declined it, and the host has ordered no start since
	// replaced says that EntryReplaced was ordered: ServerConfigured follows.
	replaced bool
	// agreed is what the entry said of its tools when it last needed no question, and by the form with which it was
	// agreed to; holds says that this consent has not been taken back.
	agreed ToolRules
	by     Form
	holds  bool
}

// entry returns the server's own entry, nil if it is broken.
func (l *launch) entry() *LaunchEntry { return l.find(l.counts) }

func (l *launch) find(id EntryID) *LaunchEntry {
	i := slices.IndexFunc(l.entries, func(e LaunchEntry) bool { return e.EntryID == id })
	if i < 0 {
		return nil
	}
	return &l.entries[i]
}

// mustAsk reports whether a consent is needed and has not been given.
func (l *launch) mustAsk() bool {
	e := l.entry()
	return e != nil && !e.mayLaunch()
}

// agree notes what e says of its tools, since nobody has to be asked about it.
func (l *launch) agree(e *LaunchEntry) { l.agreed, l.by, l.holds = e.Tools, e.Form, true }

// take replaces the entries, and the one that counts. relaunch says that something else is launched from now on, so
// that what was agreed to for the previous launch is forgotten.
func (l *launch) take(entries []LaunchEntry, counts EntryID, relaunch bool) {
	if e := l.entry(); relaunch {
		l.agreed = nil
	} else if e != nil && e.mayLaunch() {
		l.agree(e)
	}
	l.entries, l.counts = slices.Clone(entries), counts // an event is not changed: it may have been recorded
	l.read++
}

// EntryThatCounts returns the entry that counts of those that were read under a name. n is the server of that name, 0
// if there is none. While it is connected, its own entry stays the one that counts if that comes first.
func (s *State) EntryThatCounts(n ServerNumber, entries []LaunchEntry) EntryID {
	next := max(0, slices.IndexFunc(entries, func(e LaunchEntry) bool { return e.mayLaunch() }))
	if sv := s.servers[n]; sv != nil && sv.state == event.ServerReady {
		if own := slices.IndexFunc(entries, func(e LaunchEntry) bool { return e.EntryID == sv.launch.counts }); own >= 0 {
			next = min(next, own)
		}
	}
	return entries[next].EntryID
}

// replaceEntry lets another entry take the place of the server's entry, if it counts now, and reports that: windows are
// shown the server with the new entry then. A change cancels the requests of the server, and with them the question
// about the launch, so it waits until its answer is read.
func (s *State) replaceEntry(sv *server) bool {
	l := &sv.launch
	if l.replaced || len(l.entries) < 2 || sv.removed || sv.entry.Broken || s.draining || l.asking > 0 {
		return l.replaced
	}
	next := s.EntryThatCounts(sv.n, l.entries)
	if l.replaced = next != l.counts; l.replaced {
		s.do(EntryReplaced{sv.n, next})
	}
	return l.replaced
}

// consent returns the state of the consent to the launch.
func (s *State) consent(sv *server) event.LaunchConsent {
	e := sv.launch.entry()
	switch {
	case e == nil || sv.entry.Broken || sv.refusal != nil || e.Form == Form{}:
		return 0
	case sv.launch.asking > 0:
		return event.LaunchAsking
	case e.Held:
		return event.LaunchGiven
	case sv.launch.declined == e.Form:
		return event.LaunchDeclined
	}
	return event.LaunchNeeded
}

// launchSeen notes what people have agreed to by now.
func (s *State) launchSeen(sv *server, e *LaunchSeen) {
	sv.launch.entries, sv.launch.holds = slices.Clone(e.Entries), e.AgreedHeld
	s.judge(sv)
	s.closeDecidedForms(sv)
	if !s.replaceEntry(sv) {
		s.showNew(sv)
	}
	if own := sv.launch.entry(); own != nil && own.Held {
		s.answerPossible(sv)
	}
}

// closeDecidedForms closes the questions about forms that no entry has any more, and about those that a person has
// agreed to other than by an answer to the question: in the host's own user interface, or in another hub.
func (s *State) closeDecidedForms(sv *server) {
	for _, n := range s.Prompts() {
		p := s.prompts[n]
		if p == nil || p.form == (Form{}) || p.server != sv.n {
			continue
		}
		i := slices.IndexFunc(sv.launch.entries, func(e LaunchEntry) bool { return e.Form == p.form })
		switch {
		case i < 0:
			s.closePrompt(n, End{Cause: event.CauseSuperseded, Origin: event.OriginHost,
				Reason: "the server's config changed"})
		case sv.launch.entries[i].Held:
			s.closePrompt(n, End{Cause: event.CauseSuperseded, Origin: event.OriginUser,
				Reason: "the user has agreed to it elsewhere"})
		}
	}
}

// launchLooked decides whether what a goroutine has looked at may be launched, or whether a person is asked first.
func (s *State) launchLooked(e *LaunchLooked) {
	sv := s.servers[e.Server]
	var own *LaunchEntry
	if sv != nil {
		own = sv.launch.find(e.Entry)
	}
	switch {
	case own == nil:
		s.do(Refused{EntryGone})
		return
	case e.Read != sv.launch.read: // a consent to the earlier entry must not count for the present one
		s.do(Refused{EntryReadAnew})
		return
	case own.Form == Form{}: // meanwhile the host has declared it trusted
		s.do(Needed{})
		return
	case e.Unclear:
		s.do(Refused{LaunchUnclear})
		return
	}
	own.Form, own.Held = e.Form, e.Held
	s.closeDecidedForms(sv)
	switch {
	case e.Held:
		sv.launch.agree(own)
		s.do(Needed{})
		if !s.replaceEntry(sv) {
			s.showNew(sv)
		}
	case sv.launch.declined == e.Form:
		s.do(Refused{LaunchDeclined})
		s.showNew(sv)
	default:
		s.do(Needed{Need: NeedYes}) // the windows are shown the question next
	}
}

// isOpenTo reports whether a person could still agree to a form, or decline it.
func (s *State) isOpenTo(n ServerNumber, f Form) bool {
	sv := s.servers[n]
	return sv != nil && sv.launch.declined != f &&
		slices.ContainsFunc(sv.launch.entries, func(e LaunchEntry) bool { return e.Form == f && !e.Held })
}

// launchAsked follows the end of a question about the launch of a server.
func (s *State) launchAsked(sv *server) {
	if sv == nil {
		return
	}
	sv.launch.asking--
	if !s.replaceEntry(sv) && sv.state != event.ServerStopping { // its end is shown
		s.showNew(sv)
	}
}

// startOrdered lets a server start at once, however often it failed, and lets people be asked again about its launch.
func (s *State) startOrdered(sv *server) {
	sv.launch.declined = Form{}
	s.forgive(sv)
	s.showNew(sv)
}

// Launch is a copy of what is known of what may be launched under the name of a server.
type Launch struct {
	Consent  event.LaunchConsent
	MustAsk  bool   // a start has to ask for consent
	Read     uint64 // how often the entries were replaced
	AgreedBy Form   // with which the tools of the last launch were agreed to
}

// Launch returns what is known of the launch of a server, the zero value if the server is unknown.
func (s *State) Launch(n ServerNumber) Launch {
	sv := s.servers[n]
	if sv == nil {
		return Launch{}
	}
	return Launch{Consent: s.consent(sv), MustAsk: sv.launch.mustAsk(), Read: sv.launch.read, AgreedBy: sv.launch.by}
}

// ToolTerms returns the terms that the call of a tool needs a consent to, but for its definition. What an entry allows
// that needs a consent counts only if a person has agreed to it with the launch; what it hides or denies always counts.
func (s *State) ToolTerms(n ServerNumber, tool string) Terms {
	sv := s.servers[n]
	if sv == nil || sv.launch.entry() == nil { // nothing of it is called
		return Terms{Policy: event.PolicyAsk}
	}
	l := &sv.launch
	e := l.entry()
	t := Terms{Launch: e.Launch, Policy: e.Tools.Policy(tool), Hidden: !e.Tools.Visible(tool)}
	if !l.mustAsk() {
		return t
	}
	// The entry has changed since the start. What was agreed to is still valid if both versions allow the tool. What
	// people have agreed to about calls of a tool that was hidden or denied afterwards does not count.
	running := l.agreed != nil && sv.state == event.ServerReady
	t.Anew = running && (!l.agreed.Visible(tool) || l.agreed.Policy(tool) == event.PolicyDeny)
	if t.Policy == event.PolicyAllow && !(running && l.holds && l.agreed.Visible(tool) &&
		l.agreed.Policy(tool) == event.PolicyAllow) {
		t.Policy = event.PolicyAsk
	}
	return t
}
