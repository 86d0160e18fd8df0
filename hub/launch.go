package hub

import (
	"context"
	"errors"
	"slices"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/flight"
	"github.com/mcphub-go/mcphub/hub/grants"
	"github.com/mcphub-go/mcphub/hub/inputs"
	"github.com/mcphub-go/mcphub/hub/launch"
	"github.com/mcphub-go/mcphub/hub/process"
	"github.com/mcphub-go/mcphub/hub/sources"
)

// Values returns the values of the config's inputs, and asks for those that are not stored.
func (o owner) Values(ctx context.Context, conf config.Server, byHand bool) (map[string]string, error) {
	return o.hub.inputValues(ctx, o.server, conf, byHand)
}

// Share makes all starts that need the same consent wait for one question.
func (o owner) Share(ctx context.Context, byHand bool, find func(launch.Ask) (alone bool, err error)) error {
	_, err := o.hub.sharing.Do(ctx, sharedKey{server: o.name}, o.server, func(t *shared) (string, error) {
		alone, err := find(func(f *grants.Form) (launch.Answer, error) {
			return o.hub.askLaunch(ctx, o.server, f, t, byHand)
		})
		if alone {
			err = flight.Undecided{Err: err}
		}
		return "", err
	})
	return err
}

// Refresh reads the consents from the disk.
func (o owner) Refresh() { o.hub.refreshLaunches() }

// askLaunch asks a person whether the server may be launched as f says.
func (h *Hub) askLaunch(ctx context.Context, s *server, f *grants.Form, t *shared,
	byHand bool) (launch.Answer, error) {
	answer, err := h.askAboutServer(ctx, s, &serverQuestion{
		info: event.PromptInfo{Kind: event.PromptServerLaunch, Launch: &f.Question}, launch: f, with: t,
		byHand: func() bool { return byHand },
		told:   s.launch.Opened,
	})
	switch {
	case err != nil:
		return launch.Dismissed, ofAll(err)
	case answer.cause == event.CauseAnswered:
		return launch.Agreed, nil
	case answer.cause == event.CauseSuperseded: // the form has changed, or the last window left and another one came
		return launch.Outdated, nil
	case answer.cause == event.CauseDeclined:
		return launch.Declined, nil
	}
	return launch.Dismissed, nil
}

// ofAll makes err, the failure of a shared question, count for all starts that wait, or only for the one that asked. A
// timeout counts for all, since all have waited for the answer. After any other error the others may still get an
// answer.
func ofAll(err error) error {
	if he, ok := errors.AsType[*event.Error](err); ok && he.Reason == event.ReasonHumanTimeout {
		return err
	}
	return flight.Undecided{Err: err}
}

// Outdated closes the questions about a launch or an input that the config has changed.
func (o owner) Outdated() {
	st := o.hub.held()
	for _, p := range st.promptsInOrder() {
		if p.request.server != o.server {
			continue
		}
		old := p.launch != nil && !o.launch.Asks(p.launch.Key)
		if p.info.Input != nil {
			old = inputs.Changed(o.Conf(), p.info.Input)
		}
		if old {
			st.close(p, closing{cause: event.CauseSuperseded, origin: event.OriginHost,
				reason: "the server's config changed", action: event.ActionDismiss})
		}
	}
}

// Switch makes another entry of an unchanged config the server's entry, and updates the servers beside it.
func (o owner) Switch(to *launch.Entry, why string) {
	st := o.hub.held()
	st.changeServer(o.server, sources.Step{Have: o.launch, Conf: to.Conf, Entry: to, Entries: o.launch.Entries(),
		Beside: o.launch.AllBeside(), Problems: o.Problems(), Place: o.launch.Place(),
		Relaunch: to.Key != o.launch.Entry().Key, Why: why})
	st.arrangeBeside(o.server, why)
}

// arrangeBeside adds and removes servers beside s, until they are those that its launch names.
func (st *state) arrangeBeside(s *server, why string) {
	wanted := s.launch.Beside()
	have := st.besides(s)
	missing := wanted[:0:0]
	for _, entries := range wanted {
		if !slices.ContainsFunc(have, func(b *server) bool { return b.name == entries[0].Conf.Name }) {
			missing = append(missing, entries)
		}
	}
	for _, b := range have {
		if !slices.ContainsFunc(wanted, func(e launch.Entries) bool { return e[0].Conf.Name == b.name }) {
			st.removeServer(b, why)
		}
	}
	for _, entries := range missing {
		counts := st.launches.Counting(nil, entries)
		st.addServer(sources.Step{Conf: counts.Conf, Entry: counts, Entries: entries, Place: s.launch.Place()})
	}
	at := map[string]int{}
	for _, one := range st.servers {
		if one.Removed() || one.launch.Of() == s.name {
			continue
		}
		at[one.name] = len(at) + 1
		if one != s {
			continue
		}
		for _, b := range st.besides(s) {
			if !b.Removed() {
				at[b.name] = len(at) + 1
			}
		}
	}
	house{st.hub}.Arrange(at)
}

// consentsChanged is called when consents may have been given or lost. It tells the windows, closes the questions about
// tools that no longer need an answer, and starts the eager servers that waited for a consent.
func (st *state) consentsChanged() {
	for _, s := range slices.Clone(st.servers) { // a server that switches to another entry may add and remove servers
		if s.Removed() {
			continue
		}
		agreed := s.launch.Reconsider()
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
	if err := s.launch.AskWaiting(ctx); err != nil {
		return event.ServerInfo{}, event.StoppedWaiting(ctx, err)
	}
	return h.StartServer(ctx, name)
}
