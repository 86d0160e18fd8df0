package hub

import (
	"context"
	"errors"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/grants"
)

// prepare makes an entry ready to be started: the user has agreed to it, if it needs consent, and every reference in it
// is resolved. byHand reports that this is wanted for something other than a start of the server. Prepare runs without
// the lock, and may ask the user; time in which a person is asked does not count against the start. It keeps nothing of
// its result, so that no value is in memory for longer than it is used. The result is what the last look saw, which is
// what the user has agreed to.
func (l *launch) prepare(ctx context.Context, conf config.Server, byHand bool) (config.Resolved, error) {
	var values map[string]string
	for {
		if err := l.consent(ctx, conf, values, byHand); err != nil {
			return config.Resolved{}, err
		}
		var err error
		if values, err = l.hub().inputValues(ctx, l.server, conf, byHand); err != nil {
			return config.Resolved{}, err
		}
		// A person may have taken a while to give the values: other folders may be open, files may have changed, and the
		// consent may have been withdrawn.
		if seen, agreed, err := l.agreedTo(ctx, conf, values); err != nil {
			return config.Resolved{}, err
		} else if agreed {
			return l.usable(conf, seen.Resolved, seen.Err)
		}
	}
}

// resolve replaces the references in the config by their values. It is called without the lock.
func (l *launch) resolve(conf config.Server, values map[string]string) (config.Resolved, error) {
	r, err := l.hub().launches.Resolve(conf, values)
	return l.usable(conf, r, err)
}

// usable adds the secrets in the result of config.Server.Resolve to the redactor, logs its warnings, and converts its
// error to one for people.
func (l *launch) usable(conf config.Server, r config.Resolved, err error) (config.Resolved, error) {
	name := l.server.name
	if missing, ok := errors.AsType[*config.MissingInputError](err); ok {
		return config.Resolved{}, errInputMissing(name, missing.Input)
	}
	if err != nil {
		return config.Resolved{}, event.Fail(event.CodeFailedPrecondition, event.ReasonServerBroken,
			[]string{"server", name}, "server %q cannot be started as it is configured%s: %s", name,
			placeOf(&conf), l.server.quote(err.Error()))
	}
	l.hub().redactor.Add(r.Secrets...)
	for _, w := range r.Warnings {
		l.hub().log.Warn("config", "server", name, "problem", w)
	}
	return r, nil
}

// consent waits until the user has agreed to start the server with what there is to see now, if consent is needed.
// Callers that want the same server wait for the same answer.
func (l *launch) consent(ctx context.Context, conf config.Server, values map[string]string, byHand bool) error {
	if !conf.Origin.NeedsConsent() {
		return nil
	}
	h := l.hub()
	h.refreshLaunches()
	for {
		if _, err := h.share(ctx, searchKey{server: l.server.name}, l.server, func(t *search) (string, error) {
			return "", l.ask(ctx, conf, values, t, byHand)
		}); err != nil {
			return err
		}
		// The answer may have been given to another caller, for another form of the entry.
		if _, agreed, err := l.agreedTo(ctx, conf, values); err != nil || agreed {
			return err
		}
	}
}

// agreedTo looks at what would be started, and reports whether it may be started.
func (l *launch) agreedTo(ctx context.Context, conf config.Server,
	values map[string]string) (seen launchSeen, agreed bool, err error) {
	if !conf.Origin.NeedsConsent() {
		return l.look(ctx, conf, values), true, nil
	}
	seen, _, agreed, err = l.judge(ctx, conf, values)
	if mine, ok := errors.AsType[undecided](err); ok {
		err = mine.err
	}
	return seen, agreed, err
}

// judge looks at what would be started and judges what it saw. It looks again if the config was read again in between;
// the end of ctx ends this for a file that changes all the time.
func (l *launch) judge(ctx context.Context, conf config.Server,
	values map[string]string) (seen launchSeen, f grants.Form, agreed bool, err error) {
	for {
		seen = l.look(ctx, conf, values)
		l.hub().within(func() { f, agreed, err = l.toAgree(ctx, conf, seen) })
		switch {
		case !errors.Is(err, errReadAnew):
			return seen, f, agreed, err
		case ctx.Err() != nil:
			return seen, f, false, context.Cause(ctx)
		}
	}
}

