package hub

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/grants"
	"github.com/mcphub-go/mcphub/hub/process"
)

// askLaunch asks a person whether the server may be launched as f says. It returns how the question closed; a Yes has
// been stored then.
func (h *Hub) askLaunch(ctx context.Context, s *server, f *grants.Form, t *search,
	byHand bool) (event.PromptCause, error) {
	answer, err := h.askAboutServer(ctx, s, &serverQuestion{
		info: event.PromptInfo{Kind: event.PromptServerLaunch, Launch: &f.Question}, launch: f, with: t,
		byHand: func() bool { return byHand },
		told:   s.launch.opened,
	})
	if err != nil {
		return 0, ofAll(err)
	}
	return answer.cause, nil
}

// ofAll makes err, the failure of a shared question, count for all starts that wait, or only for the one that asked. A
// timeout counts for all, since all have waited for the answer. After any other error the others may still get an
// answer.
func ofAll(err error) error {
	if he, ok := errors.AsType[*event.Error](err); ok && he.Reason == event.ReasonHumanTimeout {
		return err
	}
	return undecided{err}
}

// supersede closes the questions about a launch or an input that the config has changed.
func (s *server) supersede() {
	st := s.hub.held()
	for _, p := range st.promptsInOrder() {
		if p.request.server != s {
			continue
		}
		old := p.launch != nil && !s.launch.asks(p.launch.Key)
		if p.info.Input != nil {
			old = inputChanged(&s.conf, p.info.Input)
		}
		if old {
			st.close(p, closing{cause: event.CauseSuperseded, origin: event.OriginHost,
				reason: "the server's config changed", action: event.ActionDismiss})
		}
	}
}

// switchTo makes another entry of an unchanged config the server's entry, and updates the servers beside it.
func (s *server) switchTo(to *grants.Entry, why string) {
	st, l := s.hub.held(), &s.launch
	st.changeServer(s, configStep{have: s, conf: to.Conf, entry: to, entries: l.entries, beside: l.beside,
		problems: s.problems, place: l.place, relaunch: to.Key != l.entry.Key, why: why})
	st.arrangeBeside(s, why)
}

// arrangeBeside adds and removes servers beside s, until they are those that its launch names.
func (st *state) arrangeBeside(s *server, why string) {
	wanted := s.launch.others()
	have := st.besides(s)
	missing := wanted[:0:0]
	for _, entries := range wanted {
		if !slices.ContainsFunc(have, func(b *server) bool { return b.name == entries[0].Conf.Name }) {
			missing = append(missing, entries)
		}
	}
	for _, b := range have {
		if !slices.ContainsFunc(wanted, func(e grants.Entries) bool { return e[0].Conf.Name == b.name }) {
			st.removeServer(b, why)
		}
	}
	for _, entries := range missing {
		counts := st.counting(nil, entries)
		st.addServer(configStep{conf: counts.Conf, entry: counts, entries: entries, place: s.launch.place})
	}
	at := map[string]int{}
	for _, one := range st.servers {
		if one.removed() || one.launch.of() == s.name {
			continue
		}
		at[one.name] = len(at) + 1
		if one != s {
			continue
		}
		for _, b := range st.besides(s) {
			if !b.removed() {
				at[b.name] = len(at) + 1
			}
		}
	}
	st.arrange(at)
}

// consentsChanged is called when consents may have been given or lost. It tells the windows, closes the questions about
// tools that no longer need an answer, and starts the eager servers that waited for a consent.
func (st *state) consentsChanged() {
	for _, s := range slices.Clone(st.servers) { // a server that switches to another entry may add and remove servers
		if s.removed() {
			continue
		}
		agreed := s.launch.reconsider()
		st.policyChanged(s)
		if agreed {
			st.apply(core.ConsentGiven{Server: s.number})
		}
	}
}

// userAnswered is called with the environment of the user's login shell. With it the hub may find programs that it
// could not find before, so that an entry may now be one that was agreed to.
func (h *Hub) userAnswered(environ []string) {
	h.redactor.Add(process.Credentials(environ)...)
	h.config.ExamineAgain(h.life)
	st := h.lock()
	defer st.unlock()
	st.consentsChanged()
}

// refreshLaunches reads the consents that were given to other hubs. It may read a file, so it is called without the
// lock.
func (h *Hub) refreshLaunches() {
	h.grants.Refresh(grants.Launch)
	st := h.lock()
	defer st.unlock()
	st.consentsChanged()
}

