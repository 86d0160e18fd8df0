package mcpserver_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub/mcpserver"
	"github.com/mcphub-go/mcphub/internal/faketime"
)

// A cancel over HTTP that is read before its call is remembered for 30 s: the handler never sees the call, and the call
// is not answered. Finding F1.
func TestCancelThatOvertakesItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(mcpserver.Bounds{})
		defer d.server.Close(nil)
		id := d.initialize(t, "2025-03-26")
		call := func(wire, name string) string {
			ctx, leave := context.WithTimeoutCause(t.Context(), time.Hour, errors.New("no end"))
			defer leave()
			_, got := d.post(ctx, `{"jsonrpc":"2.0","id":`+wire+`,"method":"tools/call","params":{"name":"`+name+
				`","arguments":{}}}`, "Mcp-Session-Id", id)
			return got
		}
		cancel := func(wire string) {
			d.post(t.Context(), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+wire+
				`,"reason":"changed my mind"}}`, "Mcp-Session-Id", id)
			synctest.Wait()
		}
		cancel("7")
		if got := call(`"7"`, "echo"); !strings.Contains(got, "result") {
			t.Errorf("another id with the same digits: %q", got)
		}
		begun := time.Now()
		if got, seen := call("7", "wait"), d.take(); strings.Contains(got, "jsonrpc") || strings.Contains(seen,
			"begins wait") || time.Since(begun) > time.Second {
			t.Errorf("after %v the cancelled call got %q, and the handler saw %s", time.Since(begun), got, seen)
		}
		if got := call("7", "echo"); !strings.Contains(got, "result") {
			t.Errorf("the cancel counted twice: %q", got)
		}
		cancel("7") // it is late
		if got := call("7", "echo"); !strings.Contains(got, "result") {
			t.Errorf("a late cancel ended a later call with its id: %q", got)
		}
		cancel("8")
		faketime.Pass(31 * time.Second)
		if got := call("8", "echo"); !strings.Contains(got, "result") {
			t.Errorf("a cancel was remembered for too long: %q", got)
		}
		cancel("9")
		if _, got := d.post(t.Context(), `[{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"wait"}},`+
			`{"jsonrpc":"2.0","id":10,"method":"ping"}]`, "Mcp-Session-Id", id); strings.Contains(got, `"id":9`) ||
			!strings.Contains(got, `"id":10`) {
			t.Errorf("in a batch: %q", got)
		}
		for n := range 1000 {
			cancel(fmt.Sprint(1000 + n))
		}
		if held := d.server.Sessions()[0].Early(); held > 64 {
			t.Errorf("%d cancels are remembered", held)
		}
		if got := call("1999", "echo"); got != "" {
			t.Errorf("the newest of many was forgotten: %q", got)
		}
	})
}

// stream is the answer to one request over HTTP, as it is written.
type stream struct {
	*httptest.ResponseRecorder
	mu   sync.Mutex
	text strings.Builder
	done chan struct{}
}

func (s *stream) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

// got returns the messages that have come since the last call.
func (s *stream) got() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var messages strings.Builder
	for line := range strings.Lines(s.text.String()) {
		if data, is := strings.CutPrefix(line, "data: "); is {
			messages.WriteString(data)
		}
	}
	s.text.Reset()
	return messages.String()
}

// ended reports whether the stream has ended.
func (s *stream) ended() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// open sends a request and returns its answer while that is written.
func (d *door) open(ctx context.Context, method, body string, header ...string) *stream {
	r := httptest.NewRequestWithContext(ctx, method, "http://127.0.0.1/", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	s := &stream{ResponseRecorder: httptest.NewRecorder(), done: make(chan struct{})}
	go func() {
		defer close(s.done)
		d.ServeHTTP(s, r)
	}()
	synctest.Wait()
	return s
}

// session begins a legacy session, and opens the stream of its GET.
func (d *door) session(t *testing.T) (id string, common *stream) {
	t.Helper()
	id = d.initialize(t, "2025-11-25")
	return id, d.open(t.Context(), "GET", "", "Mcp-Session-Id", id)
}

func (d *door) call(ctx context.Context, id, wire, name string) *stream {
	return d.open(ctx, "POST", `{"jsonrpc":"2.0","id":`+wire+`,"method":"tools/call","params":{"name":"`+name+`"}}`,
		"Mcp-Session-Id", id)
}

func (d *door) send(t *testing.T, id, message string) {
	t.Helper()
	if code, _ := d.post(t.Context(), message, "Mcp-Session-Id", id); code != 202 {
		t.Fatalf("%s: %d", message, code)
	}
	synctest.Wait()
}

const (
	questionOne = `{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"one"}}` + "\n"
	enough      = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"enough"}}` + "\n"
)

// A client that cancels a call over HTTP gets the withdrawal of the call's question on the call's stream, before that
// ends. When it has ended, the withdrawal comes once more on the stream of the GET: the client may have left the first
// stream with its cancel. Finding F2.
func TestWithdrawalBeforeTheEndOfTheStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(mcpserver.Bounds{})
		defer d.server.Close(nil)
		id, common := d.session(t)
		call := d.call(t.Context(), id, `"c"`, "one")
		if got := call.got(); got != questionOne {
			t.Fatalf("asked: %s", got)
		}
		d.send(t, id, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"c","reason":"enough"}}`)
		if got := call.got(); got != enough || !call.ended() {
			t.Errorf("ended: %v, on the call's stream: %s", call.ended(), got)
		}
		if got := common.got(); got != enough {
			t.Errorf("on the common stream: %s", got)
		}
	})
}

