package windows

import (
	"context"
	"sync"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
)

// Bounds of the orders that run at the same time. Each has a goroutine, and most are calls.
const (
	maxWork    = 256  // of one window
	maxAllWork = 4096 // of all windows, for a page that attaches under a new id each time
)

// work counts the orders of one window's user that are running. It outlives the attachment.
type work struct {
	running   int
	comparing int // answers that are being compared: see BeginComparing
}

func (k *work) busy() bool { return k.running+k.comparing > 0 }

// BeginComparing reserves a place for an answer of w whose content is compared with what was asked for. It returns
// false if too many are being compared. EndComparing gives the place back.
func (w *Window) BeginComparing() bool {
	if w.work.comparing >= bounds.WindowAnswers {
		return false
	}
	w.work.comparing++
	return true
}

// EndComparing gives back the place of BeginComparing.
func (w *Window) EndComparing() {
	w.work.comparing--
	w.table.settle(w)
}

// Orders runs the orders that a user gives in a window. Its methods take the lock.
type Orders struct{ w *Window }

// Orders returns the Orders of w.
func (w *Window) Orders() Orders { return Orders{w} }

// ID returns the id of the window. It takes no lock.
func (o Orders) ID() string { return o.w.id }

// Go runs f on a goroutine of the hub. It is for orders that are carried out even if the window closes: the context
// ends with the hub. The function that f returns reports the result. It is called when the order no longer counts as
// running.
func (o Orders) Go(f func(ctx context.Context) (tell func())) error {
	return o.w.run(o.w.table.Life, f)
}

// GoAttached is Go for orders that only this attachment needs: the context ends with the attachment.
func (o Orders) GoAttached(f func(ctx context.Context) (tell func())) error {
	return o.w.run(o.w.ctx, f)
}

// Order is Go for orders that change state. It returns as soon as f has called TookEffect or has returned, so the
// orders of a window take effect in the order in which they were given, although the rest of each runs concurrently.
// Since f calls TookEffect before it waits for anything but the hub's lock, Order waits no longer than for that lock.
func (o Orders) Order(f func(ctx context.Context) (tell func())) error {
	return o.w.order(o.w.table.Life, f)
}

// OrderAttached is Order for orders that only this attachment needs: the context ends with the attachment.
func (o Orders) OrderAttached(f func(ctx context.Context) (tell func())) error {
	return o.w.order(o.w.ctx, f)
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

// effectKey is the context key of the function that TookEffect calls.
type effectKey struct{}

// TookEffect tells Order, if ctx is from one, that the order has taken effect. The functions that start, stop and
// switch servers call it before they wait for anything but the lock.
func TookEffect(ctx context.Context) {
	if told, ok := ctx.Value(effectKey{}).(func()); ok {
		told()
	}
}

func (w *Window) run(ctx context.Context, f func(ctx context.Context) (tell func())) error {
	t, err := w.TakeTurn()
	if err != nil {
		return err
	}
	go func() { t.Over(f(ctx)) }()
	return nil
}

// Turn is the right to one goroutine that works for a window.
type Turn struct{ w *Window }

// TakeTurn reserves a goroutine. It fails if too many run, or if w is detached. The goroutine must call Over last.
func (w *Window) TakeTurn() (t Turn, err error) {
	w.table.House.Update(func() { t, err = w.takeTurn() })
	return t, err
}

func (w *Window) takeTurn() (Turn, error) {
	t := w.table
	full := func(format string, args ...any) error {
		return event.Fail(event.CodeResourceExhausted, event.ReasonQueueFull,
			[]string{"window_id", bounds.Printable(w.id)}, format, args...)
	}
	switch {
	case !w.attached: // all windows of a closed hub are detached, so no goroutine starts while Close waits for them
		return Turn{}, event.Fail(event.CodeFailedPrecondition, event.ReasonWindowDetached,
			[]string{"window_id", bounds.Printable(w.id)},
			"window %q is detached; attach again", bounds.Printable(w.id))
	case w.work.running >= maxWork:
		return Turn{}, full("window %q has %d calls and other orders under way, and more are not taken; "+
			"wait until some are over, or cancel them", bounds.Printable(w.id), maxWork)
	case t.running >= maxAllWork:
		return Turn{}, full("the windows have %d calls and other orders under way, and more are not taken; "+
			"wait until some are over, or cancel them", maxAllWork)
	}
	w.work.running++
	t.running++
	t.Work.Add(1)
	return Turn{w}, nil
}

// Over returns the turn and then calls tell, which may be nil. Whoever is told may begin the next order.
func (t Turn) Over(tell func()) {
	table := t.w.table
	defer table.Work.Done()
	table.House.Update(func() {
		t.w.work.running--
		table.running--
		table.settle(t.w)
	})
	if tell != nil {
		tell()
	}
}