// StartWorkspaceEntry asks for consent to the first entry of a workspace that waits for it, even if the user has
// declined before, and starts it in place of the present entry. Without such an entry it is StartServer.
func (h *Hub) StartWorkspaceEntry(ctx context.Context, name string) (event.ServerInfo, error) {
	s, err := h.find(name)
	if err != nil {
		return event.ServerInfo{}, err
	}
	if err := s.launch.askWaiting(ctx); err != nil {
		return event.ServerInfo{}, event.StoppedWaiting(ctx, err)
	}
	return h.StartServer(ctx, name)
}

// launch is the set of config entries that may be launched under the name of one server, and the one that counts.
type launch struct {
	server  *server
	entry   *grants.Entry // the entry that counts; nil if the config entry is broken
	entries grants.Entries
	beside  []grants.Entries // the entries of each scope, under their addresses
	place   int

	asking int // open prompts
	// the hash of the form that the user has declined; "" if there is none, or if the host wants the user to be asked
	// again
	declined string
	agreed   *launchTerms        // what the entry said of tools when it last needed no question
	told     event.LaunchConsent // what was last sent to the windows
}

func (l *launch) hub() *Hub { return l.server.hub }

// changed tells the windows that something has changed of the launch.
func (l *launch) changed() { l.server.changed() }

// holds reports whether the user has agreed to what key names.
func (l *launch) holds(key grants.Key) bool { return l.hub().grants.Holds(key) }

// launchTerms are what an entry says of its tools.
type launchTerms struct {
	approvals map[string]config.Policy
	tools     config.ToolFilter
	by        grants.Key // of the consent to them; the zero Key if the entry needed none
}

func launchTermsOf(e *grants.Entry) *launchTerms {
	t := &launchTerms{approvals: e.Conf.Approvals, tools: e.Conf.Tools}
	if e.Form != nil {
		t.by = e.Form.Key
	}
	return t
}

// take replaces the entries of the name, and the one of them that counts. relaunch reports that something else is
// launched from now on, so that what was agreed to for the previous launch is forgotten.
func (l *launch) take(counts *grants.Entry, entries grants.Entries, relaunch bool) {
	switch {
	case relaunch:
		l.agreed = nil
	case l.entry != nil && (l.entry.Form == nil || l.holds(l.entry.Form.Key)):
		l.agreed = launchTermsOf(l.entry)
	}
	l.entry, l.entries = counts, entries
}

