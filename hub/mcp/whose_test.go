package mcp

import (
	"context"
	"encoding/json"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/protocol"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// asks sends questions of a fake server and reads their answers.
type asks struct {
	t *testing.T
	f *fakeserver.Server
}

func (a asks) elicit(params string) *fakeserver.OutRequest {
	a.t.Helper()
	r, err := a.f.Request(protocol.MethodElicitation, params)
	if err != nil {
		a.t.Fatal(err)
	}
	synctest.Wait()
	return r
}

func (a asks) answered(r *fakeserver.OutRequest) string {
	synctest.Wait()
	select {
	case m := <-r.Response():
		return m.Raw
	default:
		return ""
	}
}

// hanging returns a server whose tool never answers, and a session with it.
func hanging(t *testing.T, h *recorder, change ...func(*Options)) (asks, *Session) {
	f := fakeserver.New()
	f.Tool("t", func(c *fakeserver.CallContext) { c.Hang() })
	return asks{t, f}, connect(t, f, h, change...)
}

// cancelledCall begins a call and cancels it once it is at the server.
func cancelledCall(t *testing.T, s *Session, c *CallRequest) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(background)
	out := begin(ctx, s, c)
	synctest.Wait()
	cancel(&stopped{"enough"})
	finished(t, out)
	synctest.Wait()
}

// A server that answers a call as soon as it reads its cancel has answered it, also if the session has not recorded the
// end of the call so far: it counts as in flight no more.
func TestCancelThatIsAnsweredAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeserver.New()
		f.Tool("t", func(c *fakeserver.CallContext) {
			<-c.Cancelled()
			c.Text("cancelled")
		})
		s := connect(t, f, &recorder{})
		for n := range 300 {
			cancelledCall(t, s, &CallRequest{Name: "t"})
			s.mu.Lock()
			left := len(s.lingering.calls)
			s.mu.Unlock()
			if left > 0 {
				t.Fatalf("after %d calls one that was answered counts as in flight", n+1)
			}
		}
	})
}

// A cancelled call that the server does not answer counts as in flight for half a minute. Only its client is kept, and
// of a bounded number of calls: otherwise the arguments of all calls of that time would be.
func TestCancelledCallsHoldLittle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &recorder{ask: accepting(`{}`)}
		a, s := hanging(t, h)
		held := func() weak.Pointer[CallRequest] {
			c := &CallRequest{Name: "t", Arguments: json.RawMessage(`{"much":"text"}`), Client: "a client"}
			cancelledCall(t, s, c)
			return weak.Make(c)
		}()
		runtime.GC()
		if held.Value() != nil {
			t.Error("the request of a cancelled call is held")
		}
		ctx, end := context.WithCancelCause(background)
		defer end(errQuestionOver)
		live := &CallRequest{Name: "t", Client: "another"}
		begin(ctx, s, live)
		synctest.Wait()
		a.elicit(formParams)
		if q := h.questions()[0]; len(q.Among) != 1 || q.Among[0] != live || len(q.Past) != 1 || q.Past[0].Client != "a client" {
			t.Errorf("the question may be of %+v and %+v", q.Among, q.Past)
		}
		var l lingering
		for n := range 2 * maxLingering {
			l.add(jsonrpc.IntID(int64(n)), "")
		}
		if _, first := l.calls[jsonrpc.IntID(maxLingering)]; len(l.calls) != maxLingering || !first {
			t.Errorf("%d calls count as in flight; the oldest of them is missing: %t", len(l.calls), !first)
		}
	})
}

// Finding B16. Questions of cancelled calls, for which no user is asked, do not use up MaxIncoming.
func TestGhostsTakeNoPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &recorder{ask: hang(make(chan error, 100))}
		a, s := hanging(t, h, func(o *Options) { o.MaxIncoming = 4 })
		cancelledCall(t, s, &CallRequest{Name: "t"})
		var ghosts []*fakeserver.OutRequest
		for range 6 {
			ghosts = append(ghosts, a.elicit(formParams))
		}
		ctx, end := context.WithCancelCause(background)
		defer end(errQuestionOver)
		begin(ctx, s, &CallRequest{Name: "t"})
		synctest.Wait()
		var refused []string
		for range 5 {
			refused = append(refused, a.answered(a.elicit(formParams)))
		}
		if n := len(h.questions()); n != 4 {
			t.Errorf("%d questions were asked, want 4", n)
		}
		for i, got := range refused {
			if want := i == 4; strings.Contains(got, "-32000") != want {
				t.Errorf("question %d of 5 was answered %q", i+1, got)
			}
		}
		pass(withdrawGrace)
		for i, g := range ghosts {
			got := a.answered(g)
			if want := map[bool]string{true: `"cancel"`, false: "-32000"}[i < 4]; !strings.Contains(got, want) {
				t.Errorf("question %d of a cancelled call was answered %q, want %s", i, got, want)
			}
		}
	})
}

