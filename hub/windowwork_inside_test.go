package hub

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
)

func TestComparedAnswersAreBounded(t *testing.T) {
	inBubble(t, func(t *testing.T, h *inside) {
		v := h.attach(helloOf("a"))
		n := 0
		h.within(func() {
			for v.beginComparing() {
				n++
			}
		})
		if n != bounds.WindowAnswers {
			t.Errorf("%d answers are compared at once", n)
		}
		v.Detach(false)
		v = h.attach(Hello{WindowID: "a", ComesBackTo: h.ID()})
		h.within(func() {
			if v.beginComparing() {
				t.Error("a page that was loaded anew has more compared")
			}
			if v.endComparing(); !v.beginComparing() || v.beginComparing() {
				t.Error("not exactly one place free after one endComparing")
			}
		})
	})
}

// Work for an attachment alone ends with it, and all other work with the hub.
func TestHowLongWorkLives(t *testing.T) {
	inBubble(t, func(t *testing.T, h *inside) {
		v := h.attach(helloOf("a"))
		ended := map[string]error{}
		until := func(name string) func(context.Context) func() {
			return func(ctx context.Context) func() {
				tookEffect(ctx)
				<-ctx.Done()
				return func() { h.within(func() { ended[name] = context.Cause(ctx) }) }
			}
		}
		for name, begin := range map[string]func(func(context.Context) func()) error{
			"go": v.Go, "go attached": v.GoAttached, "order": v.Order, "order attached": v.OrderAttached,
		} {
			if err := begin(until(name)); err != nil {
				t.Fatal(err)
			}
		}
		if synctest.Wait(); len(ended) != 0 {
			t.Fatalf("ended: %v", ended)
		}
		v.Detach(false)
		synctest.Wait()
		for _, name := range []string{"go attached", "order attached"} {
			if e := event.AsError(ended[name]); ended[name] == nil || e.Code != event.CodeCancelled {
				t.Errorf("%s ended with %v", name, ended[name])
			}
		}
		_, err := v.takePlace()
		wantReason(t, err, event.ReasonWindowDetached)
		if len(ended) != 2 {
			t.Errorf("ended with the attachment: %v", ended)
		}
		if err := h.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if len(ended) != 4 || event.AsError(ended["order"]).Reason != event.ReasonDraining {
			t.Errorf("ended with the hub: %v", ended)
		}
	})
}

// Order returns once the order has taken effect; the order may go on for long after that. One that does not tell of its
// effect is waited for to its end.
func TestOrdersTakeEffectInOrder(t *testing.T) {
	inBubble(t, func(t *testing.T, h *inside) {
		o := h.attach(helloOf("a"))
		var effects []string
		goOn := make(chan struct{})
		for _, name := range []string{"1", "2", "3"} {
			if err := o.Order(func(ctx context.Context) func() {
				effects = append(effects, name)
				tookEffect(ctx)
				tookEffect(ctx)
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
	tookEffect(context.Background()) // no order waits for it
}