// tell sets the fields of i that are about the launch.
func (l *launch) tell(i *event.ServerInfo) {
	i.Place, i.LaunchConsent, i.ConfigName = l.place, l.consentState(), cmp.Or(l.of(), l.server.name)
	waiting := len(l.entries.Before(l.entry))
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

// key returns the key that there was to agree to at the last look. If the entry needs no consent, it returns the zero
// key, for which there is no grant. It is called with each tool call.
func (l *launch) key() grants.Key {
	if l.entry == nil || l.entry.Form == nil {
		return grants.Key{}
	}
	return l.entry.Form.Key
}

// needsConsent reports whether the server starts only after the user has agreed, because the user may not have written
// the entry, for example if it comes from a workspace. A URL needs consent, too, since headers and tokens would be sent
// there.
func (l *launch) needsConsent() bool { return l.server.conf.Origin.NeedsConsent() }

// mustAsk reports whether a consent is needed and has not been given.
func (l *launch) mustAsk() bool { return l.needsConsent() && !l.holds(l.key()) }

// consentState returns the state of the consent for windows.
func (l *launch) consentState() event.LaunchConsent {
	if !l.needsConsent() || l.server.broken() {
		return 0
	}
	key := l.key()
	switch {
	case l.asking > 0:
		return event.LaunchAsking
	case l.holds(key):
		return event.LaunchGiven
	case l.declined == key.Hash:
		return event.LaunchDeclined
	}
	return event.LaunchNeeded
}

// reconsider is called when a consent may have been given or lost. It makes another entry count, if that follows, and
// tells the windows. agreed reports whether a consent is needed and given.
func (l *launch) reconsider() (agreed bool) {
	l.settle()
	if l.consentState() != l.told {
		l.changed()
	}
	return l.needsConsent() && !l.mustAsk()
}

// asks reports whether a question with this key is about one of the entries as they are now.
func (l *launch) asks(k grants.Key) bool {
	return slices.ContainsFunc(l.entries, func(e *grants.Entry) bool { return e.Form != nil && e.Form.Key == k })
}

// opened counts a question that has opened (+1) or closed (-1).
func (l *launch) opened(by int) {
	if l.asking += by; by > 0 {
		l.changed()
	}
}

// askAgain makes the next start ask the user even if the user has declined before.
func (l *launch) askAgain() { l.declined = "" }

// refusal returns the error for a caller that wants a server whose launch the user has declined, else nil.
func (l *launch) refusal() error {
	if l.declined == "" || l.server.running() || l.consentState() != event.LaunchDeclined {
		return nil
	}
	return l.errDeclined("the user declined to start it", l.server.conf)
}

func (l *launch) errDeclined(why string, conf config.Server) *event.Error {
	name := l.server.name
	return event.Fail(event.CodeFailedPrecondition, event.ReasonLaunchDeclined, []string{"server", name},
		"server %q%s was not started: %s; start the server to be asked again", name, placeOf(&conf), why)
}

// policy returns the approval policy of a tool. What an entry that needs consent allows counts only if the user has
// agreed to it with the launch; what it denies always counts.
func (l *launch) policy(tool string) config.Policy {
	p := l.server.conf.Policy(tool)
	if p != config.Allow || !l.mustAsk() {
		return p
	}
	// The entry has changed since the start. What was agreed to is still valid if both versions allow the tool.
	if a := l.agreed; a != nil && l.server.up() && (a.by == grants.Key{} || l.holds(a.by)) &&
		a.tools.Visible(tool) && config.PolicyIn(a.approvals, tool) == config.Allow {
		return p
	}
	return config.Ask
}

// widened reports whether a tool may be called only since a change of the entry that the user has not agreed to. What
// people have agreed to before about calls of the tool does not count then, since it was hidden or denied afterwards.
func (l *launch) widened(tool string) bool {
	a := l.agreed
	return a != nil && l.server.up() && l.mustAsk() &&
		(!a.tools.Visible(tool) || config.PolicyIn(a.approvals, tool) == config.Deny)
}

// counting returns the entry that counts for a server that may be running. s is nil if there is no such server yet.
func (st *state) counting(s *server, entries grants.Entries) *grants.Entry {
	e := st.launches.Counts(entries)
	if s != nil && s.up() {
		if now := entries.Same(s.launch.entry); now != nil && slices.Index(entries, now) < slices.Index(entries, e) {
			return now
		}
	}
	return e
}

// settle makes the entry that counts now the server's entry, if it is another one.
func (l *launch) settle() {
	if len(l.entries) < 2 || l.server.removed() || l.server.broken() || l.hub().held().core.Draining() {
		return
	}
	if l.asking > 0 { // a change would cancel the server's requests, and thereby its question; settled calls Settle again
		return
	}
	e := l.hub().held().counting(l.server, l.entries)
	if e == l.entry {
		return
	}
	why := fmt.Sprintf("the entry of this server%s counts from now on", placeOf(&e.Conf))
	if e.Form != nil {
		why = fmt.Sprintf("the user agreed to the entry of this server%s, which takes the place of this one",
			placeOf(&e.Conf))
	}
	l.server.switchTo(e, bounds.Reason(why))
}

// askWaiting asks for consent to the first entry that waits for it, even after the user has declined it. It is called
// without the lock.
func (l *launch) askWaiting(ctx context.Context) error {
	var e *grants.Entry
	l.hub().within(func() {
		if waiting := l.entries.Before(l.entry); len(waiting) > 0 {
			e, l.declined = waiting[0], ""
		}
	})
	if e == nil {
		return nil
	}
	return l.consent(ctx, e.Conf, nil, true)
}

// of returns the name in the config if the launch has an address for its name, else "".
func (l *launch) of() string {
	if l.entry == nil {
		return ""
	}
	return l.entry.Of
}

// others returns the entries that are servers of their own beside this one.
func (l *launch) others() []grants.Entries {
	if l.entry == nil {
		return nil
	}
	return grants.Besides(l.entry, l.beside)
}

// all returns the entries of the name, and those of each scope.
func (l *launch) all() grants.Entries {
	all := slices.Clone(l.entries)
	for _, entries := range l.beside {
		all = append(all, entries...)
	}
	return all
}
