package hub

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

// The goroutine that asks a question which several share panics. The others do not wait for ever: one of them asks now.
// Finding B15.
func TestPanicInASharedQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(Options{})
		s := h.bareServer("s")
		key := sharedKey{server: "s"}
		gate, joined := make(chan struct{}), make(chan string, 1)
		go func() {
			defer func() { _ = recover() }()
			_, _ = h.sharing.Do(context.Background(), key, s, func(*shared) (string, error) {
				<-gate
				panic("a fault")
			})
		}()
		synctest.Wait()
		go func() {
			value, err := h.sharing.Do(context.Background(), key, s, func(*shared) (string, error) { return "mine", nil })
			if err != nil {
				value = err.Error()
			}
			joined <- value
		}()
		synctest.Wait()
		close(gate)
		synctest.Wait()
		select {
		case value := <-joined:
			if value != "mine" {
				t.Errorf("who joined got %q", value)
			}
		default:
			t.Error("who joined waits for ever")
		}
		if err := h.Close(context.Background()); err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}
