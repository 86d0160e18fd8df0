package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/process"
	"github.com/mcphub-go/mcphub/hub/transport"
)

// The limits above which a start, for which people wait at the first call, and a ping are called slow.
const (
	slowStart = 5 * time.Second
	slowPing  = time.Second
)

// within returns the level for something that took the time took and should take at most the time most.
func within(most, took time.Duration) Level {
	if took > most {
		return Improve
	}
	return Good
}

// legacyRevisions are the revisions that have initialize, newest first.
var legacyRevisions = []string{mcp.Revision20251125, mcp.Revision20250618, mcp.Revision20250326, mcp.Revision20241105}

// revisions starts the server once for each revision that has initialize, and reports whether it speaks any of them. It
// examines the first start in full.
func (e *examination) revisions(ctx context.Context) (legacy bool) {
	answers := map[string]string{}
	for i, revision := range legacyRevisions {
		e.doing("initialize with %s", revision)
		answer, err := e.greet(ctx, revision, i == 0)
		if err != nil {
			if i == 0 && wantsSignIn(err) {
				e.failed = ErrSignIn
				e.find("start.signin", "", Note, "it lets in nobody who has not signed in: %s", words(err))
				return false
			}
			if i == 0 {
				e.find("start.ready", mcp.EraLegacy, Mend, "initialize failed: %s", words(err))
				return false
			}
			answers[revision] = "error: " + words(err)
			continue
		}
		answers[revision] = answer
		if answer == revision && !slices.Contains(e.report.Revisions, revision) {
			e.report.Revisions = append(e.report.Revisions, revision)
		}
	}
	slices.Sort(e.report.Revisions)
	var list []string
	level := Good
	for _, revision := range legacyRevisions {
		list = append(list, fmt.Sprintf("%s: %s", revision, answers[revision]))
		if strings.HasPrefix(answers[revision], "error") {
			level = Improve
		}
	}
	e.find("era.revisions", mcp.EraLegacy, level, "offered and answered: %s", strings.Join(list, "; "))
	return true
}

// wantsSignIn reports whether a server has refused because the client is not signed in.
func wantsSignIn(err error) bool {
	refused, ok := errors.AsType[*transport.HTTPError](err)
	return ok && refused.Status == http.StatusUnauthorized
}

// settle finds the transport of an address whose transport is not configured, with the hub's own detection. If that
// fails, the error is found again on the newer transport.
func (e *examination) settle(ctx context.Context) {
	e.doing("which transport it is")
	ctx, cancel := e.starting(ctx)
	defer cancel()
	open := mcp.AnyHTTP(e.way.HTTP)
	older := false
	s, err := mcp.Connect(ctx, mcp.Options{Server: e.target.Name, Era: mcp.EraLegacy, Client: e.o.Client,
		Handler: newAsker(nil),
		Open: func(ctx context.Context) (*mcp.Link, error) {
			l, err := open(ctx)
			if err != nil {
				return nil, err
			}
			fallback := l.Fallback
			l.Fallback = func(ctx context.Context) (*mcp.Link, error) {
				older = true
				return fallback(ctx)
			}
			return l, nil
		}})
	if err != nil {
		return
	}
	_ = s.Close(errExamined)
	if older {
		e.way.Transport = SSE
	}
}

// greet opens a connection, offers one revision, and returns the revision of the answer.
func (e *examination) greet(ctx context.Context, revision string, first bool) (string, error) {
	ctx, cancel := e.starting(ctx)
	defer cancel()
	began := time.Now()
	v, err := e.visit(ctx, process.Grace{})
	if err != nil {
		return "", err
	}
	defer v.close()
	answer, err := v.initialize(ctx, e.o.Client, revision)
	if first {
		defer func() { e.wrote(v) }()
	}
	if err != nil {
		return "", err
	}
	if first {
		e.report.Says = bounds.Printable(said(answer))
		took := time.Since(began)
		e.find("start.time", mcp.EraLegacy, within(slowStart, took), "ready after %s", span(took))
		if _, took, err := v.ask(ctx, "ping", ""); err != nil {
			e.find("ping", mcp.EraLegacy, Mend, "a ping failed: %s", words(err))
		} else {
			e.find("ping", mcp.EraLegacy, within(slowPing, took), "a ping was answered after %s", span(took))
		}
	}
	return bounds.Printable(jsontext.String(jsontext.Get(answer, "protocolVersion"))), nil
}

