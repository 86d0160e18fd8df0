package jsonrpc_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
)

// slow is a notification handler that lets one notification pass for each step of the test.
type slow struct {
	step chan struct{}

	mu   sync.Mutex // guards seen
	seen []string
}

func newSlow() *slow { return &slow{step: make(chan struct{}, 1<<20)} }

func (s *slow) handle(n *jsonrpc.Notification) {
	<-s.step
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, n.Method+string(n.Params))
}

func (s *slow) pass(n int) {
	for range n {
		s.step <- struct{}{}
	}
	synctest.Wait()
}

func (s *slow) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := s.seen
	s.seen = nil
	return seen
}

func TestResponseAfterNotifications(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlow()
		p, w := start(t, jsonrpc.Options{HandleNotification: s.handle})
		_, first := begin(t, p, t.Context(), "a", "")
		_, second := begin(t, p, t.Context(), "b", "")
		_, third := begin(t, p, t.Context(), "c", "")
		synctest.Wait()
		w.send(answered("3", "3")) // nothing before it
		check(t, "third", string((<-third).result), "3")
		w.send(note("n", "1"), note("n", "2"), answered("2", "2"), note("n", "3"), answered("1", "1"))
		s.pass(1)
		check(t, "answers after one of two", len(first)+len(second), 0)
		s.pass(1)
		check(t, "second after two", len(second), 1)
		check(t, "first after two of three", len(first), 0)
		s.pass(1)
		check(t, "first after three", len(first), 1)
		check(t, "seen", s.take(), []string{"n1", "n2", "n3"})

		// The handler has the only notification, and none waits.
		_, fourth := begin(t, p, t.Context(), "d", "")
		w.send(note("n", "4"))
		synctest.Wait()
		w.send(answered("4", "4"))
		synctest.Wait()
		check(t, "fourth during four", len(fourth), 0)
		s.pass(1)
		check(t, "fourth after four", len(fourth), 1)
	})
}

func TestSlowConsumerDoesNotBlockReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, d := newSlow(), &desk{}
		p, w := start(t, jsonrpc.Options{HandleNotification: s.handle, HandleRequest: d.handle})
		w.send(note("n", "1"), note("n", "2"))
		w.send(ask("1", "roots/list"), ask("2", "elicitation/create"), withdraw("2", "gone"))
		synctest.Wait()
		check(t, "withdrawn", d.ended(), []string{"2: jsonrpc: withdrawn by the peer: gone"})
		d.answer(t, "1", "{}")
		w.expect(t, answered("1", "{}"))
		ctx, cancel := cancellable()
		_, got := begin(t, p, ctx, "a", "")
		w.expect(t, called("1", "a"))
		cancel("stop")
		isCancelled(t, (<-got).err, "stop", true)
		w.expect(t, cancelled("1", "stop"))
		s.pass(2)
	})
}

func TestNotificationClasses(t *testing.T) {
	classify := func(n *jsonrpc.Notification) (jsonrpc.Class, string) {
		switch {
		case strings.HasPrefix(n.Method, "progress"):
			return jsonrpc.Coalesce, n.Method
		case n.Method == "log":
			return jsonrpc.Lossy, ""
		}
		return jsonrpc.MustDeliver, ""
	}
	t.Run("coalesce", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newSlow()
			p, w := start(t, jsonrpc.Options{HandleNotification: s.handle, Classify: classify})
			w.send(note("hold", "0"))
			synctest.Wait()
			for i := range 1000 {
				w.send(note("progressA", fmt.Sprint(i)), note("progressB", fmt.Sprint(i)))
			}
			w.send(note("n", "1"))
			synctest.Wait()
			s.pass(1000)
			check(t, "seen", s.take(), []string{"hold0", "progressA999", "progressB999", "n1"})
			check(t, "coalesced", p.Stats().CoalescedNotifications, uint64(1998))
			// Nothing with this key waits any more, so the next notification with it is queued and delivered.
			w.send(note("progressA", "7"))
			s.pass(0)
			check(t, "seen", s.take(), []string{"progressA7"})
		})
	})
	t.Run("lossy", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newSlow()
			p, w := start(t, jsonrpc.Options{HandleNotification: s.handle, Classify: classify})
			w.send(note("hold", "0"))
			synctest.Wait()
			for i := range 1500 {
				w.send(note("log", fmt.Sprint(i)))
			}
			w.send(note("n", "1")) // of another class: not dropped
			synctest.Wait()
			s.pass(2000)
			seen := s.take()
			check(t, "delivered", len(seen), 1+1024+1)
			check(t, "last", seen[len(seen)-2:], []string{"log1023", "n1"})
			check(t, "dropped", p.Stats().DroppedNotifications, uint64(476))
		})
	})
	t.Run("must deliver", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newSlow()
			p, w := start(t, jsonrpc.Options{HandleNotification: s.handle})
			for range 65536 + 1 + 10 { // one is with the handler
				w.send(note("n", "1"))
				if len(w.in) > 60000 {
					synctest.Wait()
				}
			}
			synctest.Wait()
			check(t, "dropped", p.Stats().DroppedNotifications, uint64(10))
			s.pass(1 << 17)
			check(t, "delivered", len(s.take()), 65537)
		})
	})
	t.Run("bytes", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newSlow()
			p, w := start(t, jsonrpc.Options{HandleNotification: s.handle, Classify: classify})
			big := `"` + strings.Repeat("x", 30<<20) + `"`
			w.send(note("hold", "0"), note("n", big), note("progressA", "1"), note("n", big), note("n", big),
				note("progressA", big))
			synctest.Wait()
			check(t, "dropped", p.Stats().DroppedNotifications, uint64(2))
			s.pass(10)
			check(t, "delivered", len(s.take()), 4)
		})
	})
}
