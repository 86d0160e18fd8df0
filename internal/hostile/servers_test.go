package hostile_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/internal/hostile"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// TestHostileServersThroughAGateway_nightly: clients call and cancel the attack of each hostile server, beside an
// honest client of an honest server. The honest client is not affected, and nothing is left of the calls.
func TestHostileServersThroughAGateway_nightly(t *testing.T) {
	e := newEntrance(t)
	entries := []string{`"good":{"command":"good","alwaysAllow":["*"]}`}
	for _, name := range hostile.Names() {
		evil := newEvil(t, name)
		e.mu.Lock()
		e.evil[name] = evil
		e.mu.Unlock()
		entries = append(entries, fmt.Sprintf(`%q:{"command":%q,"alwaysAllow":["*"]}`, name, name))
	}
	e.load(&mcphubv1.ConfigSource{Path: "/user/mcp.json", Scope: "user", Json: `{"servers":{` +
		strings.Join(entries, ",") + `}}`})
	e.passerby() // while the gateway learns what they offer
	for _, name := range hostile.Names() {
		t.Run(name, func(t *testing.T) {
			session := e.session()
			if session == "" {
				t.Fatal("the client got no session")
			}
			over := make(chan struct{})
			go func() {
				defer close(over)
				e.post(session, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"%s__%s"}}`, name,
					hostile.Tool))
			}()
			e.post(session, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
			e.passerby()
			e.post(session, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"enough"}}`)
			e.in("the end of a cancelled call of "+name, over)
			e.passerby()
			e.send(http.MethodDelete, session, "Bearer "+e.at.Token, http.NoBody)
		})
	}
	left, err := e.stage.calls.ListRequests(t.Context(), &mcphubv1.ListRequestsRequest{})
	if err != nil {
		t.Error(err)
	}
	for _, r := range left.GetRequests() {
		if r.GetCaller() != "" {
			t.Errorf("a request of a client is left: %v", r)
		}
	}
}
