package mcp

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/protocol"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

const requiredURLs = `{"elicitations":[{"mode":"url","message":"Sign in","url":"https://a.example/1","elicitationId":"e1"},` +
	`{"mode":"url","message":"Pay","url":"https://a.example/2","elicitationId":"e2"}]}`

// demanding returns a server whose tool requires two URLs at the first call, and works from the second call on.
func demanding(option fakeserver.Option) *fakeserver.Server {
	f := fakeserver.New(option)
	calls := 0
	f.Tool("t", func(c *fakeserver.CallContext) {
		if calls++; calls == 1 {
			c.ErrorData(codeURLRequired, "URL elicitation required", requiredURLs)
			return
		}
		c.Text("paid")
	})
	return f
}

// TestURLElicitationRequired: the user consents to each URL; one is then finished by the user, the other by the
// server's notification, and the call is tried again.
func TestURLElicitationRequired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := demanding(fakeserver.WithRevision(Revision20251125))
		causes := make(chan error, 1)
		h := &recorder{ask: func(ctx context.Context, q *Question) (Answer, error) {
			if q.Waiting && q.ElicitationID == "e2" {
				return hang(causes)(ctx, q)
			}
			return Answer{Action: Accept}, nil
		}}
		s := connect(t, f, h)
		call := &CallRequest{Name: "t", Tag: 1}
		out := begin(background, s, call)
		synctest.Wait()
		for _, q := range h.questions() {
			if q.Kind != ElicitationURL || q.Call != call || !q.WireID.IsZero() || q.URL == "" {
				t.Errorf("question %+v", q)
			}
		}
		if n := len(h.questions()); n != 4 {
			t.Fatalf("%d questions, want two of consent and two of waiting", n)
		}
		f.Notify(protocol.MethodElicitationComplete, `{"elicitationId":"unknown"}`)
		synctest.Wait()
		if len(lines(f, protocol.MethodCallTool)) != 1 {
			t.Fatal("an unknown id has set the call going")
		}
		f.Notify(protocol.MethodElicitationComplete, `{"elicitationId":"e2"}`)
		o := finished(t, out)
		if o.err != nil || o.result.Rounds != 2 {
			t.Fatalf("got %+v, %v", o.result, o.err)
		}
		var done *ElicitationCompleted
		if cause := <-causes; !errors.As(cause, &done) || done.ElicitationID != "e2" {
			t.Errorf("the waiting question ended with %v", cause)
		}
		if sent := lines(f, protocol.MethodCallTool); string(sent[0].Params) != string(sent[1].Params) ||
			string(sent[0].ID) == string(sent[1].ID) {
			t.Errorf("the retry differs: %+v", sent)
		}
		f.Notify(protocol.MethodElicitationComplete, `{"elicitationId":"e2"}`)
		synctest.Wait()
	})
}

// TestURLElicitationRequiredIsNotInFlight: while the user is at the page the call is not in flight, so a question of
// the server belongs to the other call.
func TestURLElicitationRequiredIsNotInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := demanding(fakeserver.WithRevision(Revision20251125))
		f.Tool("other", func(c *fakeserver.CallContext) { _ = c.Hang() })
		h := &recorder{ask: func(ctx context.Context, q *Question) (Answer, error) {
			if q.Waiting {
				<-ctx.Done()
				return Answer{}, context.Cause(ctx)
			}
			return Answer{Action: Accept, Content: []byte(`{}`)}, nil
		}}
		s := connect(t, f, h)
		begin(background, s, &CallRequest{Name: "t"})
		other := &CallRequest{Name: "other"}
		begin(background, s, other)
		synctest.Wait()
		if _, err := f.Request("elicitation/create", formParams); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		q := h.questions()[len(h.questions())-1]
		if q.Kind != ElicitationForm || q.Call != other || q.OfSome {
			t.Errorf("the question belongs to %+v, of some: %t", q.Call, q.OfSome)
		}
	})
}