// Finding B16. A question whose call ends while a user is asked frees its place at once, not after withdrawGrace.
func TestQuestionGivesItsPlaceBackBeforeItsGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		over := make(chan struct{})
		var asked atomic.Int64
		h := &recorder{ask: func(ctx context.Context, _ *Question) (Answer, error) {
			if asked.Add(1) > 4 {
				return Answer{Action: Decline}, nil
			}
			<-over
			return Answer{Action: Dismiss}, ErrCallOver
		}}
		a, s := hanging(t, h, func(o *Options) { o.MaxIncoming = 4 })
		begin(background, s, &CallRequest{Name: "t"})
		synctest.Wait()
		var ghosts []*fakeserver.OutRequest
		for range 4 {
			ghosts = append(ghosts, a.elicit(formParams))
		}
		if got := a.answered(a.elicit(formParams)); !strings.Contains(got, "-32000") {
			t.Errorf("while all places are taken: %q", got)
		}
		close(over)
		synctest.Wait()
		if got := a.answered(a.elicit(formParams)); !strings.Contains(got, `"decline"`) {
			t.Errorf("a proper question was answered %q", got)
		}
		for _, g := range ghosts {
			if got := a.answered(g); got != "" {
				t.Errorf("a ghost was answered at once: %s", got)
			}
		}
		pass(withdrawGrace)
		for _, g := range ghosts {
			if got := a.answered(g); !strings.Contains(got, `"cancel"`) {
				t.Errorf("a ghost was answered %q", got)
			}
		}
	})
}

// Finding B16. Only MaxIncoming questions of calls that are over may wait for withdrawGrace; further ones are answered
// at once, so that they use no place.
func TestQuestionsBeyondThoseInGraceAreAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		h := &recorder{ask: func(context.Context, *Question) (Answer, error) {
			if asked.Add(1) > 8 {
				return Answer{Action: Decline}, nil
			}
			return Answer{Action: Dismiss}, ErrCallOver
		}}
		a, s := hanging(t, h, func(o *Options) { o.MaxIncoming = 4 })
		begin(background, s, &CallRequest{Name: "t"})
		synctest.Wait()
		for i := range 8 {
			want := ""
			if i >= 4 {
				want = `"cancel"`
			}
			if got := a.answered(a.elicit(formParams)); (got == "") != (want == "") || !strings.Contains(got, want) {
				t.Errorf("question %d of a cancelled call was answered %q", i, got)
			}
		}
		if got := a.answered(a.elicit(formParams)); !strings.Contains(got, `"decline"`) {
			t.Errorf("a proper question was answered %q", got)
		}
	})
}

// Finding B16. A question without a call says in OfSome whether there were several calls, or none.
func TestQuestionOfSome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &recorder{ask: accepting(`{}`)}
		a, s := hanging(t, h)
		for calls := range 3 {
			a.answered(a.elicit(formParams))
			if q := h.questions()[calls]; q.OfSome != (calls > 1) || (q.Call != nil) != (calls == 1) {
				t.Errorf("with %d calls in flight: of some %v, call %v", calls, q.OfSome, q.Call)
			}
			begin(background, s, &CallRequest{Name: "t"})
			synctest.Wait()
		}
	})
}

// Finding B16. On the stream of a call that was cancelled, or answered, a question belongs to that call, however late
// it comes: nobody is asked.
func TestHTTPQuestionOfACallThatIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newExchanges(legacyServer(silent))
		h := &recorder{ask: accepting(`{}`)}
		s := mustDial(t, f, h)
		begin(background, s, &CallRequest{Name: "answered"})
		synctest.Wait()
		f.result("3", callResult)
		begin(background, s, &CallRequest{Name: "live"})
		synctest.Wait()
		cancelledCall(t, s, &CallRequest{Name: "cancelled"})
		for i, stream := range []string{"3", "5", "5"} {
			pass(time.Duration(i) * lingerTime)
			f.say(stream, `{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"Sure?"}}`)
			pass(withdrawGrace)
			synctest.Wait()
		}
		answer := `POST   {"jsonrpc":"2.0","id":"q","result":{"action":"cancel"}}`
		if got := f.lines(); len(got) < 3 || !slices.Equal(got[len(got)-3:], []string{answer, answer, answer}) ||
			len(h.questions()) != 0 {
			t.Errorf("the wire: %q; %d questions were asked", got, len(h.questions()))
		}
		f.result("4", callResult)
	})
}
