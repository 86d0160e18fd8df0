package hub

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
)

// Bounds of what may be under way at once: each is a goroutine, and most are a call.
const (
	maxWindowWork  = 256  // of one window
	maxWindowsWork = 4096 // of all: a page that comes back under another id each time must not begin without end
)

// windowWork is what the user has asked for in one window and is under way. Guarded by Hub.mu.
type windowWork struct {
	running   int
	comparing int // answers whose content is compared with what was asked for
}

// errStreamEnded is the cause of what ends with the attachment of its window.
var errStreamEnded = event.Fail(event.CodeCancelled, event.ReasonCancelled, nil,
	"the stream of the window that asked for it ended")

// CallTool calls a tool for the user. When it returns without an error, the call is a request like any other: it is
// listed, it can be cancelled, it goes on when the window closes (unless that owns it) and ends with the hub. It runs
// on a goroutine of the hub, which calls over with what [Hub.CallTool] would have given; the windows are told of its
// result by the event of its end. An error says that nothing has begun; over is not called then.
func (w *Window) CallTool(c CallRequest, over func(*CallResult, error)) error {
	if c.Preapproved {
		return event.Fail(event.CodeInvalidArgument, event.ReasonInvalidRequest,
			[]string{"window_id", bounds.Printable(w.id)},
			"a window cannot say that a call is preapproved: only a host can, that has asked the user itself; leave it out, and the user is asked")
	}
	t, err := w.takeTurn()
	if err != nil {
		return err
	}
	r, meta, err := w.h.beginTool(&c, true)
	if err != nil {
		t.over()
		t.tell(nil)
		return err
	}
	go func() {
		result, err := w.h.runRecovered(r, meta, &c)
		t.over()
		t.tell(func() { over(result, err) })
	}()
	return nil
}

// runRecovered is runTool on a goroutine of the hub, where a panic would end the process and every other call with it.
// No context of the caller's ends it, but its own, by Drain at the latest.
func (h *Hub) runRecovered(r *request, meta map[string]json.RawMessage,
	c *CallRequest) (result *CallResult, err error) {
	defer func() {
		if p := recover(); p != nil {
			result, err = nil, h.panicked(p)
		}
	}()
	return h.runTool(context.Background(), r, meta, c)
}

// Go runs f, which the user has asked for in w and which is to be carried out whatever becomes of the window, on a
// goroutine of the hub. The context ends with the hub. What f returns is called once it no longer counts: it tells what
// came of it.
func (w *Window) Go(f func(ctx context.Context) (tell func())) error { return w.run(w.h.life, f) }

// GoAttached is Go for what is of use to this attachment alone: the context ends with it.
func (w *Window) GoAttached(f func(ctx context.Context) (tell func())) error { return w.run(w.ctx, f) }

// Order is Go for an order that changes what is: it returns once that has taken effect, or is over. So the orders of
// one window take effect in the order in which they are given, however long each goes on after that. The wait is for
// the hub's lock and no longer: see tookEffect.
func (w *Window) Order(f func(ctx context.Context) (tell func())) error { return w.order(w.h.life, f) }

// OrderAttached is Order for what is of use to this attachment alone: the context ends with it.
func (w *Window) OrderAttached(f func(ctx context.Context) (tell func())) error {
	return w.order(w.ctx, f)
}

func (w *Window) order(ctx context.Context, f func(ctx context.Context) (tell func())) error {
	effective := make(chan struct{})
	once := sync.OnceFunc(func() { close(effective) })
	err := w.run(context.WithValue(ctx, effectKey{}, once), func(ctx context.Context) (tell func()) {
		defer once()
		return f(ctx)
	})
	if err == nil {
		<-effective
	}
	return err
}

// effectKey is the key of what tookEffect calls.
type effectKey struct{}

// tookEffect tells the window that has given an order, if one has, that it has taken effect. StartServer, StopServer,
// RestartServer and SetServerEnabled call it before they wait for anything but the lock.
func tookEffect(ctx context.Context) {
	if told, ok := ctx.Value(effectKey{}).(func()); ok {
		told()
	}
}

func (w *Window) run(ctx context.Context, f func(ctx context.Context) (tell func())) error {
	t, err := w.takeTurn()
	if err != nil {
		return err
	}
	go func() {
		tell := f(ctx)
		t.over()
		t.tell(tell)
	}()
	return nil
}

// turn is one goroutine of the hub's that works for a window.
type turn struct{ w *Window }

// takeTurn refuses when there are too many, or the window is gone. Whoever has got one calls over and then tell.
func (w *Window) takeTurn() (turn, error) {
	h := w.h
	defer h.lock().unlock()
	switch {
	case !w.attached: // also of a hub that is closed, whose goroutines are being waited for
		return turn{}, event.Fail(event.CodeFailedPrecondition, event.ReasonWindowDetached,
			[]string{"window_id", bounds.Printable(w.id)},
			"window %q is detached; attach again", bounds.Printable(w.id))
	case w.work.running >= maxWindowWork:
		return turn{}, event.Fail(event.CodeResourceExhausted, event.ReasonQueueFull,
			[]string{"window_id", bounds.Printable(w.id)},
			"window %q has %d calls and other orders under way, and more are not taken; wait until some are over, or cancel them",
			bounds.Printable(w.id), maxWindowWork)
	case h.windowsWork >= maxWindowsWork:
		return turn{}, event.Fail(event.CodeResourceExhausted, event.ReasonQueueFull,
			[]string{"window_id", bounds.Printable(w.id)},
			"the windows have %d calls and other orders under way, and more are not taken; wait until some are over, or cancel them", maxWindowsWork)
	}
	w.work.running++
	h.windowsWork++
	h.work.Add(1)
	return turn{w}, nil
}

// over ends what counts. It comes before tell: who has been told may ask for the next.
func (t turn) over() {
	defer t.w.h.lock().unlock()
	t.w.work.running--
	t.w.h.windowsWork--
}

// tell is the last thing that the goroutine does.
func (t turn) tell(tell func()) {
	defer t.w.h.work.Done()
	if tell != nil {
		tell()
	}
}
