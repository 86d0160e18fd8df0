package jsonrpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
)

// TestModel_long plays random conversations, with the steps of one burst running at the same time, and checks what must
// hold in every order of events: each call has one outcome; a cancel is on the wire at most once, after its request and
// only for a call that was cancelled; each incoming request is answered at most once, and never if it was withdrawn
// before it was answered; no call, request or goroutine is left.
func TestModel_long(t *testing.T) {
	rounds := uint64(300)
	if testing.Short() {
		rounds = 100
	}
	for seed := range rounds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { playModel(t, rand.New(rand.NewPCG(seed, 1))) })
		})
	}
}

// modelCall is a call as the test knows it.
type modelCall struct {
	call     *jsonrpc.Call
	cancel   func(string)
	outcomes chan outcome
	sent     int // responses that the other side sent for it
}

type modelRun struct {
	t     *testing.T
	p     *jsonrpc.Peer
	w     *wire
	rng   *rand.Rand
	calls []*modelCall

	asked     map[string]bool // ids of all incoming requests so far
	withdrawn map[string]bool // of these, withdrawn while unanswered and with every goroutine blocked

	mu       sync.Mutex // guards handlers
	handlers map[string]chan struct{}
	full     bool
}

func playModel(t *testing.T, rng *rand.Rand) {
	m := &modelRun{t: t, rng: rng, w: newWire(), asked: map[string]bool{}, withdrawn: map[string]bool{},
		handlers: map[string]chan struct{}{}}
	var conn jsonrpc.Conn = m.w
	if rng.IntN(2) == 0 {
		conn = &tryWire{wire: m.w}
	}
	m.p = jsonrpc.NewPeer(conn, jsonrpc.Options{
		HandleRequest:      m.handle,
		HandleNotification: func(*jsonrpc.Notification) { runtime.Gosched() },
		MaxIncoming:        8,
	})
	for range 40 {
		var burst sync.WaitGroup
		for range 1 + rng.IntN(4) {
			burst.Go(m.step())
		}
		burst.Wait()
		if rng.IntN(3) == 0 {
			synctest.Wait()
		}
	}
	if m.full {
		m.w.drain()
	}
	synctest.Wait()
	if rng.IntN(2) == 0 {
		close(m.w.in)
		<-m.p.Done()
	} else {
		m.p.Close(errTestOver)
	}
	for _, c := range m.calls {
		c.cancel("over")
	}
	synctest.Wait()
	m.verify()
	check(t, "goroutines left", engineGoroutines(), 0)
}

// handle answers when release is called for the request, or when its context ends.
func (m *modelRun) handle(ctx context.Context, r *jsonrpc.Request) (json.RawMessage, error) {
	answer := make(chan struct{})
	m.mu.Lock()
	m.handlers[r.ID.String()] = answer
	m.mu.Unlock()
	select {
	case <-answer:
	case <-ctx.Done():
	}
	return nil, nil
}

// step chooses one step, in the goroutine of the test, and returns the part of it that runs concurrently with the other
// steps of the burst.
func (m *modelRun) step() func() {
	var c *modelCall
	if len(m.calls) > 0 {
		c = m.calls[m.rng.IntN(len(m.calls))]
	}
	switch n := m.rng.IntN(100); {
	case n < 25 || c == nil:
		return m.begin()
	case n < 40:
		return func() { c.cancel("stop") }
	case n < 45:
		return func() { m.p.Tracker().Cancel(jsonrpc.Outgoing, c.call.ID(), errors.New("stop")) }
	case n < 60:
		c.sent++
		return func() { m.w.send(answered(c.call.ID().String(), "{}")) }
	case n < 65:
		return func() { m.w.send(note("notifications/progress", "{}"), "garbage") }
	case n < 80:
		id := fmt.Sprint(m.rng.IntN(500))
		if m.asked[id] {
			return func() {}
		}
		m.asked[id] = true
		return func() { m.w.send(ask(id, "elicitation/create")) }
	case n < 90:
		if len(m.asked) == 0 {
			return func() {}
		}
		ids := slices.Sorted(maps.Keys(m.asked)) // in an order, so that the seed decides
		id := ids[m.rng.IntN(len(ids))]
		return func() { m.release(id) }
	case n < 96:
		synctest.Wait()
		for _, id := range slices.Sorted(maps.Keys(m.asked)) {
			if m.p.Tracker().IsPending(jsonrpc.Incoming, parseID(m.t, id)) {
				m.withdrawn[id] = true
				m.w.send(withdraw(id, "gone"))
				synctest.Wait()
				break
			}
		}
		return func() {}
	case m.full:
		m.full = false
		m.w.drain()
	default:
		m.full = true
		m.w.fill()
	}
	return func() {}
}

