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

// supersedeInputs closes the questions about inputs that the config has changed.
func (s *server) supersedeInputs() {
	st := s.hub.held()
	for _, p := range st.promptsInOrder() {
		if p.request.server == s && p.info.Input != nil && inputChanged(&s.conf, p.info.Input) {
			st.close(p, closing{cause: event.CauseSuperseded, origin: event.OriginHost,
				reason: "the server's config changed", action: event.ActionDismiss})
		}
	}
}

// replaceEntry makes another entry of an unchanged config the server's entry, and updates the servers beside it.
func (s *server) replaceEntry(id core.EntryID) {
	st, l := s.hub.held(), &s.launch
	to := l.entries.Find(id.File, id.Launch)
	why := fmt.Sprintf("the entry of this server%s counts from now on", placeOf(&to.Conf))
	if to.Form != nil {
		why = fmt.Sprintf("the user agreed to the entry of this server%s, which takes the place of this one",
			placeOf(&to.Conf))
	}
	why = bounds.Reason(why)
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
		counts := st.entryThatCounts(0, entries)
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

// consentsChanged is called when consents may have been given or lost, or what there is to agree to, or would be
// launched, is another.
func (st *state) consentsChanged() {
	for _, s := range slices.Clone(st.servers) { // the entry of a server may be replaced, with servers beside it
		l := &s.launch
		if now := s.now(); now.Removed || now.Refusal == nil && !slices.ContainsFunc(l.entries,
			func(e *grants.Entry) bool { return e.Form != nil || e.Refusal != nil }) {
			continue
		}
		by := st.core.Launch(s.number).AgreedBy
		st.apply(core.LaunchSeen{Server: s.number, Entries: st.hub.launchEntries(l.entries),
			AgreedHeld: by == core.Form{} || st.grants.Holds(grants.LaunchKey(s.name, by.File, by.Hash))})
		st.policyChanged(s)
	}
}

// launchEntries returns what the core needs to know of entries. It is called with the lock.
func (h *fixed) launchEntries(entries grants.Entries) (list []core.LaunchEntry) {
	for _, e := range entries {
		one := core.LaunchEntry{EntryID: entryID(e), Tools: toolRules{e.Conf.Approvals, e.Conf.Tools},
			Refusal: e.Refusal}
		if e.Form != nil {
			one.Form, one.Held = formOf(e.Form), h.grants.Holds(e.Form.Key)
		}
		list = append(list, one)
	}
	return list
}

func entryID(e *grants.Entry) core.EntryID {
	return core.EntryID{File: e.Conf.Origin.File, Launch: e.Key}
}

func formOf(f *grants.Form) core.Form { return core.Form{File: f.File, Hash: f.Hash} }

// toolRules is what an entry says of its tools.
type toolRules struct {
	approvals map[string]config.Policy
	filter    config.ToolFilter
}

func (r toolRules) Policy(tool string) event.Policy {
	return policyOf(config.PolicyIn(r.approvals, tool))
}

func (r toolRules) Visible(tool string) bool { return r.filter.Visible(tool) }

// entryThatCounts returns the entry that counts of those of one name. n is the server of that name, 0 if there is none.
func (st *state) entryThatCounts(n core.ServerNumber, entries grants.Entries) *grants.Entry {
	id := st.core.EntryThatCounts(n, st.hub.launchEntries(entries))
	return entries.Find(id.File, id.Launch)
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

// LaunchQuestion returns what a person would be asked before the server, or its first entry that waits for consent, is
// launched, and whether somebody has agreed to it already. It is nil if nobody has to be asked. It is for a host that
// shows it beside a button of its own: nobody is asked, and nothing is started.
func (h *Hub) LaunchQuestion(ctx context.Context, name string) (q *event.LaunchQuestion, agreed bool, err error) {
	form, _, err := h.launchToAllow(ctx, name)
	if form == nil || err != nil {
		return nil, false, err
	}
	return &form.Question, h.grants.Holds(form.Key), nil
}

// AllowLaunch records that a person has agreed, in a user interface of the host, to the launch with this hash, until
// the hub ends or always. An open question about it closes. It fails if something else would be launched by now, and
// does nothing if nobody has to be asked.
func (h *Hub) AllowLaunch(ctx context.Context, name, hash string,
	scope event.ApprovalScope) (event.ServerInfo, error) {
	if scope != event.ScopeOnce && scope != event.ScopeAlways {
		return event.ServerInfo{}, event.Fail(event.CodeInvalidArgument, event.ReasonInvalidRequest, nil,
			"a launch is allowed once or always: the other scopes are those of a window")
	}
	form, s, err := h.launchToAllow(ctx, name)
	if err != nil {
		return event.ServerInfo{}, err
	}
	if form != nil && form.Question.Hash != hash {
		return event.ServerInfo{}, event.Fail(event.CodeFailedPrecondition, event.ReasonLaunchChanged,
			[]string{"server", name}, "the launch of server %q is not the one that was shown: show it again", name)
	}
	var info event.ServerInfo
	h.update(func(st *state) {
		if form != nil {
			st.grants.Agree(form.Grant, scope, "")
			st.launchAgreed()
		}
		info = s.info()
	})
	h.grants.Save()
	return info, nil
}

// launchToAllow looks at what a person would be asked about a server. The form is nil if nobody has to be asked.
func (h *Hub) launchToAllow(ctx context.Context, name string) (*grants.Form, *server, error) {
	s, err := h.find(name)
	if err != nil {
		return nil, nil, err
	}
	h.refreshLaunches()
	var conf config.Server
	h.update(func(*state) {
		conf = s.conf
		if waiting := s.launch.entries.Before(s.launch.entry); len(waiting) > 0 {
			conf = waiting[0].Conf
		}
	})
	if err := s.launch.permitted(func() *event.LaunchIdentity { return h.launches.Identity(ctx, conf) }); err != nil {
		return nil, nil, err
	}
	if !conf.Origin.NeedsConsent() {
		return nil, s, nil
	}
	seen := s.launch.look(ctx, conf, nil)
	if unclear := seen.Refusal(); unclear != nil {
		return nil, nil, event.Fail(event.CodeFailedPrecondition, event.ReasonServerBroken, []string{"server", name},
			"server %q cannot be allowed: %s", name, s.launch.server.quote(unclear.Error()))
	}
	return &seen.form, s, nil
}

// launch is the set of config entries that may be launched under the name of one server. The core knows which of them
// people have agreed to, and which one counts.
type launch struct {
	server  *server       // never changes; all else is guarded by the hub's lock
	entry   *grants.Entry // the entry that counts; nil if the config entry is broken
	entries grants.Entries
	beside  []grants.Entries // the entries of each scope, under their addresses
	place   int
}

func (l *launch) hub() *Hub { return l.server.hub }

// counts returns the name of the entry that counts, the zero value if it is broken.
func (l *launch) counts() core.EntryID {
	if l.entry == nil {
		return core.EntryID{}
	}
	return entryID(l.entry)
}

// tell sets the fields of i that are about the launch.
func (l *launch) tell(i *event.ServerInfo) {
	i.Place, i.ConfigName = l.place, cmp.Or(l.of(), l.server.name)
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

func (l *launch) errDeclined(why string, conf config.Server) *event.Error {
	name := l.server.name
	return event.Fail(event.CodeFailedPrecondition, event.ReasonLaunchDeclined, []string{"server", name},
		"server %q%s was not started: %s; start the server to be asked again", name, placeOf(&conf), why)
}

// askWaiting asks for consent to the first entry that waits for it, even after the user has declined it. It is called
// without the lock.
func (l *launch) askWaiting(ctx context.Context) error {
	var e *grants.Entry
	l.hub().update(func(st *state) {
		if waiting := l.entries.Before(l.entry); len(waiting) > 0 {
			e = waiting[0]
			st.apply(core.StartOrdered{Server: l.server.number})
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
