package hub

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
)

// Bounds of the orders that run at the same time. Each has a goroutine, and most are calls.
const (
	maxWork    = 256  // of one window
	maxAllWork = 4096 // of all windows, for a page that attaches under a new id each time
)

// windowWork counts the orders of one window's user that are running. It outlives the attachment.
type windowWork struct {
	running   int
	comparing int // answers that are being compared: see beginComparing
}

func (k *windowWork) busy() bool { return k.running+k.comparing > 0 }

// beginComparing reserves a place for an answer of w whose content is compared with what was asked for. It returns
// false if too many are being compared. endComparing gives the place back.
func (w *Window) beginComparing() bool {
	if w.work.comparing >= bounds.WindowAnswers {
		return false
	}
	w.work.comparing++
	return true
}

// endComparing gives back the place of beginComparing.
func (w *Window) endComparing() {
	w.work.comparing--
	w.h.windows.settle(w)
}

// Go runs f on a goroutine of the hub. It is for orders that are carried out even if the window closes: the context
// ends with the hub. The function that f returns reports the result. It is called when the order no longer counts as
// running.
func (w *Window) Go(f func(ctx context.Context) (tell func())) error {
	return w.run(w.h.life, f)
}

// GoAttached is Go for orders that only this attachment needs: the context ends with the attachment.
func (w *Window) GoAttached(f func(ctx context.Context) (tell func())) error {
	return w.run(w.ctx, f)
}

// Order is Go for orders that change state. It returns as soon as f has called tookEffect or has returned, so the
// orders of a window take effect in the order in which they were given, although the rest of each runs concurrently.
// Since f calls tookEffect before it waits for anything but the hub's lock, Order waits no longer than for that lock.
func (w *Window) Order(f func(ctx context.Context) (tell func())) error {
	return w.order(w.h.life, f)
}

// OrderAttached is Order for orders that only this attachment needs: the context ends with the attachment.
func (w *Window) OrderAttached(f func(ctx context.Context) (tell func())) error {
	return w.order(w.ctx, f)
}

func (w *Window) order(ctx context.Context, f func(ctx context.Context) (tell func())) error {
	effective := make(chan struct{})
	once := sync.OnceFunc(func() { close(effective) })
	err := w.run(context.WithValue(ctx, tookEffectKey{}, once), func(ctx context.Context) (tell func()) {
		defer once()
		return f(ctx)
	})
	if err == nil {
		<-effective
	}
	return err
}

// tookEffectKey is the context key of the function that tookEffect calls.
type tookEffectKey struct{}

// tookEffect tells Order, if ctx is from one, that the order has taken effect. The functions that start, stop and
// switch servers call it before they wait for anything but the lock.
func tookEffect(ctx context.Context) {
	if told, ok := ctx.Value(tookEffectKey{}).(func()); ok {
		told()
	}
}

func (w *Window) run(ctx context.Context, f func(ctx context.Context) (tell func())) error {
	t, err := w.takePlace()
	if err != nil {
		return err
	}
	go func() { t.over(f(ctx)) }()
	return nil
}

// windowPlace is the right to one goroutine that works for a window.
type windowPlace struct{ w *Window }

// takePlace reserves a goroutine. It fails if too many run, or if w is detached. The goroutine must call over last.
func (w *Window) takePlace() (t windowPlace, err error) {
	w.h.within(func() { t, err = w.takePlaceNow() })
	return t, err
}

func (w *Window) takePlaceNow() (windowPlace, error) {
	t := w.h.windows
	full := func(format string, args ...any) error {
		return event.Fail(event.CodeResourceExhausted, event.ReasonQueueFull,
			[]string{"window_id", bounds.Printable(w.id)}, format, args...)
	}
	switch {
	case !w.attached: // all windows of a closed hub are detached, so no goroutine starts while Close waits for them
		return windowPlace{}, event.Fail(event.CodeFailedPrecondition, event.ReasonWindowDetached,
			[]string{"window_id", bounds.Printable(w.id)},
			"window %q is detached; attach again", bounds.Printable(w.id))
	case w.work.running >= maxWork:
		return windowPlace{}, full("window %q has %d calls and other orders under way, and more are not taken; "+
			"wait until some are over, or cancel them", bounds.Printable(w.id), maxWork)
	case t.running >= maxAllWork:
		return windowPlace{}, full("the windows have %d calls and other orders under way, and more are not taken; "+
			"wait until some are over, or cancel them", maxAllWork)
	}
	w.work.running++
	t.running++
	w.h.work.Add(1)
	return windowPlace{w}, nil
}

// over gives the place back and then calls tell, which may be nil. Whoever is told may begin the next order.
func (t windowPlace) over(tell func()) {
	h := t.w.h
	defer h.work.Done()
	h.within(func() {
		t.w.work.running--
		h.windows.running--
		h.windows.settle(t.w)
	})
	if tell != nil {
		tell()
	}
}

// CallTool calls a tool for the user. If it returns nil, the call is a request like any other: it is listed, it can be
// cancelled, it goes on when the window closes (unless the window owns it), and it ends with the hub. It runs on a
// goroutine of the hub, which calls over with the results that [Hub.CallTool] would have returned. The windows learn
// its result from the event of its end. If CallTool returns an error, nothing has begun, and over is not called.
func (w *Window) CallTool(c CallRequest, over func(*CallResult, error)) error {
	if c.Preapproved {
		return event.Fail(event.CodeInvalidArgument, event.ReasonInvalidRequest,
			[]string{"window_id", bounds.Printable(w.id)},
			"a window cannot say that a call is preapproved: only a host can, that has asked the user itself; "+
				"leave it out, and the user is asked")
	}
	return w.carry(&c, w.h.beginTool, w.h.runTool, over)
}

// ReadResource reads a resource for the user, as CallTool calls a tool.
func (w *Window) ReadResource(c CallRequest, over func(*CallResult, error)) error {
	return w.carry(&c, w.h.beginReading, w.h.runReading, over)
}

// GetMcpPrompt fills a prompt template for the user, as CallTool calls a tool.
func (w *Window) GetMcpPrompt(c CallRequest, over func(*CallResult, error)) error {
	return w.carry(&c, w.h.beginFilling, w.h.runFilling, over)
}

// runner runs a request to its end.
type runner func(ctx context.Context, r *request, meta map[string]json.RawMessage, c *CallRequest) (*CallResult, error)

func (w *Window) carry(c *CallRequest,
	begin func(c *CallRequest, ofWindow bool) (*request, map[string]json.RawMessage, error), run runner,
	over func(*CallResult, error)) error {
	t, err := w.takePlace()
	if err != nil {
		return err
	}
	r, meta, err := begin(c, true)
	if err != nil {
		t.over(nil)
		return err
	}
	go func() {
		result, err := w.h.runRecovered(run, r, meta, c)
		t.over(func() { over(result, err) })
	}()
	return nil
}

// runRecovered calls run on a goroutine of the hub, where a panic would end the process and with it every other call.
// The request does not end with a context of its caller: Drain ends it at the latest.
func (h *Hub) runRecovered(run runner, r *request, meta map[string]json.RawMessage,
	c *CallRequest) (result *CallResult, err error) {
	defer func() {
		if p := recover(); p != nil {
			result, err = nil, h.panicked(p)
		}
	}()
	return run(context.Background(), r, meta, c)
}