// A server that withdraws its question and answers the call at once: the client gets both in this order, on one stream.
// Finding F2.
func TestWithdrawalBeforeTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(mcpserver.Bounds{})
		defer d.server.Close(nil)
		id, common := d.session(t)
		for n := range 100 {
			wire := fmt.Sprint(n + 1)
			call := d.call(t.Context(), id, `"c"`, "hasty")
			want := strings.ReplaceAll(questionOne+enough, `1,"method"`, wire+`,"method"`)
			want = strings.ReplaceAll(want, `"requestId":1`, `"requestId":`+wire)
			want = strings.ReplaceAll(want, `"one"`, `"hasty"`) + `{"jsonrpc":"2.0","id":"c","result":{}}` + "\n"
			faketime.Pass(time.Millisecond)
			synctest.Wait()
			if got := call.got(); got != want || !call.ended() {
				t.Fatalf("call %d ended: %v, on its stream: %s", n, call.ended(), got)
			}
		}
		if got := common.got(); got != "" {
			t.Errorf("on the common stream: %s", got)
		}
	})
}

// A question that nobody has read when it is withdrawn is never sent. One that was read is withdrawn where it was
// asked, when the client comes back there, and nowhere else. Finding F2.
func TestWithdrawalWaitsForItsReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(mcpserver.Bounds{})
		defer d.server.Close(nil)
		id := d.initialize(t, "2025-11-25")
		stop := func(name string) {
			d.mu.Lock()
			cancel := d.stop[name]
			d.mu.Unlock()
			cancel(withdrawn("enough"))
			synctest.Wait()
		}
		ctx, leave := context.WithCancelCause(t.Context())
		d.call(ctx, id, `"a"`, "unread") // on stream 3, which begins with a waiting of 5 ms
		leave(nil)
		faketime.Pass(10 * time.Millisecond)
		ctx, leave = context.WithCancelCause(t.Context())
		read := d.call(ctx, id, `"b"`, "one") // on stream 4
		if got := read.got(); !strings.Contains(got, "elicitation/create") {
			t.Fatalf("asked: %s", got)
		}
		leave(nil)
		synctest.Wait()
		common := d.open(t.Context(), "GET", "", "Mcp-Session-Id", id)
		stop("unread")
		stop("one")
		if got := common.got(); got != "" {
			t.Errorf("on the common stream: %s", got)
		}
		again := d.open(t.Context(), "GET", "", "Mcp-Session-Id", id, "Last-Event-ID", "3-0")
		if got := again.got(); got != `{"jsonrpc":"2.0","id":"a","result":{"answers":[null]}}`+"\n" {
			t.Errorf("the question that was not read: %s", got)
		}
		again = d.open(t.Context(), "GET", "", "Mcp-Session-Id", id, "Last-Event-ID", "4-1")
		want := strings.ReplaceAll(enough, `:1,`, `:2,`) + `{"jsonrpc":"2.0","id":"b","result":{"answers":[null]}}` + "\n"
		if got := again.got(); got != want {
			t.Errorf("the question that was read: %s", got)
		}
	})
}

// A question may outlive the call in whose course it was asked, since it may be another call's. The stream of the call
// then stays open after the answer, for its withdrawal. If the client has left it by then, it has read all of it, and
// the withdrawal goes to the common stream; since that is not seen at once, it goes there in any case.
func TestQuestionThatOutlivesItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, leaves := range []bool{false, true} {
			d := newDoor(mcpserver.Bounds{})
			defer d.server.Close(nil)
			id, common := d.session(t)
			ctx, leave := context.WithCancelCause(t.Context())
			call := d.call(ctx, id, `"c"`, "leaves")
			faketime.Pass(time.Millisecond)
			synctest.Wait()
			if got := call.got(); !strings.Contains(got, `"elicitation/create"`) || !strings.Contains(got, `"result":{}`) ||
				call.ended() {
				t.Fatalf("ended: %v, got %s", call.ended(), got)
			}
			onCall := enough
			if leaves {
				leave(nil)
				onCall = ""
				synctest.Wait()
			}
			d.stop["leaves"](withdrawn("enough"))
			synctest.Wait()
			if got := call.got(); got != onCall || !call.ended() {
				t.Errorf("left: %v, ended: %v, got %s", leaves, call.ended(), got)
			}
			if got := common.got(); got != enough {
				t.Errorf("left: %v, on the common stream: %s", leaves, got)
			}
			leave(nil)
		}
	})
}
