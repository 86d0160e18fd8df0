package hub_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// A question that may belong to several calls stays open while one of them is open, and closes with the last one.
// Otherwise a server that never withdraws its questions would use up its places for questions. Finding B16.
func TestQuestionEndsWithTheLastCallThatItMayBeOf(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging()
		w := newWorld(t, serversOf("s", s), "s:"+allow)
		v := w.everything()
		first, second := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "hang"}),
			w.call(hub.CallRequest{ID: "r2", Server: "s", Tool: "hang"})
		synctest.Wait()
		q,
			err := s.Request(elicitation,
			`{"message":"Name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}`)
		if err != nil {
			t.Fatal(err)
		}
		p := v.prompt()
		if p.ParentRequestID != "" {
			t.Fatalf("it was given to %s", p.ParentRequestID)
		}
		third := w.call(hub.CallRequest{ID: "r3", Server: "s", Tool: "hang"}) // came after the question: no candidate
		cancel := func(id string) {
			if _, err := w.hub.CancelRequest(id, "s", "enough", event.OriginUser); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		cancel("r1")
		<-first.done
		if v.prompt().ID != p.ID {
			t.Fatal("the prompt closed with the first of two calls")
		}
		cancel("r2")
		<-second.done
		v.noPrompt()
		if e := last[*event.PromptClosed](v); e.PromptID != p.ID || e.Cause != event.CauseParent {
			t.Errorf("closed with %+v", e)
		}
		pass(time.Minute) // the hub waits a moment for a withdrawal, which does not come
		if a, ok := <-q.Response(); !ok || string(a.Result) != `{"action":"cancel"}` {
			t.Errorf("the server was answered %+v", a)
		}
		cancel("r3")
		<-third.done
		w.nothingLeft()
	})
}

// A server withdraws a question of which the hub does not know the call, and then its last call ends: the question is
// closed as withdrawn, with the server's reason, whichever of the two the hub sees first.
func TestWithdrawalBeforeTheLastCallEnds(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging()
		var end chan struct{}
		s.Tool("ends", func(c *fakeserver.CallContext) {
			<-end
			_ = s.Notify("notifications/cancelled", `{"requestId":"q","reason":"found it"}`)
			c.Text("done")
		})
		w := newWorld(t, serversOf("s", s), "s:"+allow)
		v := w.everything()
		for n := range 300 {
			first, second := fmt.Sprint("a", n), fmt.Sprint("b", n)
			end = make(chan struct{})
			before := w.call(hub.CallRequest{ID: first, Server: "s", Tool: "hang"})
			call := w.call(hub.CallRequest{ID: second, Server: "s", Tool: "ends"})
			synctest.Wait()
			if _, err := s.RequestWithID(`"q"`, elicitation, formParams); err != nil {
				t.Fatal(err)
			}
			p := v.prompt()
			if _, err := w.hub.CancelRequest(first, "s", "enough", event.OriginUser); err != nil {
				t.Fatal(err)
			}
			<-before.done
			synctest.Wait()
			close(end)
			<-call.done
			synctest.Wait()
			if e := last[*event.PromptClosed](v); e.PromptID != p.ID || e.Cause != event.CauseWithdrawn ||
				e.Reason != "found it" {
				t.Fatalf("closed with %+v", e)
			}
			pass(time.Minute)
		}
		w.nothingLeft()
	})
}