// ask asks until there is an answer to what there is to see.
func (l *launch) ask(ctx context.Context, conf config.Server, values map[string]string, t *search, byHand bool) error {
	for {
		_, f, agreed, err := l.judge(ctx, conf, values)
		if err != nil || agreed {
			return err
		}
		answer, err := l.hub().askLaunch(ctx, l.server, &f, t, byHand)
		// an answer may have been stored even if this caller has gone; Save may write a file, so it is called without the
		// lock
		l.hub().grants.Save()
		if err == nil && answer == event.CauseSuperseded { // the form has changed, or the last window left and another came
			continue
		}
		declined := ""
		if err == nil && answer == event.CauseDeclined {
			declined = f.Hash
		}
		l.settled(declined)
		switch {
		case err != nil:
			return err
		case answer == event.CauseDeclined:
			return l.errDeclined("the user declined to start it", conf)
		case answer != event.CauseAnswered:
			return l.errDeclined("the question was closed without a choice", conf)
		}
	}
}

// settled records the hash of a form that was declined, and tells the windows how the question ended. It takes the
// lock.
func (l *launch) settled(declined string) {
	l.hub().within(func() {
		if declined != "" {
			l.declined = declined
		}
		l.changed()
		l.settle()
	})
}

// errReadAnew reports that the config was read again between a look at an entry and the judgement of what was seen. The
// caller has to look again: otherwise the consent to the earlier entry would count for the present one.
var errReadAnew = errors.New("the config was read anew")

// toAgree returns the form to ask about. agreed reports that no question is needed. If the error is errReadAnew, the
// caller has to look again.
func (l *launch) toAgree(ctx context.Context, conf config.Server,
	seen launchSeen) (f grants.Form, agreed bool, err error) {
	name := l.server.name
	e := l.entries.Find(conf.Origin.File, seen.key)
	if e == nil { // the config has changed, and a stop is under way
		if ctx.Err() != nil {
			return f, false, undecided{context.Cause(ctx)}
		}
		return f, false, undecided{event.Fail(event.CodeUnavailable, event.ReasonServerStopped, []string{"server", name},
			"the config of server %q changed while it was to be started", name)}
	}
	if e != seen.entry {
		return f, false, errReadAnew
	}
	if e.Form == nil { // meanwhile the host has declared it trusted
		return f, true, nil
	}
	if err := seen.Refusal(); err != nil {
		return f, false, event.Fail(event.CodeFailedPrecondition, event.ReasonServerBroken, []string{"server", name},
			"server %q was not started: %s", name, l.server.quote(err.Error()))
	}
	f = seen.form
	if e.Form.Key != f.Key {
		e.Form = &f
		l.server.supersede()
	}
	if l.holds(f.Key) {
		l.agreed = launchTermsOf(e)
		l.settle()
		return f, true, nil
	}
	if l.declined == f.Hash {
		return f, false, l.errDeclined("the user declined to start it", e.Conf)
	}
	if before, ok := l.hub().grants.Before(f.Key); ok {
		f.Question.Changed, f.Question.Changes = true, f.Changes(before)
	}
	return f, false, nil
}

// launchSeen is what there is to agree to, and what would be started after consent.
type launchSeen struct {
	grants.Sight
	form  grants.Form   // if the entry needs consent
	key   string        // the launch key of what was looked at
	entry *grants.Entry // the entry that was looked at; nil if it is gone
}

// look looks at an entry as it is now: parts that do not affect the launch, such as the allowed tools, may have changed
// since conf was read. It takes the lock.
func (l *launch) look(ctx context.Context, conf config.Server, values map[string]string) launchSeen {
	seen := launchSeen{key: conf.LaunchKey()}
	l.hub().within(func() {
		if seen.entry = l.entries.Find(conf.Origin.File, seen.key); seen.entry != nil {
			conf = seen.entry.Conf
		}
	})
	seen.Sight, seen.form = l.hub().launches.Look(ctx, conf, values)
	return seen
}
