// Package doctor examines an MCP server from outside, for its author or its user: how it starts, which revisions it
// speaks, whether it does what it declares, whether models accept its tools, what happens to a call that is cancelled,
// and how it ends. Each finding contains what was observed, what the specification says about it, and what to do.
//
// It talks to the server like any client, through the hub's own transports and sessions, so its findings apply to users
// of the hub. It calls a tool only if the caller names one, and at most as often as Calls returns.
//
// What must not live here: where servers are configured, and how a report reaches its reader (internal/cli/doctor).
package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

var errExamined = errors.New("the examination is over")

// NoToolError says that the server has no tool of the name that was given.
type NoToolError struct {
	Tool  string
	Tools []string // that it has
}

func (e *NoToolError) Error() string {
	return fmt.Sprintf("no tool was called: the server has none with the name %q", e.Tool)
}

// ErrSignIn ends the examination of a server that refuses clients that are not signed in.
var ErrSignIn = errors.New("the server wants a sign-in")

// examination is one run of Examine. Only one goroutine calls its methods.
type examination struct {
	target Target
	way    Way // of the target, with the transport that was found
	o      Options
	report *Report
	failed error // why it cannot go on, else nil
	// encoding counts the messages that were not UTF-8
	encoding encoding
}

// Examine examines the server. It starts and ends the server several times. An error means that the examination could
// not be made or was cancelled, not that the server has a fault. The report contains what was found until then.
func Examine(ctx context.Context, t Target, o Options) (*Report, error) {
	if t.Hide == nil {
		t.Hide = func(text string) string { return text }
	}
	e := &examination{target: t, way: t.Way, o: o.withDefaults(), report: &Report{Server: t.Name, Examined: time.Now()}}
	defer func() { e.report.Took = time.Since(e.report.Examined) }()
	if e.way.OrSSE {
		e.settle(ctx)
	}
	e.examine(ctx)
	if ctx.Err() != nil {
		return e.report, context.Cause(ctx)
	}
	return e.report, e.failed
}

// examine examines the server. The result of a step decides about later steps.
func (e *examination) examine(ctx context.Context) {
	legacy := e.revisions(ctx)
	if e.failed != nil {
		return
	}
	modern := e.modern(ctx)
	if !legacy && !modern {
		return
	}
	if legacy {
		e.manners(ctx)
	}
	tools, known := e.lists(ctx, modern && !legacy)
	if e.o.Tool != "" {
		var names []string
		for _, t := range tools {
			names = append(names, t.Name)
		}
		switch {
		case !known:
			e.find("cancel.stop", "", Note, "the tools could not be listed, so none was called")
		case !slices.Contains(names, e.o.Tool):
			e.failed = &NoToolError{e.o.Tool, names}
			return
		default:
			if legacy {
				e.cancels(ctx, mcp.EraLegacy)
			}
			if modern {
				e.cancels(ctx, mcp.EraModern)
			}
		}
	}
	if e.way.Transport == Stdio {
		e.ends(ctx)
	}
	if n, first := e.encoding.told(); n > 0 {
		e.find("start.utf8", "", Mend, "messages that are not UTF-8, Latin-1 say: %d, the first: %s", n, first)
	}
}

// find adds a finding. It contains advice only if something has to be done.
func (e *examination) find(name, era string, level Level, format string, args ...any) {
	c, known := checks[name]
	if !known {
		panic("no check " + name)
	}
	f := Finding{Check: name, Level: level, Seen: e.target.Hide(fmt.Sprintf(format, args...)), Spec: c.spec, Says: c.says,
		Transport: e.way.Transport, Era: era}
	if level == Mend || level == Improve {
		f.Do = c.do
		if c.doURL != "" && e.way.Transport != Stdio {
			f.Do = c.doURL
		}
	}
	e.report.Findings = append(e.report.Findings, f)
}

// heard examines the encoding of a text that came over HTTP; a process is listened to at its pipe.
func (e *examination) heard(raw []byte) {
	if e.way.Transport != Stdio {
		e.encoding.hear(raw)
	}
}

// doing reports the present step.
func (e *examination) doing(format string, args ...any) {
	e.o.Doing(fmt.Sprintf(e.way.Transport+": "+format, args...))
}

// starting returns a context that bounds one start.
func (e *examination) starting(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, e.o.Connect,
		fmt.Errorf("it was not ready within %v, which --connect-timeout sets", e.o.Connect))
}

// patient returns a context that bounds one request.
func (e *examination) patient(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, e.o.Patience, fmt.Errorf("no answer within %v", e.o.Patience))
}

// words returns an error as text for a report, without the server's name and the fact that the start failed, which the
// report adds.
func words(err error) string {
	if err == nil {
		return ""
	}
	if start, ok := errors.AsType[*mcp.StartError](err); ok {
		err = start.Err
	}
	if given, ok := errors.AsType[*jsonrpc.CancelledError](err); ok && given.Cause != nil {
		err = given.Cause // a time limit of the doctor
	}
	return bounds.Printable(err.Error())
}

// span returns a duration as readable text.
func span(d time.Duration) string {
	switch {
	case d < 10*time.Millisecond:
		return d.Round(100 * time.Microsecond).String()
	case d < 10*time.Second:
		return d.Round(10 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}
