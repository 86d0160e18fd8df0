package hub

import (
	"context"
	"errors"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/grants"
	"github.com/mcphub-go/mcphub/hub/inputs"
	"github.com/mcphub-go/mcphub/hub/servers"
)

// prepared brings an entry to the point where it can be started: the user has agreed to it, if it needs that, and every
// reference in it is resolved. byHand: somebody wants that apart from a start of the server. It runs without the lock,
// and may ask the user; time in which a person is asked does not count against the start. Nothing of what it gives is
// kept, so that no value is in memory for longer than it is used. It is what the last look saw, which is what the user
// has agreed to.
func (h *Hub) prepared(ctx context.Context, s *server, conf config.Server, byHand bool) (config.Resolved, error) {
	var values map[string]string
	for {
		if err := h.consent(ctx, s, conf, values, byHand); err != nil {
			return config.Resolved{}, err
		}
		var err error
		if values, err = h.inputValues(ctx, s, conf, byHand); err != nil {
			return config.Resolved{}, err
		}
		// The values may have taken a person a while: other folders may be open by now, files may have changed, and the yes
		// may have been taken back.
		if seen, agreed, err := h.agreedTo(ctx, s, conf, values); err != nil {
			return config.Resolved{}, err
		} else if agreed {
			return h.startable(s, conf, seen.Sight)
		}
	}
}

// startable gives what is started of what was seen.
func (h *Hub) startable(s *server, conf config.Server, seen grants.Sight) (config.Resolved, error) {
	r, err := h.usableConfig(s, conf, seen.Resolved, seen.Err)
	r.Program = seen.Program.Path
	return r, err
}

// resolved puts values in for the references in a server's config.
func (h *Hub) resolved(s *server, conf config.Server, v config.Variables,
	inputs map[string]string) (config.Resolved, error) {
	v.Input = func(id string) (string, bool) {
		value, ok := inputs[id]
		return value, ok
	}
	r, err := conf.Resolve(v)
	return h.usableConfig(s, conf, r, err)
}

// usableConfig makes what Resolve gave known to the redaction and to the log, and tells its error in words for people.
func (h *Hub) usableConfig(s *server, conf config.Server, r config.Resolved, err error) (config.Resolved, error) {
	if err != nil {
		if missing, ok := errors.AsType[*config.MissingInputError](err); ok {
			return config.Resolved{}, inputs.Missing(s.name, missing.Input)
		}
		return config.Resolved{}, event.Fail(event.CodeFailedPrecondition, event.ReasonServerBroken,
			[]string{"server", s.name},
			"server %q cannot be started as it is configured%s: %s", s.name, servers.PlaceOf(&conf), s.Quote(err.Error()))
	}
	h.redactor.Add(r.Secrets...)
	for _, w := range r.Warnings {
		h.log.Warn("config", "server", s.name, "problem", w)
	}
	return r, nil
}

// methodLaunch is the method of the request that stands for the question whether a server may be started.
const methodLaunch = "launch"

// consent waits until the user has agreed to start s with what there is to see now, if that needs it. Whoever wants the
// same server waits for the same answer.
func (h *Hub) consent(ctx context.Context, s *server, conf config.Server, inputs map[string]string, byHand bool) error {
	if !needsConsent(conf) {
		return nil
	}
	h.refreshLaunches()
	for {
		if _, err := h.together(ctx, sharedKey{server: s.name}, s, func(t *shared) (string, error) {
			return "", h.askLaunch(ctx, s, conf, inputs, t, byHand)
		}); err != nil {
			return err
		}
		// The answer may be one that somebody else has waited for, to another form of the entry.
		if _, agreed, err := h.agreedTo(ctx, s, conf, inputs); err != nil || agreed {
			return err
		}
	}
}

// agreedTo looks at what s would be started with, and tells whether it may be.
func (h *Hub) agreedTo(ctx context.Context, s *server, conf config.Server,
	inputs map[string]string) (seen looked, agreed bool, err error) {
	if !needsConsent(conf) {
		return h.lookAt(s, conf, inputs), true, nil
	}
	seen, _, agreed, err = h.judge(ctx, s, conf, inputs)
	if mine, ok := errors.AsType[errUndecided](err); ok {
		err = mine.err
	}
	return seen, agreed, err
}

// judge looks at what s would be started with and judges what it saw, again when the config was read anew in between. A
// file that changes all the time keeps nobody here beyond ctx.
func (h *Hub) judge(ctx context.Context, s *server, conf config.Server,
	inputs map[string]string) (seen looked, f grants.Form, agreed bool, err error) {
	for {
		seen = h.lookAt(s, conf, inputs)
		h.update(func() { f, agreed, err = h.toAgree(ctx, s, conf, seen) })
		switch {
		case !errors.Is(err, errReadAnew):
			return seen, f, agreed, err
		case ctx.Err() != nil:
			return seen, f, false, context.Cause(ctx)
		}
	}
}

