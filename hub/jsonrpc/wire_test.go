package jsonrpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/internal/faketime"
)

var errTestOver = errors.New("test over")

// wire is a Stream in memory that is written by the writer goroutine. The test plays the other side.
type wire struct {
	in   chan string // what the peer will read
	dead chan struct{}
	once sync.Once

	mu    sync.Mutex // guards what follows
	out   []string   // the lines that the peer has written
	part  string     // the line that it has written in part
	read  int        // how much of out the test has looked at
	bytes int
	gate  chan struct{}

	wrote chan struct{} // holds a value if the peer has written since the last receive
}

func newWire() *wire {
	return &wire{in: make(chan string, 1<<16), dead: make(chan struct{}), wrote: make(chan struct{}, 1)}
}

func (w *wire) ReadMessage(*bounds.Account) (jsonrpc.Message, error) {
	select {
	case msg, ok := <-w.in:
		if !ok {
			return jsonrpc.Message{}, io.EOF
		}
		return jsonrpc.Message{Text: []byte(msg)}, nil
	case <-w.dead:
		return jsonrpc.Message{}, io.ErrClosedPipe
	}
}

func (w *wire) Write(b []byte) (int, error) {
	w.mu.Lock()
	gate := w.gate
	w.mu.Unlock()
	if gate != nil {
		select {
		case <-gate:
		case <-w.dead:
			return 0, io.ErrClosedPipe
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.take(b)
	select {
	case w.wrote <- struct{}{}:
	default:
	}
	return len(b), nil
}

// take adds to what the peer has written. Called with mu held.
func (w *wire) take(b []byte) {
	w.bytes += len(b)
	lines := strings.Split(w.part+string(b), "\n")
	w.part = lines[len(lines)-1]
	w.out = append(w.out, lines[:len(lines)-1]...)
}

func (w *wire) TryWrite([]byte) (int, error) { return 0, nil }

func (w *wire) Written() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return uint64(w.bytes)
}

func (w *wire) Close() error {
	w.once.Do(func() { close(w.dead) })
	return nil
}

// tryWire is a wire with the fast path: TryWrite takes nothing while the pipe is full, else half of every fifth message
// and all of the others.
type tryWire struct {
	*wire
	tries int
}

func (w *tryWire) TryWrite(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tries++
	switch {
	case w.part != "":
		panic("TryWrite before the rest was written")
	case w.gate != nil:
		return 0, nil
	case w.tries%5 == 0:
		b = b[:len(b)/2]
	}
	w.take(b)
	return len(b), nil
}

// fill makes writes block, as a full pipe does, until drain.
func (w *wire) fill() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gate = make(chan struct{})
}

func (w *wire) drain() {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.gate)
	w.gate = nil
}

// passOne lets exactly the one write through that is blocked. The next one blocks again, however soon it comes.
func (w *wire) passOne() {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.gate)
	w.gate = make(chan struct{})
}

// send lets the peer read messages.
func (w *wire) send(msgs ...string) {
	for _, m := range msgs {
		w.in <- m
	}
}

// written is everything that the peer has written so far.
func (w *wire) written() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.out)
}

// expect waits until every goroutine is blocked, and compares what was written since its last call.
func (w *wire) expect(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	w.mu.Lock()
	got := slices.Clone(w.out[w.read:])
	w.read = len(w.out)
	w.mu.Unlock()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("written (-want +got):\n%s", diff)
	}
}

// start runs a Peer on a fresh wire until the end of the test.
func start(t *testing.T, o jsonrpc.Options) (*jsonrpc.Peer, *wire) {
	w := newWire()
	p := jsonrpc.NewPeer(w, o)
	t.Cleanup(func() { p.Close(errTestOver) })
	return p, w
}

// outcome is what became of a call.
type outcome struct {
	result json.RawMessage
	err    error
}

// begin starts a call and waits for it in a goroutine.
func begin(t *testing.T, p *jsonrpc.Peer, ctx context.Context, method, params string) (*jsonrpc.Call, <-chan outcome) {
	t.Helper()
	c, err := p.Begin(method, json.RawMessage(params))
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan outcome, 1)
	go func() {
		result, err := c.Wait(ctx)
		got <- outcome{result, err}
	}()
	return c, got
}

// cancellable returns a context with a cancel function that takes the text of the cause.
func cancellable() (context.Context, func(reason string)) {
	ctx, cancel := context.WithCancelCause(context.Background())
	return ctx, func(reason string) { cancel(errors.New(reason)) }
}

// engineGoroutines counts the goroutines of the bubble in methods of package jsonrpc.
func engineGoroutines() int { return faketime.Goroutines("/hub/jsonrpc.(") }

// desk is a request handler that holds requests until the test answers them. If a context ends first, it answers all
// the same, with form data that must not reach a peer that has withdrawn the request.
type desk struct {
	mu   sync.Mutex // guards open, over
	open map[string]chan string
	over []string // "id: cause" of the requests whose context ended
}

func (d *desk) handle(ctx context.Context, r *jsonrpc.Request) (json.RawMessage, error) {
	answer := make(chan string, 1)
	d.mu.Lock()
	if d.open == nil {
		d.open = make(map[string]chan string)
	}
	d.open[r.ID.String()] = answer
	d.mu.Unlock()
	select {
	case a := <-answer:
		return json.RawMessage(a), nil
	case <-ctx.Done():
		d.mu.Lock()
		d.over = append(d.over, r.ID.String()+": "+context.Cause(ctx).Error())
		d.mu.Unlock()
		return json.RawMessage(`{"action":"accept","content":{"secret":"form data"}}`), nil
	}
}

func (d *desk) answer(t *testing.T, id, result string) {
	t.Helper()
	d.mu.Lock()
	answer := d.open[id]
	d.mu.Unlock()
	if answer == nil {
		t.Fatalf("no request %s is open", id)
	}
	answer <- result
}

func (d *desk) ended() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.over)
}

func ask(id, method string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{}}`
}

func withdraw(id, reason string) string {
	return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `,"reason":"` + reason +
		`"}}`
}

func answered(id, result string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":` + result + `}`
}

func called(id, method string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `"}`
}

func cancelled(id, reason string) string {
	return withdraw(id, reason)
}

func note(method, params string) string {
	return `{"jsonrpc":"2.0","method":"` + method + `","params":` + params + `}`
}

func check(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}

func isCancelled(t *testing.T, err error, cause string, sent bool) {
	t.Helper()
	var c *jsonrpc.CancelledError
	if !errors.As(err, &c) || c.Sent != sent || !strings.Contains(c.Cause.Error(), cause) {
		t.Fatalf("error %v (%T), want a CancelledError of %q with sent %v", err, err, cause, sent)
	}
}
