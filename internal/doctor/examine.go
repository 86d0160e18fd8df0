package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

var errExamined = errors.New("the examination is over")

// ErrSignIn ends the examination of a server that lets in nobody who has not signed in.
var ErrSignIn = errors.New("the server wants a sign-in")

// examination is one run of Examine; its methods are called by one goroutine.
type examination struct {
	target Target
	o      Options
	report *Report
	failed error // why it cannot go on; nil while it can
}

// Examine looks at the server, which is started and ended several times for it. An error says that the examination
// could not be made or was given up, not that the server is ill; the report holds what was found until then.
func Examine(ctx context.Context, t Target, o Options) (*Report, error) {
	if len(t.Ways) == 0 {
		return nil, errors.New("there is no way to the server")
	}
	if t.Hide == nil {
		t.Hide = func(text string) string { return text }
	}
	e := &examination{target: t, o: o.withDefaults(), report: &Report{Server: t.Name, Examined: time.Now()}}
	defer func() { e.report.Took = time.Since(e.report.Examined) }()
	for _, way := range t.Ways {
		if way.OrSSE {
			way = e.settled(ctx, way)
		}
		e.examine(ctx, way)
		if ctx.Err() != nil {
			return e.report, context.Cause(ctx)
		}
		if e.failed != nil {
			return e.report, e.failed
		}
	}
	return e.report, nil
}

// examine looks at the server on one way. What a step needs of the one before is its result.
func (e *examination) examine(ctx context.Context, way Way) {
	legacy := e.revisions(ctx, way)
	if e.failed != nil {
		return
	}
	modern := e.modern(ctx, way)
	if !legacy && !modern {
		return
	}
	if legacy {
		e.manners(ctx, way)
	}
	tools := e.lists(ctx, way, modern && !legacy)
	if e.o.Tool != "" {
		if !slices.ContainsFunc(tools, func(t mcp.Tool) bool { return t.Name == e.o.Tool }) {
			e.find("cancel.stop", way, "", Note, "the server has no tool %q, so none was called", e.o.Tool)
		} else {
			if legacy {
				e.cancels(ctx, way, mcp.EraLegacy)
			}
			if modern {
				e.cancels(ctx, way, mcp.EraModern)
			}
		}
	}
	if way.Transport == Stdio {
		e.ends(ctx, way)
	}
}

// find adds a finding. What to do is told only when there is something to do.
func (e *examination) find(name string, way Way, era string, level Level, format string, args ...any) {
	c, known := checks[name]
	if !known {
		panic("no check " + name)
	}
	f := Finding{Check: name, Level: level, Seen: e.target.Hide(fmt.Sprintf(format, args...)), Spec: c.spec, Says: c.says,
		Transport: way.Transport, Era: era}
	if level == Mend || level == Improve {
		f.Do = c.do
	}
	e.report.Findings = append(e.report.Findings, f)
}

// doing tells what is looked at now.
func (e *examination) doing(way Way, format string, args ...any) {
	e.o.Doing(fmt.Sprintf(way.Transport+": "+format, args...))
}

// patient bounds one step.
func (e *examination) patient(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, e.o.Patience, fmt.Errorf("no answer within %v", e.o.Patience))
}

// words is an error as a report shows it. That a start failed, and of which server, is said around it.
func words(err error) string {
	if err == nil {
		return ""
	}
	if start, ok := errors.AsType[*mcp.StartError](err); ok {
		err = start.Err
	}
	return bounds.Printable(err.Error())
}

// span is a duration as people read it.
func span(d time.Duration) string {
	switch {
	case d < 10*time.Millisecond:
		return d.Round(100 * time.Microsecond).String()
	case d < 10*time.Second:
		return d.Round(10 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}
