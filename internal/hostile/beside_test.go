package hostile_test

import (
	"fmt"
	"net/http"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/mcphub-go/mcphub/internal/fakeserver"
	"github.com/mcphub-go/mcphub/internal/hostile"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// TestCallsBesideAnOpenQuestion: while the launch question of a folder's server is open, calls of that server come and
// are cancelled one after the other. Each ends at once, and the question stays open for the call that came first.
// TestOpenQuestionHoldsNothingThatEnded in package hub counts what the question keeps of the ended calls. Finding A11.
func TestCallsBesideAnOpenQuestion(t *testing.T) {
	s := bare(t)
	s.load(users(), workspace(`{"servers":{"folders":{"command":"evil","alwaysAllow":["*"]}}}`))
	first := s.call("folders", "echo")
	asked := s.prompt(launch, first.done)
	if asked == nil {
		t.Fatalf("nobody was asked: %v", first.err)
	}
	for range 100 {
		c := s.call("folders", "echo")
		s.window.CancelRequest(c.id, "enough") // the cancel may arrive before its call
		s.ends(c, "a cancelled call")
		if status.Code(c.err) != codes.Canceled {
			t.Fatalf("a cancelled call ended with %v", c.err)
		}
	}
	s.bystander()
	r, err := s.calls.ListRequests(t.Context(), &mcphubv1.ListRequestsRequest{})
	if err != nil {
		t.Error(err)
	}
	for _, open := range r.GetRequests() {
		if open.GetTool() != "" && open.GetRequestId() != first.id {
			t.Errorf("a request is still open: %v", open)
		}
	}
	if open := s.window.Prompts(); len(open) != 1 || open[0].GetPromptId() != asked.GetPromptId() {
		t.Errorf("the open prompts are %v, want only the first one", open)
	}
	s.window.CancelRequest(first.id, "enough")
	s.ends(first, "the call that waited")
}

// TestLargeResultsOverHTTP: results of several MiB, as one body or as an event of a stream, arrive complete and delay
// no other call. A result that breaks off in the middle fails its call, and only that. Finding A15.
func TestLargeResultsOverHTTP(t *testing.T) {
	s, good := onSockets(t)
	entries := fmt.Sprintf(`"good":{"type":"http","url":%q,"alwaysAllow":["*"]}`, good)
	forms := map[string]http.Handler{}
	for _, name := range []string{"body", "event", "broken"} {
		h := fakeserver.NewHTTP(newEvil(t, "answer-2m").Server, fakeserver.HTTPOptions{JSON: name != "event"})
		if forms[name] = h; name == "broken" {
			forms[name] = breaksOff{h}
		}
	}
	for name, h := range forms {
		entries += fmt.Sprintf(`,%q:{"type":"http","url":%q,"alwaysAllow":["*"]}`, name, s.site(h)+fakeserver.PathMCP)
	}
	s.load(&mcphubv1.ConfigSource{Path: "/user/mcp.json", Scope: "user", Json: `{"servers":{` + entries + `}}`})
	for name := range forms { // so that their tools are listed
		s.ends(s.call(name, "echo"), "a small call")
	}
	var attacks []*pending
	for name := range forms {
		attacks = append(attacks, s.call(name, hostile.Tool))
	}
	s.bystander()
	whole := 0
	for _, a := range attacks {
		s.ends(a, "a call with a large result")
		if len(a.response.GetResultJson()) > 2<<20 {
			whole++
		}
	}
	if whole != 2 {
		t.Errorf("%d results came whole", whole)
	}
	s.bystander()
}

// breaksOff is a server that breaks off each write of more than a MiB in the middle.
type breaksOff struct{ *fakeserver.HTTP }

func (b breaksOff) ServeHTTP(w http.ResponseWriter, r *http.Request) { b.HTTP.ServeHTTP(&broken{w}, r) }

type broken struct{ http.ResponseWriter }

func (b *broken) Write(p []byte) (int, error) {
	if len(p) < 1<<20 {
		return b.ResponseWriter.Write(p)
	}
	_, _ = b.ResponseWriter.Write(p[:len(p)/2])
	panic(http.ErrAbortHandler)
}

func (b *broken) Unwrap() http.ResponseWriter { return b.ResponseWriter }