func (m *modelRun) begin() func() {
	ctx, cancel := cancellable()
	call, err := m.p.Begin("tools/call", nil)
	if err != nil {
		m.t.Fatal(err)
	}
	c := &modelCall{call: call, cancel: cancel, outcomes: make(chan outcome, 2)}
	m.calls = append(m.calls, c)
	go func() {
		result, err := call.Wait(ctx)
		c.outcomes <- outcome{result, err}
	}()
	return func() {}
}

func (m *modelRun) release(id string) {
	m.mu.Lock()
	answer := m.handlers[id]
	delete(m.handlers, id)
	m.mu.Unlock()
	if answer != nil {
		close(answer)
	}
}

func parseID(t *testing.T, text string) jsonrpc.ID {
	id, err := jsonrpc.ParseID([]byte(text))
	check(t, "id", err, error(nil))
	return id
}

func (m *modelRun) verify() {
	t := m.t
	type wireMessage struct {
		ID     json.RawMessage
		Method string
		Params struct{ RequestID json.RawMessage }
	}
	requests, cancels, answers := map[string]int{}, map[string]int{}, map[string]int{}
	for i, text := range m.w.written() {
		var msg wireMessage
		if err := json.Unmarshal([]byte(text), &msg); err != nil {
			t.Fatalf("message %d %q: %v", i, text, err)
		}
		switch {
		case msg.Method == "tools/call":
			requests[string(msg.ID)]++
		case msg.Method == "notifications/cancelled":
			id := string(msg.Params.RequestID)
			cancels[id]++
			if requests[id] == 0 {
				t.Errorf("cancel of %s before its request", id)
			}
		case msg.ID != nil:
			answers[string(msg.ID)]++
		default:
			t.Errorf("unexpected message %q", text)
		}
	}
	for _, c := range m.calls {
		id := c.call.ID().String()
		if len(c.outcomes) != 1 {
			t.Fatalf("call %s has %d outcomes", id, len(c.outcomes))
		}
		o := <-c.outcomes
		var cancelled *jsonrpc.CancelledError
		switch {
		case o.err == nil:
			if c.sent == 0 || cancels[id] != 0 {
				t.Errorf("call %s has a result; %d responses, %d cancels", id, c.sent, cancels[id])
			}
		case errors.As(o.err, &cancelled):
			if !cancelled.Sent && (requests[id] != 0 || cancels[id] != 0) || cancelled.Sent &&
				(requests[id] != 1 || cancels[id] != 1) {
				t.Errorf("call %s was cancelled, sent %v; %d requests, %d cancels", id, cancelled.Sent, requests[id], cancels[id])
			}
		case errors.Is(o.err, jsonrpc.ErrClosed):
			if cancels[id] != 0 {
				t.Errorf("call %s ended with the connection, but was cancelled", id)
			}
		default:
			t.Errorf("call %s: %v", id, o.err)
		}
		if requests[id] > 1 || cancels[id] > 1 {
			t.Errorf("call %s: %d requests, %d cancels", id, requests[id], cancels[id])
		}
	}
	for id, n := range answers {
		if !m.asked[id] || n > 1 || m.withdrawn[id] {
			t.Errorf("request %s: %d answers, asked %v, withdrawn %v", id, n, m.asked[id], m.withdrawn[id])
		}
	}
	check(t, "pending", len(m.p.Tracker().Pending()), 0)
}
