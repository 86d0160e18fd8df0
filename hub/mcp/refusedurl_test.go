package mcp

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub/protocol"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// refusedURLs are never passed to a browser; package browse tests all kinds of them.
var refusedURLs = []string{"javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "vscode://a.b/c",
	"https://user@a.example/", "http://a.example/"}

func urlElicitation(url string) string {
	return fmt.Sprintf(`{"mode":"url","message":"Sign in","url":%q,"elicitationId":"e1"}`, url)
}

// An elicitation of such a URL is refused, whichever way the server asks, and reaches no user. Finding C6.
func TestRefusedURLsReachNobody(t *testing.T) {
	for _, url := range refusedURLs {
		t.Run(url, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &recorder{ask: accepting(``)}
				f := fakeserver.New()
				connect(t, f, h)
				if got := ask(t, f, protocol.MethodElicitation, urlElicitation(url)); !strings.Contains(got,
					`"code":-32602,"message":"the url of the elicitation `) {
					t.Errorf("a request of a legacy server is answered %s", got)
				}

				_, s := modern(t, h, func(c *fakeserver.CallContext) {
					c.InputRequired(`{"k":`+inputEntry(protocol.MethodElicitation, urlElicitation(url))+`}`, "")
				})
				_, err := s.CallTool(background, &CallRequest{Name: "t"})
				var wrong *ProtocolError
				if !errors.As(err, &wrong) || !strings.Contains(err.Error(), "the url of the elicitation ") {
					t.Errorf("in a result of a modern server: %v", err)
				}

				f = fakeserver.New(fakeserver.WithRevision(Revision20251125))
				f.Tool("t", func(c *fakeserver.CallContext) {
					c.ErrorData(codeURLRequired, "URL elicitation required", `{"elicitations":[`+urlElicitation(url)+`]}`)
				})
				_, err = connect(t, f, h).CallTool(background, &CallRequest{Name: "t"})
				if !errors.As(err, &wrong) || !strings.Contains(err.Error(), "the url of the elicitation ") {
					t.Errorf("in an error of a server of 2025-11-25: %v", err)
				}

				if n := len(h.questions()); n != 0 {
					t.Errorf("%d questions", n)
				}
			})
		})
	}
}
