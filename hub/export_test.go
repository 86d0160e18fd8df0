package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"slices"
	"sync/atomic"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/grants"
	"github.com/mcphub-go/mcphub/hub/schema"
)

// EditConfig makes edit change the servers of every config that is loaded from now on, so that a test need not spell
// everything in a file.
func (h *Hub) EditConfig(edit func(*config.Server)) {
	h.config.parse = func(sources []config.Source) config.Contents {
		found := config.Read(sources)
		for i := range found.Servers {
			edit(&found.Servers[i])
		}
		return found
	}
}

// Leftovers lists what the hub keeps for open requests. If no request is open, anything but "" is a leak.
func (h *Hub) Leftovers() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	text := ""
	add := func(what string, n int) {
		if n != 0 {
			text += fmt.Sprintf("%d %s; ", n, what)
		}
	}
	add("requests", len(h.state.requests)+h.state.core.Len())
	add("prompts", len(h.state.prompts)+len(h.state.core.Prompts()))
	add("calls that wait for their turn", h.state.core.AwaitTurn())
	add("cancels on their way", len(h.deliveries.pending))
	add("shared questions", len(h.state.searches))
	for _, s := range h.state.servers {
		for what, n := range s.leftovers() {
			add(what+" of "+s.name, n)
		}
	}
	return text
}

// Seq returns the number of the latest event.
func (h *Hub) Seq() uint64 {
	defer h.lock().unlock()
	return h.windows.seq
}

// Inconsistent returns what is inconsistent in the hub's state, or "", which it must be whenever nobody holds the lock.
func (h *Hub) Inconsistent() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if wrong := h.tracesInconsistent(); wrong != "" {
		return wrong
	}
	return h.inconsistent()
}

// In tests, the invariants are checked after every critical section. A hub with many requests is checked after some
// sections only, since a check takes long.
func init() {
	var sections atomic.Uint64
	checkInvariants = func(h *Hub) string {
		n := sections.Add(1)
		if timelines := uint64(len(h.state.requests) + h.record.Kept()); n%(1+timelines/16) == 0 {
			if wrong := h.tracesInconsistent(); wrong != "" {
				return wrong + "\n" + string(debug.Stack())
			}
		}
		if size := uint64(len(h.state.requests)*(1+len(h.state.prompts)) + len(h.state.servers)); n%(1+size/16) == 0 {
			if wrong := h.inconsistent(); wrong != "" {
				return wrong + "\n" + string(debug.Stack())
			}
		}
		return ""
	}
}

func (h *Hub) inconsistent() string {
	st := &h.state
	switch {
	case st.carrying || len(st.pending) > 0 || st.making != nil || st.asking != nil:
		return "an order of the core was not carried out"
	case len(st.requests) != st.core.Len() || len(st.prompts) != len(st.core.Prompts()):
		return fmt.Sprintf("%d requests and %d prompts are kept, and %d and %d are open", len(st.requests), len(st.prompts),
			st.core.Len(), len(st.core.Prompts()))
	}
	for n, p := range st.prompts {
		r := p.request
		switch {
		case p.number != n || !st.core.Open(n) || !st.isOpen(r):
			return fmt.Sprintf("prompt %s belongs to request %s, which is over", p.id, r.id)
		case r.cause != nil:
			return fmt.Sprintf("prompt %s is open and its request %s is cancelled", p.id, r.id)
		}
		if p.agrees != nil { // a question that the policy answers is closed with the change of the policy
			now := st.core.ToolTerms(r.server.number, r.tool).Policy
			definition := r.grantKey(*p.agrees).As(grants.Definition)
			if now != p.agrees.Policy || now == event.PolicyDeny || now == event.PolicyAllow &&
				(!h.grants.HoldsForAny(definition) || h.grants.Holds(definition)) ||
				st.now(r).State != event.StateAwaitingApproval {
				return fmt.Sprintf("prompt %s of request %s, which is %s, asks for what the config answers with %s", p.id, r.id,
					st.now(r).State, now)
			}
		}
	}
	for n, r := range st.requests {
		now, ok := st.core.Request(n)
		if !ok || r.number != n || now.ID != r.id || now.Cause != r.cause || now.Server != r.server.number ||
			now.Incoming != (r.direction == event.Incoming) {
			return fmt.Sprintf("request %s is kept as %+v, and is %+v", r.id, r, now)
		}
	}
	for _, s := range h.state.servers {
		if bad := s.inconsistent(); bad != "" {
			return bad
		}
		if s.gone {
			return fmt.Sprintf("the windows were told that server %s is gone, and it is in the list", s.name)
		}
	}
	return ""
}

// EditConfs changes the configs of the present servers, as if they had been read like that.
func (h *Hub) EditConfs(edit func(*config.Server)) {
	st := h.lock()
	defer st.unlock()
	for _, s := range st.servers {
		edit(&s.conf)
		counts, entries := s.launch.entry, grants.Entries{}
		for _, e := range s.launch.entries {
			edit(&e.Conf)
			entries = append(entries, h.launches.Entries(e.Conf)...)
			if e == counts {
				counts = entries[len(entries)-1]
			}
		}
		broken := s.broken()
		s.takeEntry(configStep{conf: s.conf, entry: counts, entries: entries, beside: s.launch.beside,
			problems: s.problems, place: s.launch.place})
		st.apply(core.ServerConfigured{Server: s.number, Entry: s.entry(broken), Launch: h.launchEntries(entries),
			Counts: s.launch.counts()})
	}
}

