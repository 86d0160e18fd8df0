package windows

import (
	"context"
	"sync"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
)

// Bounds of what may be under way at once: each is a goroutine, and most are a call.
const (
	maxWork    = 256  // of one window
	maxAllWork = 4096 // of all: a page that comes back under another id each time must not begin without end
)

// work is what the user has asked for in one window and is under way.
type work struct {
	running   int
	comparing int // answers whose content is compared with what was asked for
}

// BeginComparing takes a place for an answer of w that is compared with what was asked for; EndComparing gives it back.
// false: too many are being compared.
func (w *Window) BeginComparing() bool {
	if w.work.comparing >= bounds.WindowAnswers {
		return false
	}
	w.work.comparing++
	return true
}

// EndComparing gives a place back.
func (w *Window) EndComparing() { w.work.comparing-- }

// Orders is what the user may ask for in a window. Its methods take the lock.
type Orders struct{ w *Window }

// Orders of w.
func (w *Window) Orders() Orders { return Orders{w} }

// ID of the window. It takes no lock.
func (o Orders) ID() string { return o.w.id }

// Go runs f, which the user has asked for in w and which is to be carried out whatever becomes of the window, on a
// goroutine of the hub. The context ends with the hub. What f returns is called once it no longer counts: it tells what
// came of it.
func (o Orders) Go(f func(ctx context.Context) (tell func())) error {
	return o.w.run(o.w.table.Life, f)
}

// GoAttached is Go for what is of use to this attachment alone: the context ends with it.
func (o Orders) GoAttached(f func(ctx context.Context) (tell func())) error {
	return o.w.run(o.w.ctx, f)
}

// Order is Go for an order that changes what is: it returns once that has taken effect, or is over. So the orders of
// one window take effect in the order in which they are given, however long each goes on after that. The wait is for
// the hub's lock and no longer: see TookEffect.
func (o Orders) Order(f func(ctx context.Context) (tell func())) error {
	return o.w.order(o.w.table.Life, f)
}

// OrderAttached is Order for what is of use to this attachment alone: the context ends with it.
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

// effectKey is the key of what TookEffect calls.
type effectKey struct{}

// TookEffect tells the window that has given an order, if one has, that it has taken effect. What starts, stops and
// switches servers calls it before it waits for anything but the lock.
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

// Turn is one goroutine of the hub's that works for a window.
type Turn struct{ w *Window }

// TakeTurn refuses when there are too many, or the window is gone. Whoever has got one calls Over as the last thing
// that its goroutine does.
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
	case !w.attached: // also of a hub that is closed, whose goroutines are being waited for
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

// Over ends what counts, and then tells: who has been told may ask for the next. tell may be nil.
func (t Turn) Over(tell func()) {
	table := t.w.table
	defer table.Work.Done()
	table.House.Update(func() {
		t.w.work.running--
		table.running--
	})
	if tell != nil {
		tell()
	}
}
