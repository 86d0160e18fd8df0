package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// attempt is a call that is cancelled while it runs.
type attempt struct {
	id        string    // of the last request on the wire, as JSON text
	progress  int       // number of progress notifications before the cancel
	cancelled time.Time // zero if the call ended before
	result    *mcp.CallResult
	err       error
	delivery  jsonrpc.Delivery
	failed    error // why the delivery failed
}

// raw returns the result as it came, nil if there is none.
func (a *attempt) raw() []byte {
	if a.result == nil {
		return nil
	}
	return a.result.Raw
}

// failure returns why a call failed by itself, in the words of the tool if it has any; "" if it did not fail, or was
// cancelled before.
func (a *attempt) failure() string {
	switch {
	case !a.cancelled.IsZero():
	case a.err != nil:
		return words(a.err)
	case a.result.IsError:
		said := ""
		jsontext.Elements(jsontext.Get(a.result.Raw, "content"), func(block json.RawMessage) bool {
			said = jsontext.String(jsontext.Get(block, "text"))
			return said == ""
		})
		return strings.TrimSuffix("the tool answered an error: "+bounds.Printable(said), ": ")
	}
	return ""
}

// cancels calls the tool, cancels the call while it runs, observes the server's reaction, and calls the tool again.
func (e *examination) cancels(ctx context.Context, era string) {
	e.doing("a call of %s that is cancelled (%s)", e.o.Tool, era)
	starting, cancel := e.starting(ctx)
	defer cancel()
	asker := newAsker(nil)
	s, err := e.session(starting, era, asker)
	if err != nil {
		e.find("cancel.stop", era, Mend, "another start failed: %s", words(err))
		return
	}
	defer s.close()
	first := e.attempt(ctx, s)
	e.heard(first.raw())
	switch {
	case first.failure() != "":
		// Whatever the reason, arguments that do not fit say: a cancel has nothing to do with it, and the next call would
		// fail in the same way.
		e.find("cancel.stop", era, Note, "the tool failed before it was cancelled, so nothing can be told of a "+
			"cancel: %s; name arguments with which it works for some seconds", first.failure())
		return
	case first.cancelled.IsZero():
		e.find("cancel.stop", era, Note, "the call ended before it was cancelled: name arguments with which it takes longer")
	case first.err == nil:
		e.find("cancel.stop", era, Note, "its result and the cancel crossed: nothing can be told")
	default:
		e.delivered(era, first)
		e.watch(ctx, era, s, first)
		e.questions(era, s, asker)
	}
	e.again(ctx, era, s)
}

// attempt calls the tool once and cancels the call. It returns when the call has ended on the client's side.
func (e *examination) attempt(ctx context.Context, s *session) (a attempt) {
	e.report.Calls++
	calling, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var mu sync.Mutex
	began := make(chan struct{})
	request := &mcp.CallRequest{Name: e.o.Tool, Arguments: e.o.Arguments,
		OnWire: func(id jsonrpc.ID) { mu.Lock(); a.id = id.String(); mu.Unlock() },
		OnProgress: func(mcp.Progress) {
			mu.Lock()
			defer mu.Unlock()
			if a.progress++; a.progress == 1 {
				close(began)
			}
		}}
	done := make(chan struct{})
	var result *mcp.CallResult
	var err error
	go func() {
		defer close(done)
		result, err = s.CallTool(calling, request)
	}()
	late := time.NewTimer(e.o.Before)
	defer late.Stop()
	select {
	case <-began:
	case <-late.C:
	case <-done:
	}
	select {
	case <-done:
	default:
		mu.Lock()
		a.cancelled = time.Now()
		mu.Unlock()
		cancel(errors.New(e.o.Reason))
		<-done
	}
	mu.Lock()
	defer mu.Unlock()
	a.result, a.err = result, err
	if c, ok := errors.AsType[*jsonrpc.CancelledError](err); ok {
		told := make(chan struct{})
		c.OnDelivery(func(d jsonrpc.Delivery, failed error) {
			a.delivery, a.failed = d, failed
			close(told)
		})
		waiting, cancel := e.patient(ctx)
		defer cancel()
		select {
		case <-told:
		case <-waiting.Done():
			a.failed = context.Cause(waiting)
		}
	}
	return a
}

// delivered records whether the cancel reached the server.
func (e *examination) delivered(era string, a attempt) {
	switch {
	case a.failed != nil:
		e.find("cancel.delivery", era, Mend, "the cancel did not reach it: %s", words(a.failed))
	case a.delivery == jsonrpc.Delivered:
		e.find("cancel.delivery", era, Good, "the cancel was delivered")
	default:
		e.find("cancel.delivery", era, Note, "the cancel was not needed: nothing of the call was at the server any more")
	}
}

