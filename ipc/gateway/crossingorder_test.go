package gateway_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"golang.org/x/tools/txtar"
)

const orderScene = `
-- config --
{"mcpServers":{"s":{"command":"s","era":"legacy","approvals":{"*":"allow"}}}}
-- s offers --
initialize {"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}
tools/list {"tools":[{"name":"slow","inputSchema":{"type":"object"}}]}
-- c http --
`

// A server withdraws its question and answers the call in one breath: over HTTP the client gets the question, its
// withdrawal and the answer, in this order and on one stream, also if the question may be another call's. Finding F2.
func TestWithdrawalIsNotOvertaken(t *testing.T) {
	for _, calls := range []int{1, 2} {
		t.Run(fmt.Sprint(calls), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, txtar.Parse([]byte(orderScene)).Files)
				defer s.close()
				c := s.party("c")
				say := func(p *party, format string, args ...any) {
					_, _ = io.WriteString(p.in, fmt.Sprintf(format, args...)+"\n")
					synctest.Wait()
				}
				say(c, `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25",`+
					`"capabilities":{"elicitation":{}}}}`)
				c.web.act("get", "")
				const slow = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"s__slow"}}`
				server := s.party("s")
				for n := range calls - 1 {
					say(c, slow, n)
				}
				for n := range 100 {
					server.take()
					say(c, slow, 100+n)
					id := ""
					for _, line := range server.take() {
						_, id, _ = strings.Cut(line, `"id":`)
						id, _, _ = strings.Cut(id, ",")
					}
					say(server, `{"jsonrpc":"2.0","id":"e%d","method":"elicitation/create","params":{"message":"Name?",`+
						`"requestedSchema":{"type":"object","properties":{}}}}`, n)
					say(server, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"e%d","reason":"found"}}`+
						"\n"+`{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}`, n, id)
					var got []string
					for _, line := range c.take() {
						stream, message, _ := strings.Cut(line, " ")
						for _, sign := range []string{"elicitation/create", "notifications/cancelled", `"content":[]`, "ends"} {
							if strings.Contains(message, sign) {
								got = append(got, stream+sign)
							}
						}
					}
					at := fmt.Sprintf("[%d]", calls+n+1)
					want := []string{at + "elicitation/create", at + "notifications/cancelled", at + `"content":[]`, at + "ends"}
					if strings.Join(got, " ") != strings.Join(want, " ") {
						t.Fatalf("round %d: %q, want %q", n, got, want)
					}
				}
			})
		})
	}
}
