package soak

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/faketime"
	"github.com/mcphub-go/mcphub/internal/peers"
)

const (
	// mostDelay is the longest time between the start of a call and its cancel.
	mostDelay = 20 * time.Millisecond
	// nudgeTime is how long questions stay open while nothing but pass runs, which may wait for them.
	nudgeTime = 3 * time.Second
	// unreadTime is how long a server of the modern era may take to record a call whose stream was closed at once.
	unreadTime = 500 * time.Millisecond
	// cancelDelay is how long the hub waits for the headers of a legacy call over HTTP before it sends the cancel
	// anyway. A server on a busy machine that reads the call later than that may read the cancel first. That is no
	// fault unless the hub reports the cancel as delivered.
	cancelDelay = time.Second
	// slackGoroutines is how many goroutines idle connections and timers may add. The hub keeps up to 128 connections
	// to a host, with two goroutines each.
	slackGoroutines = 300
	// slackHeap is how much the bounded histories may still grow after the first calls.
	slackHeap = 24 << 20
)

// runner makes and cancels the calls of one subject.
type runner struct {
	*figures
	t       *testing.T
	witness *witness
	hub     *hub.Hub
	view    *view
	rng     *rand.Rand
	n       int // calls begun
}

// soak makes calls until there are enough, in batches that are judged one by one. If limit is not 0, it is the time for
// them, and what the process holds at rest is counted, too.
func soak(t *testing.T, index int, s *subject, calls int, limit time.Duration, seed uint64) *figures {
	t.Helper()
	f := &figures{subject: s, seed: seed}
	r := &runner{figures: f, t: t, witness: newWitness(), rng: rand.New(rand.NewPCG(seed, uint64(index)))}
	before := runtime.NumGoroutine()
	r.hub = s.open(t, r.witness)
	r.view = attach(t, r.hub, s, f, rand.New(rand.NewPCG(seed, uint64(1000+index))))
	if _, err := r.hub.StartServer(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	r.pass() // the server is ready
	start := time.Now()
	for r.n < calls && (limit == 0 || time.Since(start) < limit) {
		atOnce := []int{1, 4, 16, 48}[r.rng.IntN(4)]
		if s.most > 0 {
			atOnce = min(atOnce, s.most)
		}
		r.batch(index, min(calls-r.n, 100*atOnce, max(calls/6, leastBatch)), atOnce) // its end takes a second or two
		if limit > 0 {
			f.count(r.n >= calls/4)
		}
	}
	if limit > 0 {
		f.heapLate = heap()
	}
	r.end()
	f.calls, f.took = r.n, time.Since(start)
	if limit > 0 {
		r.grew(before)
	}
	if r.n < calls {
		f.bad("the time was up before all calls were made", "%d of %d in %s", r.n, calls, limit)
	}
	return f
}

// batch makes n calls, atOnce of them at a time, waits until all have ended, and judges them.
func (r *runner) batch(index, n, atOnce int) {
	type order struct {
		tag   string
		call  call
		delay time.Duration
		host  bool // the caller leaves; otherwise the user cancels
	}
	var orders []order
	for range n {
		c := r.subject.tools.works
		if asks := []call{r.subject.tools.form, r.subject.tools.sample}[r.rng.IntN(2)]; asks.tool != "" &&
			r.rng.IntN(100) < 54 {
			// 54 percent, so that at least half of all calls ask, although one subject cannot ask.
			c = asks
		}
		if c.tool != r.subject.tools.works.tool {
			r.asking++
		}
		tag := fmt.Sprintf("t%dx%dz", index, r.n)
		r.n++
		if strings.Contains(c.arguments, "%q") {
			c.arguments = fmt.Sprintf(c.arguments, tag)
		}
		orders = append(orders, order{tag, c, time.Duration(r.rng.Int64N(int64(mostDelay))), r.rng.IntN(5) == 0})
		r.view.begin(tag)
	}
	next := make(chan order)
	var workers sync.WaitGroup
	for range atOnce {
		workers.Go(func() {
			for o := range next {
				r.call(o.tag, o.call, o.delay, o.host)
			}
		})
	}
	for _, o := range orders {
		next <- o
	}
	close(next)
	workers.Wait()
	r.settle()
}

var errLeft = errors.New("the caller left")

func (r *runner) call(tag string, c call, delay time.Duration, host bool) {
	ctx, leave := context.WithCancelCause(context.Background())
	defer leave(nil)
	cancel := time.AfterFunc(delay, func() {
		if host {
			leave(errLeft)
		} else if _, err := r.hub.CancelRequest(tag, "s", "because of "+tag, event.OriginUser); err != nil {
			r.bad("a cancel was refused", "%s: %v", tag, err)
		}
	})
	defer cancel.Stop()
	r.view.start(tag)
	result, err := r.hub.CallTool(ctx, hub.CallRequest{
		ID: tag, Server: "s", Tool: c.tool, Arguments: c.arguments, Meta: fmt.Sprintf(`{%q:%q}`, peers.TagKey, tag),
		Preapproved: true,
	})
	if e, ok := errors.AsType[*event.Error](err); ok && e.Reason != event.ReasonCancelled &&
		e.Reason != event.ReasonInputDeclined {
		r.bad("a call failed", "%s %s: %s: %s", tag, c.tool, e.Reason, e.Message)
	}
	if err == nil && result.Error == nil {
		r.view.note(tag, string(result.Result))
	}
	if err == nil && result.Error != nil && !r.view.answered(tag) {
		r.bad("a call was refused", "%s %s: %d %s", tag, c.tool, result.Error.Code, result.Error.Message)
	}
}

// passing is the prefix of the ids of pass.
const passing = "pass-"

// pass makes a call that nobody cancels. When it has ended, the server has handled the earlier calls and asked their
// questions.
//
// A server that runs only a limited number of calls at a time (mcp-go: five) may be blocked by the questions of
// cancelled calls that were waiting in its queue. The hub cannot tell which call such a question belongs to, because it
// may be that of pass, so it stays open and pass waits behind it. A user would answer it. Here the window closes it
// after nudgeTime.
func (r *runner) pass() {
	answered := make(chan struct{})
	r.view.work.Go(func() {
		for {
			select {
			case <-answered:
				return
			case <-time.After(nudgeTime):
				for id := range r.view.left() {
					r.view.nudge(id)
				}
			}
		}
	})
	defer close(answered)
	c := r.subject.tools.quick
	id := fmt.Sprintf("%s%d", passing, r.n)
	ctx, stop := context.WithTimeoutCause(context.Background(), faketime.Long, errors.New("the test waited too long"))
	defer stop()
	_, err := r.hub.CallTool(ctx, hub.CallRequest{ID: id, Server: "s", Tool: c.tool, Arguments: c.arguments,
		Preapproved: true})
	if err != nil {
		r.bad("a call that nobody cancelled failed", "%v", err)
	}
}

// settle waits until the hub has nothing left to do and the server has recorded what it received. Then it judges the
// batch.
func (r *runner) settle() {
	r.pass()
	until(func() bool { return len(r.view.left()) == 0 && len(r.hub.Requests("")) == 0 })
	for id, q := range r.view.left() {
		r.leftOpen++
		r.bad("a question was left open when all calls were over", "%s of %q, for %q", id, q.tag, q.owner)
		_ = r.view.win.Answer(event.PromptAnswer{PromptID: id, Action: event.ActionDismiss})
	}
	r.view.work.Wait()
	until(func() bool { return r.view.pending() == 0 })
	if n := r.view.pending(); n > 0 {
		r.bad("the outcome of a cancel was not told", "%d in a batch", n)
	}
	calls, from := r.view.told(), time.Now()
	until(func() bool {
		for tag, c := range calls {
			seen := r.witness.of(tag)
			if r.closes() && len(seen) == 0 && time.Since(from) > unreadTime {
				continue // the server may never have looked at the call
			}
			if r.claimed(c) && !r.evident(seen) && !r.answered(seen) {
				return false
			}
		}
		return true
	})
	for tag, c := range calls {
		r.judge(tag, c, r.witness.of(tag))
	}
	until(func() bool { return r.witness.strays() == 0 }) // its call may have been read, but not recorded
	if n := r.witness.strays(); n > 0 {
		r.bad("a cancel names a request that did not come", "%d in a batch", n)
	}
	if left := r.hub.Requests(""); len(left) > 0 {
		r.bad("requests are left", "%d, the first is %+v", len(left), left[0])
	}
	r.witness.forget()
	r.view.forget()
}

// closes reports whether a call is cancelled by closing its stream and in no other way.
func (r *runner) closes() bool { return r.subject.transport == "http" && r.subject.era == modern }

// claimed reports whether the hub says that the server was told.
func (r *runner) claimed(c *told) bool {
	return c.cancelled != nil && (c.cancelled.ServerNotified() || c.settled != nil &&
		c.settled.Sending.Delivery == event.DeliveryDelivered)
}

// evident reports whether the server received the cancel, in the request of the call that was open last. Over HTTP in
// the modern era the cancel is the end of the stream.
func (r *runner) evident(seen []exchange) bool {
	if len(seen) == 0 {
		return false
	}
	last := seen[len(seen)-1]
	if r.closes() {
		return last.closed
	}
	return last.cancels > 0
}

// answered reports whether the server had finished its answer, so that there was nothing to cancel.
func (r *runner) answered(seen []exchange) bool { return len(seen) > 0 && seen[len(seen)-1].answered }

// tooManyOpen is in the result of a call whose question was refused because 64 questions of its server were open and 64
// more were about to be answered with cancel. That happens to servers that do not withdraw the questions of cancelled
// calls, if the hub cannot tell which call a question belongs to.
const tooManyOpen = "too many open requests"

func (r *runner) judge(tag string, c *told, seen []exchange) {
	if c.terminals != 1 {
		r.bad("not one terminal event", "%s: %d", tag, c.terminals)
	}
	switch {
	case c.cancelled != nil:
		r.cancelled++
		outcome := c.cancelled.Sending
		if c.settled != nil {
			r.pended++
			outcome = c.settled.Sending
		}
		if outcome.Delivery == event.DeliveryFailed {
			r.failed++
			r.why(outcome.Err)
		}
	case c.finished != nil && c.finished.IsError:
		r.refused++
		beyond := strings.Contains(c.result, tooManyOpen)
		if !c.answered && !c.cancelling && c.finished.McpError == nil && !beyond && !r.witness.unasked.take() {
			r.bad("a call failed that nobody refused", "%s %s: %s", tag, c.finished.Tool, c.result)
		}
	case c.finished != nil:
		r.finished++
	}
	evident := r.evident(seen)
	if evident {
		r.received++
	}
	switch claimed := r.claimed(c); {
	case claimed && evident:
		r.delivered++
	case claimed && r.answered(seen):
		r.overtaken++
	case claimed && len(seen) == 0 && r.closes():
		// The hub wrote the whole request and closed its stream, which is the cancel of this era. It cannot know
		// whether the server has read the request: a server that finds the connection closed may not look at it at all,
		// and then runs nothing.
		r.unread++
	case claimed:
		r.lost++
		r.bad("a cancel was called delivered that did not come", "%s %s: %+v", tag, c.cancelled.Tool, seen)
	case evident:
		r.unclaimed++
	}
	for _, x := range seen {
		if x.cancels > 1 {
			r.doubled++
			r.bad("two cancels for one wire id", "%s: %+v", tag, seen)
		}
		switch {
		case x.early > 0 && r.claimed(c) && !x.answered:
			r.bad("a cancel was called delivered that came before its call", "%s: %+v", tag, seen)
		case x.early > 0 && r.subject.transport != "stdio" && x.first.Sub(c.begun) >= cancelDelay:
			r.outOfOrder++
		case x.early > 0:
			r.bad("a cancel came before its call", "%s: %+v", tag, seen)
		}
		if x.calls > 1 {
			r.bad("a call was sent twice", "%s: %+v", tag, seen)
		}
	}
}

// end closes the hub and checks that nothing is left.
func (r *runner) end() {
	_, start, err := r.hub.Attach(hub.Hello{WindowID: "late"}, &view{figures: r.figures})
	if err != nil {
		r.t.Fatal(err)
	}
	if n := len(start.Snapshot.Requests); n > 0 {
		r.bad("requests are left at the end", "%d", n)
	}
	ctx, stop := context.WithTimeoutCause(context.Background(), faketime.Long, errors.New("the hub did not close"))
	defer stop()
	if err := r.hub.Close(ctx); err != nil {
		r.bad("the hub did not close", "%v", err)
	}
}

// grew checks that what the process held did not grow with the calls, and that no goroutine is left.
func (r *runner) grew(before int) {
	if r.heapLate > r.heapEarly+slackHeap {
		r.bad("memory grew", "%.1f MiB became %.1f", mib(r.heapEarly), mib(r.heapLate))
	}
	slack := slackGoroutines
	if r.subject.bare {
		slack *= 5 // both sides of the proxy are in this process
	}
	if r.goroutinesMost > r.goroutines+slack {
		r.bad("goroutines grew", "%d became %d", r.goroutines, r.goroutinesMost)
	}
	if r.subject.serve == nil { // otherwise the journal's reader, or the proxy, still runs
		before++ // the goroutine that starts processes stays
		until(func() bool { return runtime.NumGoroutine() <= before })
		if n := runtime.NumGoroutine(); n > before {
			r.bad("goroutines are left at the end", "%d, %d at the start:\n%s", n, before, stacks())
		}
	}
	r.goroutinesAfter = runtime.NumGoroutine()
}

func stacks() string {
	buf := make([]byte, 1<<20)
	all := strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n")
	return strings.Join(slices.Collect(slices.Values(all[:min(len(all), 30)])), "\n\n")
}
