package hostile_test

import (
	"fmt"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/mcphub-go/mcphub/internal/hostile"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// TestPageThatSwallows: a sign-in URL that would hide parameters that the hub adds is not offered to anybody, and the
// call fails. Finding C7.
func TestPageThatSwallows(t *testing.T) {
	s, good := onSockets(t)
	entries := fmt.Sprintf(`"good":{"type":"http","url":%q,"alwaysAllow":["*"]}`, good)
	for fault, page := range hostile.Swallow() {
		at := s.site(hostile.Authority(page)) + "/mcp"
		entries += fmt.Sprintf(`,%q:{"type":"http","url":%q,"alwaysAllow":["*"]}`, fault, at)
	}
	at := s.site(hostile.Authority("/authorize")) + "/mcp"
	entries += fmt.Sprintf(`,"sound":{"type":"http","url":%q,"alwaysAllow":["*"]}`, at)
	s.load(&mcphubv1.ConfigSource{
		Path: "/user/mcp.json", Scope: "user", Json: `{"servers":{` + entries + `}}`,
	})
	for fault := range hostile.Swallow() {
		c := s.call(fault, "echo")
		s.ends(c, "a call of a server whose page swallows")
		switch status.Code(c.err) {
		case codes.FailedPrecondition, codes.Unavailable, codes.Unauthenticated:
		default:
			t.Errorf("%s: %v", fault, c.err)
		}
	}
	for _, e := range s.window.Events() {
		if e.GetPromptOpened() != nil {
			t.Errorf("unexpected prompt: %v", e)
		}
	}
	s.bystander()
	sound := s.call("sound", "echo") // so the others were refused for their pages
	p := s.prompt(mcphubv1.PromptKind_PROMPT_KIND_SIGN_IN, sound.done)
	if p == nil {
		t.Fatalf("nobody was asked to sign in where the page is sound: %v", sound.err)
	}
	s.window.Decline(p.GetPromptId(), "no")
	s.ends(sound, "the call")
}
