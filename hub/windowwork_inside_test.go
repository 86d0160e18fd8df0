package hub

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
)

// Order returns once the order has taken effect; the order may go on for long after that. One that does not tell of its
// effect is waited for to its end.
func TestOrdersTakeEffectInOrder(t *testing.T) {
	inBubble(t, func(t *testing.T, h *inside) {
		o := h.attach(Hello{WindowID: "a"})
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
