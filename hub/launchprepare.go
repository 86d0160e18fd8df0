package hub

import (
	"context"
	"errors"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/grants"
)

// prepare makes an entry ready to be started: the user has agreed to it, if it needs consent, and every reference in it
// is resolved. byHand reports that this is wanted for something other than a start of the server. Prepare runs without
// the lock, and may ask the user; time in which a person is asked does not count against the start. It keeps nothing of
// its result, so that no value is in memory for longer than it is used. The result is what the last look saw, which is
// what the user has agreed to.
func (l *launch) prepare(ctx context.Context, conf config.Server, byHand bool) (config.Resolved, error) {
	if err := l.hub().config.refreshPolicies(ctx); err != nil {
		return config.Resolved{}, err
	}
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
			r, err := l.usable(conf, seen.Resolved, seen.Err)
			if err == nil { // judged is what is launched, and not what it looked like before
				err = l.permitted(func() *event.LaunchIdentity { return l.hub().launches.IdentityOf(r, seen.Program) })
			}
			return r, err
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
	if err := l.permitted(func() *event.LaunchIdentity { return l.hub().launches.Identity(ctx, conf) }); err != nil {
		return err
	}
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
	seen, agreed, err = l.judge(ctx, conf, values)
	if mine, ok := errors.AsType[undecided](err); ok {
		err = mine.err
	}
	return seen, agreed, err
}

// judge looks at what would be started, until the core says whether it may be. The end of ctx ends this for a file that
// is read anew all the time.
func (l *launch) judge(ctx context.Context, conf config.Server,
	values map[string]string) (seen launchSeen, agreed bool, err error) {
	for {
		seen = l.look(ctx, conf, values)
		again := false
		l.hub().update(func(st *state) { agreed, again, err = st.judged(ctx, l, &seen) })
		switch {
		case !again:
			return seen, agreed, err
		case ctx.Err() != nil:
			return seen, false, context.Cause(ctx)
		}
	}
}

// judged tells the core what was seen, and returns whether that may be launched. Without an error, and if the caller
// does not have to look again, a person has to be asked about seen.form otherwise.
func (st *state) judged(ctx context.Context, l *launch, seen *launchSeen) (agreed, again bool, err error) {
	name, unclear := l.server.name, seen.Refusal()
	e := l.entries.Find(seen.file, seen.key)
	if e != nil && e.Form != nil && unclear == nil && seen.read == st.core.Launch(l.server.number).Read {
		form := seen.form // the caller may look again, into seen
		e.Form = &form
	}
	got := st.apply(core.LaunchLooked{Server: l.server.number, Entry: core.EntryID{File: seen.file, Launch: seen.key},
		Read: seen.read, Form: formOf(&seen.form), Held: st.grants.Holds(seen.form.Key), Unclear: unclear != nil})
	switch got.refused {
	case core.EntryReadAnew:
		return false, true, nil
	case core.EntryGone: // the config has changed, and a stop is under way
		if ctx.Err() != nil {
			return false, false, undecided{context.Cause(ctx)}
		}
		return false, false, undecided{event.Fail(event.CodeUnavailable, event.ReasonServerStopped, []string{"server", name},
			"the config of server %q changed while it was to be started", name)}
	case core.LaunchUnclear:
		return false, false, event.Fail(event.CodeFailedPrecondition, event.ReasonServerBroken, []string{"server", name},
			"server %q was not started: %s", name, l.server.quote(unclear.Error()))
	case core.LaunchDeclined:
		return false, false, l.errDeclined("the user declined to start it", seen.conf)
	}
	return got.needed.Need == core.NeedNothing, false, nil
}

// ask asks until there is an answer to what there is to see.
func (l *launch) ask(ctx context.Context, conf config.Server, values map[string]string, t *search, byHand bool) error {
	for {
		seen, agreed, err := l.judge(ctx, conf, values)
		if err != nil || agreed {
			return err
		}
		form := &seen.form
		if before, ok := l.hub().grants.Before(form.Key); ok {
			// without the lock: a stranger chooses how long the texts are
			form.Question.Changed, form.Question.Changes = true, form.Changes(before)
		}
		answer, err := l.hub().askLaunch(ctx, l.server, form, t, byHand)
		// an answer may have been stored even if this caller has gone; Save may write a file, so it is called without the
		// lock
		l.hub().grants.Save()
		switch {
		case err != nil:
			return err
		case answer == event.CauseDeclined:
			return l.errDeclined("the user declined to start it", conf)
		case answer == event.CauseDismissed:
			return l.errDeclined("the question was closed without a choice", conf)
		}
		// What there is to agree to may have changed: with the question, or before there was one.
	}
}

// launchSeen is what there is to agree to, and what would be started after consent.
type launchSeen struct {
	grants.Sight
	conf      config.Server // that was looked at
	file, key string        // its entry: the file that has it, and its launch key
	read      uint64        // core.Launch.Read
	form      grants.Form   // if the entry needs consent
}

// look looks at an entry as it is now: parts that do not affect the launch, such as the allowed tools, may have changed
// since conf was read. It takes the lock.
func (l *launch) look(ctx context.Context, conf config.Server, values map[string]string) launchSeen {
	seen := launchSeen{conf: conf, file: conf.Origin.File, key: conf.LaunchKey()}
	l.hub().update(func(st *state) {
		seen.read = st.core.Launch(l.server.number).Read
		if e := l.entries.Find(seen.file, seen.key); e != nil {
			seen.conf = e.Conf
		}
	})
	seen.Sight, seen.form = l.hub().launches.Look(ctx, seen.conf, values)
	return seen
}