// watch observes what comes for a call that was cancelled. Over HTTP nothing can come, since its stream is closed.
func (e *examination) watch(ctx context.Context, era string, s *session, a attempt) {
	if s.line.proc == nil {
		e.find("cancel.stop", era, Note,
			"whether the work stopped cannot be seen over HTTP: the stream of the call is closed with the cancel")
		return
	}
	w := s.line.wire
	after := e.readBy(ctx, s, a.cancelled.Add(crossing))
	e.until(ctx, w, func() bool {
		n, _ := w.progressAfter(after)
		_, _, answered := w.answer(a.id)
		return answered || n >= goesOn
	})
	progress, last := w.progressAfter(after)
	at, failed, answered := w.answer(a.id)
	switch {
	case progress > 0:
		e.find("cancel.stop", era, Mend, "it goes on: progress came %d times after the cancel, the last after %s",
			progress, span(last.Sub(a.cancelled)))
	case answered && !failed:
		e.find("cancel.stop", era, Mend, "it answered a normal result %s after the cancel: the work was not stopped",
			span(at.Sub(a.cancelled)))
	case answered:
		e.find("cancel.stop", era, Good, "it stopped %s after the cancel", span(at.Sub(a.cancelled)))
	case a.progress > 0:
		e.find("cancel.stop", era, Good, "no progress came after the cancel, in %v", e.o.Watch)
	default:
		e.find("cancel.stop", era, Note,
			"neither an answer nor progress came after the cancel, in %v: whether the work stopped cannot be seen", e.o.Watch)
	}
	if answered && failed {
		e.find("cancel.answer", era, Note, "it answered the cancelled call with an error, which clients drop")
	}
	if answered && !failed {
		e.find("cancel.answer", era, Improve, "it answered the cancelled call")
	}
}

var errNoPong = errors.New("what came behind the cancel was not answered")

// readBy returns a time by which the server has read a cancel, and at least atLeast: a server reads in order, so it has
// read the cancel when it answers a ping that was sent after it. On a busy machine, many messages may be on their way
// until then.
func (e *examination) readBy(ctx context.Context, s *session, atLeast time.Time) time.Time {
	ctx, cancel := context.WithTimeoutCause(ctx, e.o.Watch, errNoPong)
	defer cancel()
	if s.Ping(ctx) != nil {
		return atLeast
	}
	if now := time.Now(); now.After(atLeast) {
		return now
	}
	return atLeast
}

const (
	// crossing is the time for messages that were sent before the cancel was read. They are no fault.
	crossing = 100 * time.Millisecond
	// goesOn is the number of progress notifications after a cancel that shows that the work goes on.
	goesOn = 3
)

// until waits until seen returns true, which it checks after each message, or until the time of observation has passed.
func (e *examination) until(ctx context.Context, w *wire, seen func() bool) {
	late := time.NewTimer(e.o.Watch)
	defer late.Stop()
	for {
		next := w.next()
		if seen() {
			return
		}
		select {
		case <-next:
		case <-late.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// questions records whether the questions that the server asked for the call were withdrawn with it. A server of the
// modern era asks in its answer, so there is nothing to withdraw.
func (e *examination) questions(era string, s *session, asker *asker) {
	ids, n := asker.questions()
	if n == 0 || era == mcp.EraModern || s.line.proc == nil {
		return
	}
	left := 0
	for _, id := range ids {
		if !s.line.wire.hasWithdrawn(id.String()) {
			left++
		}
	}
	if left > 0 {
		e.find("cancel.questions", era, Improve, "%d of its %d questions were not withdrawn with the call", left, n)
		return
	}
	e.find("cancel.questions", era, Good, "its %d questions were withdrawn with the call", n)
}

// again calls the tool once more on the same connection.
func (e *examination) again(ctx context.Context, era string, s *session) {
	e.doing("another call of %s (%s)", e.o.Tool, era)
	a := e.attempt(ctx, s)
	e.heard(a.raw())
	trouble := a.failure()
	if trouble == "" && s.Broken() {
		trouble = fmt.Sprintf("the connection is gone: %s", words(s.Err()))
	}
	if trouble == "" && era == mcp.EraLegacy {
		pinging, cancel := e.patient(ctx)
		defer cancel()
		if err := s.Ping(pinging); err != nil {
			trouble = "a ping failed: " + words(err)
		}
	}
	if trouble != "" {
		e.find("cancel.next", era, Mend, "the next call on the same connection: %s", trouble)
		return
	}
	if a.cancelled.IsZero() || a.progress > 0 {
		e.find("cancel.next", era, Good, "the next call on the same connection works")
		return
	}
	e.find("cancel.next", era, Good, "the next call on the same connection ran for %v, and no error came", e.o.Before)
}