// wrote records what came over the pipes in addition to messages.
func (e *examination) wrote(v *visit) {
	if v.proc == nil {
		return
	}
	w := v.wire
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.noiseLines > 0 {
		e.find("start.stdout", "", Mend, "lines on stdout that are no messages: %d, the first: %s", w.noiseLines,
			strings.Join(w.noise, " | "))
	} else {
		e.find("start.stdout", "", Good, "nothing but messages came on stdout")
	}
	if w.stderrLines > 0 {
		e.find("start.stderr", "", Note, "lines on stderr: %d; %s", w.stderrLines, mcp.QuoteStderr(v.proc.Stderr()))
	}
}

// modern reports whether the server speaks 2026-07-28, and records how it answers server/discover.
func (e *examination) modern(ctx context.Context) bool {
	if !slices.Contains(e.way.eras(), mcp.EraModern) {
		return false
	}
	e.doing("server/discover of 2026-07-28")
	ctx, cancel := e.starting(ctx)
	defer cancel()
	s, err := e.session(ctx, mcp.EraModern, newAsker(nil))
	if err == nil {
		defer s.close()
		e.report.Revisions = append(e.report.Revisions, s.Revision())
		if e.report.Says == "" {
			e.report.Says = bounds.Printable(s.Info().Name + " " + s.Info().Version)
		}
		e.find("era.modern", mcp.EraModern, Good, "it speaks %s", s.Revision())
		return true
	}
	e.find("era.modern", mcp.EraModern, Note, "it does not speak 2026-07-28: %s", words(err))
	return false
}

// leave is how long a server may take to exit at each step.
const leave = 5 * time.Second

// ends observes how the process exits: when its input ends, and after SIGTERM.
func (e *examination) ends(ctx context.Context) {
	e.doing("how it ends")
	if exit, took, ok := e.end(ctx, nil); ok {
		switch exit.Stage {
		case process.StageStdin, process.StageExited:
			e.find("end.stdin", "", Good, "it left %s after its input had ended: %s", span(took), exit)
		default:
			e.find("end.stdin", "", Mend, "it did not leave within %v after its input had ended: %s", leave, exit)
		}
		if exit.Group != exit.Stage {
			e.find("end.children", "", Mend, "processes that it had started were left, and had to be ended: %s", exit.Group)
		} else {
			e.find("end.children", "", Good, "no process was left")
		}
	}
	if !canTerminate || ctx.Err() != nil {
		return
	}
	if exit, took, ok := e.end(ctx, terminate); ok {
		if took < leave {
			e.find("end.sigterm", "", Good, "it left %s after SIGTERM: %s", span(took), exit)
		} else {
			e.find("end.sigterm", "", Mend, "it did not leave within %v after SIGTERM: %s", leave, exit)
		}
	}
}

// end starts the server, initializes it and ends it: by signal if it is not nil, else by closing its input. took is the
// time until the exit; it is leave or more if the server did not exit by itself.
func (e *examination) end(ctx context.Context, signal func(pid int) error) (exit process.Exit,
	took time.Duration, ok bool) {
	ctx, cancel := e.starting(ctx)
	defer cancel()
	v, err := e.visit(ctx, process.Grace{Stdin: leave, Terminate: leave})
	if err != nil {
		return exit, 0, false
	}
	defer v.close()
	// A server that speaks only 2026-07-28 refuses initialize, and ends like any other.
	_, _ = v.initialize(ctx, e.o.Client, mcp.Revision20251125)
	began := time.Now()
	if signal == nil {
		v.close()
		return v.proc.Exit(), time.Since(began), true
	}
	if signal(v.proc.PID()) != nil {
		return exit, 0, false // it has exited already
	}
	await(v.proc.Done(), leave)
	took = time.Since(began)
	v.close()
	return v.proc.Exit(), took, true
}
