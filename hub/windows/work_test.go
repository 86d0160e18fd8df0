package windows_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/windows"
)

// Most calls and orders of one window, and of all: see work.go.
const (
	maxWork    = 256
	maxAllWork = 4096
)

// turns takes turns until there are no more, or more than there may be.
func turns(t *testing.T, v *view) (list []windows.Turn) {
	t.Helper()
	for len(list) <= maxAllWork {
		turn, err := v.TakeTurn()
		if err != nil {
			wantRefusal(t, err, event.ReasonQueueFull)
			return list
		}
		list = append(list, turn)
	}
	return list
}

// The work of one window is bounded over its attachments: neither a page that reloads itself nor another stream starts
// from nothing.
func TestWorkOfAWindowIsBounded(t *testing.T) {
	h := newHouse(t)
	a, b := h.attach(window("a")), h.attach(window("b"))
	all := turns(t, a)
	if len(all) != maxWork {
		t.Fatalf("a window has %d under way", len(all))
	}
	told := false
	all[0].Over(func() { // who is told may ask for the next
		turn, err := a.TakeTurn()
		all[0], told = turn, err == nil
	})
	if !told {
		t.Error("a place is not given back before it is told of")
	}
	bs, err := b.TakeTurn()
	if err != nil {
		t.Errorf("another window: %v", err)
	}
	bs.Over(nil)
	a.Part()
	_, err = a.TakeTurn()
	wantRefusal(t, err, event.ReasonWindowDetached)
	a = h.attach(again(window("a")))
	_, err = a.TakeTurn()
	wantRefusal(t, err, event.ReasonQueueFull)
	for _, turn := range all { // of the attachment of before
		turn.Over(nil)
	}
	if all = turns(t, a); len(all) != maxWork {
		t.Errorf("then it has %d under way", len(all))
	}
	for _, turn := range all {
		turn.Over(nil)
	}
	h.work.Wait() // all were counted
}

func TestWorkOfAllWindowsIsBounded(t *testing.T) {
	h := newHouse(t)
	var all []windows.Turn
	for n := 0; len(all) < maxAllWork; n++ {
		v := h.attach(window(fmt.Sprint("page-", n)))
		more := turns(t, v)
		if len(more) != maxWork {
			t.Fatalf("window %d has %d under way, all have %d", n, len(more), len(all))
		}
		all = append(all, more...)
		v.Part() // it comes back under another id each time
		h.Remove(v.ID())
	}
	late := h.attach(window("late"))
	if more := turns(t, late); len(more) != 0 {
		t.Errorf("with %d under way, %d more were taken", len(all), len(more))
	}
	all[0].Over(nil)
	all = append(all[1:], turns(t, late)...)
	if len(all) != maxAllWork {
		t.Errorf("%d are under way", len(all))
	}
	for _, turn := range all {
		turn.Over(nil)
	}
	h.work.Wait()
}

func TestComparedAnswersAreBounded(t *testing.T) {
	h := newHouse(t)
	v := h.attach(window("a"))
	n := 0
	for v.BeginComparing() {
		n++
	}
	if n != bounds.WindowAnswers {
		t.Errorf("%d answers are compared at once", n)
	}
	v.Part()
	if v = h.attach(again(window("a"))); v.BeginComparing() {
		t.Error("a page that was loaded anew has more compared")
	}
	if v.EndComparing(); !v.BeginComparing() || v.BeginComparing() {
		t.Error("not exactly one place free after one EndComparing")
	}
}

// Work for an attachment alone ends with it, and all other work with the hub.
func TestHowLongWorkLives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		v := h.attach(window("a"))
		ended := map[string]error{}
		until := func(name string) func(context.Context) func() {
			return func(ctx context.Context) func() {
				windows.TookEffect(ctx)
				<-ctx.Done()
				return func() { h.Update(func() { ended[name] = context.Cause(ctx) }) }
			}
		}
		for name, begin := range map[string]func(func(context.Context) func()) error{
			"go": v.Orders().Go, "go attached": v.Orders().GoAttached,
			"order": v.Orders().Order, "order attached": v.Orders().OrderAttached,
		} {
			if err := begin(until(name)); err != nil {
				t.Fatal(err)
			}
		}
		if synctest.Wait(); len(ended) != 0 {
			t.Fatalf("ended: %v", ended)
		}
		v.Part()
		synctest.Wait()
		for _, name := range []string{"go attached", "order attached"} {
			if e := event.AsError(ended[name]); ended[name] == nil || e.Code != event.CodeCancelled {
				t.Errorf("%s ended with %v", name, ended[name])
			}
		}
		if len(ended) != 2 {
			t.Errorf("ended with the attachment: %v", ended)
		}
		h.end(event.ErrDraining())
		h.work.Wait()
		if len(ended) != 4 || event.AsError(ended["order"]).Reason != event.ReasonDraining {
			t.Errorf("ended with the hub: %v", ended)
		}
	})
}

// Order returns once the order has taken effect; the order may go on for long after that. One that does not tell of its
// effect is waited for to its end.
func TestOrdersTakeEffectInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		o := h.attach(window("a")).Orders()
		var effects []string
		goOn := make(chan struct{})
		for _, name := range []string{"1", "2", "3"} {
			if err := o.Order(func(ctx context.Context) func() {
				effects = append(effects, name)
				windows.TookEffect(ctx)
				windows.TookEffect(ctx)
				<-goOn
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		if err := o.Order(func(context.Context) func() { effects = append(effects, "4"); return nil }); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(effects); got != "[1 2 3 4]" {
			t.Errorf("took effect: %s", got)
		}
		given := false
		go func() {
			_ = o.Order(func(context.Context) func() { <-goOn; return nil })
			given = true
		}()
		if synctest.Wait(); given {
			t.Error("an order was given before it took effect")
		}
		close(goOn)
		if synctest.Wait(); !given {
			t.Error("an order that is over was not given")
		}
	})
	windows.TookEffect(context.Background()) // no order waits for it
}