func TestURLElicitationRequiredDeclined(t *testing.T) {
	for _, action := range []Action{Decline, Dismiss} {
		for _, waiting := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				f := demanding(fakeserver.WithRevision(Revision20251125))
				causes := make(chan error, 2)
				s := connect(t, f, &recorder{ask: func(ctx context.Context, q *Question) (Answer, error) {
					switch {
					case q.ElicitationID == "e2":
						return hang(causes)(ctx, q)
					case q.Waiting == waiting:
						return Answer{Action: action}, nil
					}
					return Answer{Action: Accept}, nil
				}})
				_, err := s.CallTool(background, &CallRequest{Name: "t"})
				var declined *DeclinedError
				if !errors.As(err, &declined) || declined.Kind != ElicitationURL || declined.Action != action {
					t.Errorf("got %v", err)
				}
				var sibling *SiblingError
				if cause := <-causes; !errors.As(cause, &sibling) {
					t.Errorf("the other question ended with %v", cause)
				}
				if n := len(lines(f, protocol.MethodCallTool)); n != 1 {
					t.Errorf("%d calls", n)
				}
			})
		}
	}
}

// TestURLElicitationRequiredIsPlainElsewhere: in other revisions, or if it is malformed or URL elicitation was not
// declared, it is an error like any other.
func TestURLElicitationRequiredIsPlainElsewhere(t *testing.T) {
	for _, c := range []struct {
		option fakeserver.Option
		served Capabilities
		data   string
	}{
		{fakeserver.WithRevision(Revision20250618), everything, requiredURLs},
		{fakeserver.WithModern(), everything, requiredURLs},
		{fakeserver.WithRevision(Revision20251125), Capabilities{ElicitationForm: true}, requiredURLs},
		{fakeserver.WithRevision(Revision20251125), everything, `{"elicitations":[{"mode":"url","message":"x"}]}`},
		{fakeserver.WithRevision(Revision20251125), everything, `{"elicitations":[]}`},
		{fakeserver.WithRevision(Revision20251125), everything, ``},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := fakeserver.New(c.option)
			f.Tool("t", func(call *fakeserver.CallContext) {
				call.ErrorData(codeURLRequired, "URL elicitation required", c.data)
			})
			h := &recorder{ask: accepting(``)}
			s := connect(t, f, h, func(o *Options) { o.Capabilities = func() Capabilities { return c.served } })
			_, err := s.CallTool(background, &CallRequest{Name: "t"})
			var e *jsonrpc.Error
			if !errors.As(err, &e) || e.Code != codeURLRequired || len(h.questions()) != 0 {
				t.Errorf("%s %+v: got %v, %d questions", s.Revision(), c.served, err, len(h.questions()))
			}
		})
	}
}

func TestURLElicitationRequiredCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := demanding(fakeserver.WithRevision(Revision20251125))
		causes := make(chan error, 2)
		s := connect(t, f, &recorder{ask: hang(causes)})
		ctx, cancel := context.WithCancelCause(background)
		out := begin(ctx, s, &CallRequest{Name: "t"})
		synctest.Wait()
		why := &stopped{"enough"}
		cancel(why)
		var cancelled *jsonrpc.CancelledError
		if o := finished(t, out); !errors.As(o.err, &cancelled) || cancelled.Sent {
			t.Errorf("got %v", o.err)
		}
		for range 2 {
			if cause := <-causes; cause != error(why) {
				t.Errorf("a question ended with %v", cause)
			}
		}
		if n := len(lines(f, protocol.MethodCallTool)) + len(lines(f, "notifications/cancelled")); n != 1 {
			t.Errorf("%d messages on the wire", n)
		}
	})
}

func TestURLElicitationRequiredTooOften(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeserver.New()
		f.Tool("t", func(c *fakeserver.CallContext) { c.ErrorData(codeURLRequired, "again", requiredURLs) })
		s := connect(t, f, &recorder{ask: accepting(``)}, func(o *Options) { o.MaxRounds = 3 })
		_, err := s.CallTool(background, &CallRequest{Name: "t"})
		var wrong *ProtocolError
		if !errors.As(err, &wrong) || len(lines(f, protocol.MethodCallTool)) != 4 {
			t.Errorf("got %v after %d calls", err, len(lines(f, protocol.MethodCallTool)))
		}
	})
}