// askLaunch asks until there is an answer to what there is to see.
func (h *Hub) askLaunch(ctx context.Context, s *server, conf config.Server, inputs map[string]string, t *shared,
	byHand bool) error {
	for {
		_, f, agreed, err := h.judge(ctx, s, conf, inputs)
		if err != nil || agreed {
			return err
		}
		answer, err := h.askAboutServer(ctx, s, &serverQuestion{
			name: "launch", method: methodLaunch, subject: subjectOf(f), wants: "your consent to start it",
			kinds: "server launches",
			info:  event.PromptInfo{Kind: event.PromptServerLaunch, Launch: &f.Question}, launch: &f, with: t,
			byHand: func() bool { return byHand },
			told: func(by int) {
				if s.launch.asking += by; by > 0 {
					h.changed(s)
				}
			},
		})
		// what an answer brought, if there was one, although who asked may have gone; it may write a file: without the lock
		h.grants.Save()
		if err != nil {
			h.consentSettled(s, "")
			return ofAll(err)
		}
		switch answer.cause {
		case event.CauseAnswered:
			h.consentSettled(s, "")
		case event.CauseSuperseded: // the form has changed, or the last window went and another came
		case event.CauseDeclined:
			h.consentSettled(s, f.Hash)
			return errLaunchDeclined(s, "the user declined to start it", conf)
		default:
			h.consentSettled(s, "")
			return errLaunchDeclined(s, "the question was closed without a choice", conf)
		}
	}
}

// subjectOf names what would be started, for the request that everybody sees: without the query of an address, which
// may be secret.
func subjectOf(f grants.Form) string {
	if f.Question.URL != "" {
		return (config.Server{URL: f.Question.URL}).DisplayURL()
	}
	return f.Question.Command
}

// ofAll gives the error of a question that was not answered to those whose it is: that nobody answered in time all have
// waited for; else the others may still get an answer.
func ofAll(err error) error {
	if he, ok := errors.AsType[*event.Error](err); ok && he.Reason == event.ReasonHumanTimeout {
		return err
	}
	return errUndecided{err}
}

// errReadAnew tells that the config was read anew between a look at an entry and the judgement of what was seen:
// somebody has to look again, or the yes to what an entry was would count for what it is now.
var errReadAnew = errors.New("the config was read anew")

// toAgree gives the form to ask about, of what was seen; agreed tells that no question is needed. The error errReadAnew
// asks for another look. h.mu is held.
func (h *Hub) toAgree(ctx context.Context, s *server, conf config.Server,
	seen looked) (f grants.Form, agreed bool, err error) {
	e := s.entries.find(conf.Origin.File, seen.key)
	if e == nil { // what was to be started is no longer what the config says: a stop is under way
		if ctx.Err() != nil {
			return f, false, errUndecided{context.Cause(ctx)}
		}
		return f, false, errUndecided{event.Fail(event.CodeUnavailable, event.ReasonServerStopped, []string{"server", s.name},
			"the config of server %q changed while it was to be started", s.name)}
	}
	if e != seen.entry {
		return f, false, errReadAnew
	}
	if e.form == nil { // the host answers for it since
		return f, true, nil
	}
	if err := seen.Refusal(); err != nil {
		return f, false, event.Fail(event.CodeFailedPrecondition, event.ReasonServerBroken, []string{"server", s.name},
			"server %q was not started: %s", s.name, s.Quote(err.Error()))
	}
	f = seen.form
	if e.form.Key != f.Key {
		e.form = &f
		h.launchChanged(s)
	}
	if h.grants.Holds(f.Key) {
		s.launch.started = &f
		h.settle(s)
		return f, true, nil
	}
	if s.launch.declined == f.Hash {
		return f, false, errLaunchDeclined(s, "the user declined to start it", e.conf)
	}
	if before, ok := h.grants.Before(f.Key); ok {
		f.Question.Changed, f.Question.Changes = true, f.Changes(before)
	}
	return f, false, nil
}

// consentSettled notes a no (its hash), and tells the windows how the question ended.
func (h *Hub) consentSettled(s *server, declined string) {
	defer h.lock().unlock()
	if declined != "" {
		s.launch.declined = declined
	}
	h.changed(s)
	h.settle(s)
}

func errLaunchDeclined(s *server, why string, conf config.Server) *event.Error {
	return event.Fail(event.CodeFailedPrecondition, event.ReasonLaunchDeclined, []string{"server", s.name},
		"server %q%s was not started: %s; start the server to be asked again", s.name, servers.PlaceOf(&conf), why)
}

// launchRefused is the error of who wants a server that the user does not want to be started, else nil. h.mu is held.
func (h *Hub) launchRefused(s *server) error {
	if s.launch.declined == "" || s.Running() || s.consentState() != event.LaunchDeclined {
		return nil
	}
	return errLaunchDeclined(s, "the user declined to start it", *s.Conf())
}

// askLaunchAgain makes the next start ask also a user who has declined.
func (h *Hub) askLaunchAgain(s *server) {
	defer h.lock().unlock()
	s.launch.declined = ""
}

// launchChanged closes the questions about what is no longer what the config says: the form of a launch, or an input.
// h.mu is held.
func (h *Hub) launchChanged(s *server) {
	for _, p := range h.promptsInOrder() {
		if p.request.server != s {
			continue
		}
		old := p.launch != nil && !s.entries.ask(p.launch.Key)
		if p.info.Input != nil {
			old = inputs.Changed(s.Conf(), p.info.Input)
		}
		if old {
			h.closePrompt(p, closing{cause: event.CauseSuperseded, origin: event.OriginHost,
				reason: "the server's config changed",
				action: event.ActionDismiss})
		}
	}
}

// policy says what happens before a tool is called. What a workspace file allows counts only as far as the user has
// agreed to it with the launch; what it denies counts always. h.mu is held.
func (h *Hub) policy(s *server, tool string) config.Policy {
	p := s.Conf().Policy(tool)
	if p != config.Allow || !needsConsent(*s.Conf()) || h.agreedToLaunch(s) {
		return p
	}
	// The file has changed since the start. What was agreed to then still holds, if both allow it.
	if a := s.launch.started; a != nil && s.Up() && h.grants.Holds(a.Key) &&
		(config.Server{Approvals: a.Policies}).Policy(tool) == config.Allow {
		return p
	}
	return config.Ask
}