// CountForms counts the launch forms that are made from now on, and those made while somebody held the lock. Nothing
// else may run meanwhile.
func (h *Hub) CountForms() (made, locked *atomic.Int64) {
	made, locked = &atomic.Int64{}, &atomic.Int64{}
	h.launches.OnForm = func() {
		made.Add(1)
		if !h.mu.TryLock() {
			locked.Add(1)
			return
		}
		h.mu.Unlock()
	}
	return made, locked
}

// RememberedLaunches returns the consents that Remembered lists.
func (h *Hub) RememberedLaunches() []event.Remembered {
	return slices.DeleteFunc(h.Remembered(""), func(r event.Remembered) bool { return r.Kind != event.RememberedLaunch })
}

// RememberedInputs returns the values of inputs that Remembered lists.
func (h *Hub) RememberedInputs() []event.Remembered { return h.inputs.remembered() }

// ForgetLaunch forgets one consent, and reports whether it was remembered.
func (h *Hub) ForgetLaunch(id string) bool { return h.Forget([]string{id}) == 1 }

// ForgetInput forgets the value of one input, and reports whether it was remembered.
func (h *Hub) ForgetInput(id string) bool { return h.inputs.forget(map[string]bool{id: true}) == 1 }

// Redact returns text without the secrets that the hub knows.
func (h *Hub) Redact(text string) string { return h.redactor.Text(text) }

// HoldInputs makes the hub wait until gate is closed before it reads the kept inputs. It must be called before any
// start.
func (h *Hub) HoldInputs(gate <-chan struct{}) {
	refresh := h.inputs.refresh
	h.inputs.refresh = func() {
		<-gate
		refresh()
	}
}

// AgreeToAnother opens a shared question whether another form of a server may be launched. settle answers it with a
// Yes, and ends its goroutine.
func (h *Hub) AgreeToAnother(name string) (settle func()) {
	yes, done := make(chan struct{}), make(chan struct{})
	s, err := h.find(name)
	if err != nil {
		panic(err)
	}
	leads := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = h.share(context.Background(), searchKey{server: name}, s, func(*search) (string, error) {
			close(leads)
			<-yes
			return "", nil
		})
	}()
	<-leads
	return func() {
		close(yes)
		<-done
	}
}

// HoldApprovals makes the hub wait until gate is closed before it reads the kept approvals. It must be called before
// any call.
func (h *Hub) HoldApprovals(gate <-chan struct{}) {
	recall := h.recallAnswers
	h.recallAnswers = func() {
		<-gate
		recall()
	}
}

// PanicInCalls makes each call panic before it reaches its server, once gate is closed. It must be called before any
// call.
func (h *Hub) PanicInCalls(gate <-chan struct{}, value any) {
	h.recallAnswers = func() {
		<-gate
		panic(value)
	}
}

// ReachTheState gets the state without holding the lock, which is a fault.
func (h *Hub) ReachTheState() { h.held() }

// SkipInvariants turns off the check of the invariants, for tests that break them on purpose. Nothing may run
// meanwhile.
func (h *Hub) SkipInvariants() { h.check = nil }

// BreakInvariants makes every check of the invariants return wrong.
func (h *Hub) BreakInvariants(wrong string) { h.check = func(*Hub) string { return wrong } }

// HoldComparing makes every comparison of an answer with its form wait until release is called.
func (h *Hub) HoldComparing() (release func()) {
	held, compare := make(chan struct{}), h.compare
	h.compare = func(s *server, form, value json.RawMessage) schema.Verdict {
		<-held
		return compare(s, form, value)
	}
	return func() { close(held) }
}

// Held is how many bytes a server holds of each budget.
type Held struct{ Questions, Lists, Results, Checks int }

// HeldBytes returns what a server holds.
func (h *Hub) HeldBytes(server string) Held {
	st := h.lock()
	defer st.unlock()
	c := st.server(server).allowance
	return Held{c.questions.Held(), c.lists.Held(), c.results.Held(), c.checks.Held()}
}

// CountReleases counts the returns of memory to the system, instead of doing them. Nothing may run meanwhile.
func (h *Hub) CountReleases() *atomic.Int64 {
	n := &atomic.Int64{}
	h.budgets.free = func() { n.Add(1) }
	return n
}

// BoundResults replaces the budget of the results in flight. It applies to servers that are configured afterwards.
func (h *Hub) BoundResults(total, each int) {
	h.budgets.results = bounds.NewBudget("results in flight", total, each)
}

// ResultsInFlight returns how many bytes large results hold.
func (h *Hub) ResultsInFlight() int { return h.budgets.results.Used() }

// FillResults takes so much of the budget that there is no room for a large result.
func (h *Hub) FillResults() {
	for range 20 {
		for a := h.budgets.results.Account("another"); a.Take(64<<10) == nil; {
		}
	}
}

// bareServer returns a server that is not in the hub's list.
func (h *Hub) bareServer(name string) *server {
	return h.state.newServer(configStep{conf: config.Server{Name: name}})
}
