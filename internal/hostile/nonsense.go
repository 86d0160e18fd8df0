package hostile

import (
	"fmt"

	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// wrongParams are params that fit no method: with wrong types, with numbers that are too large, without required
// members, and with combinations of these.
var wrongParams = []string{
	``, `null`, `[]`, `"x"`, `0`, `{}`, `{"":null}`,
	`{"requestId":null,"reason":{}}`,
	`{"requestId":[1],"reason":"\ud800"}`,
	`{"requestId":1e999}`,
	`{"requestId":-0,"requestId":0}`,
	`{"progressToken":null,"progress":"x"}`,
	`{"progressToken":{},"progress":1e999,"total":-1}`,
	`{"progressToken":1,"progress":-1e308,"total":0,"message":[]}`,
	`{"level":7,"logger":{},"data":null}`, `{"level":"` + "\u0000\u0085\u202e" + `","data":{"a":{"a":{}}}}`,
	`{"uri":1}`,
	`{"uri":"\u0000"}`,
	`{"elicitationId":null}`,
	`{"taskId":1,"status":true}`,
	`{"taskId":"","status":"nonsense","pollInterval":-1e999}`,
	`{"message":null,"requestedSchema":null}`,
	`{"mode":"url","url":null}`,
	`{"mode":{},"message":"x","requestedSchema":true}`,
	`{"messages":{},"maxTokens":-1}`,
	`{"messages":[null,1,{"role":7}],"maxTokens":1e999,"tools":[null],"toolChoice":0}`,
	`{"_meta":null}`,
	`{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":null}}}`,
	`{"_meta":{"progressToken":[]}}`,
}

// wrongMethods are methods that a server may use, and methods that it may not use.
var wrongMethods = []string{
	"notifications/cancelled", "notifications/progress",
	"notifications/message", "notifications/tools/list_changed", "notifications/resources/updated",
	"notifications/resources/list_changed", "notifications/prompts/list_changed",
	"notifications/tasks/status", "notifications/elicitation/complete",
	"notifications/initialized", "notifications/subscriptions/acknowledged", "",
	"ping", "roots/list", "sampling/createMessage", "elicitation/create", "tasks/get", "tools/call", "initialize",
}

// wrongMessages are invalid messages, and answers to no request.
var wrongMessages = []string{
	`{}`,
	`[]`,
	`[{}]`,
	`null`,
	`""`,
	`{"jsonrpc":"1.0","id":1,"result":{}}`,
	`{"jsonrpc":"2.0","id":null,"error":null}`,
	`{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"both"}}`,
	`{"jsonrpc":"2.0","id":2,"error":"text"}`,
	`{"jsonrpc":"2.0","id":{},"result":null}`,
	`{"jsonrpc":"2.0","id":"` + "\u0000" + `","method":5}`,
	`{"jsonrpc":"2.0","method":null,"params":null}`,
}

// wrongTools are invalid lists of tools.
var wrongTools = []string{
	`null`,
	`{"tools":null}`,
	`{"tools":[null,1,"x",[],{}]}`,
	`{"tools":[{"name":null,"inputSchema":null}]}`,
	`{"tools":[{"name":"","inputSchema":[]}]}`,
	`{"tools":[{"name":"t","inputSchema":{"type":7}},{"name":"t","inputSchema":{}}],"nextCursor":{}}`,
	`{"tools":[],"nextCursor":"","ttlMs":-1e999}`,
	`{"tools":[{"name":"\u0000","annotations":[],"_meta":0,"outputSchema":"x","execution":[]}]}`,
}

// WrongLists is the number of wrong lists of talksNonsense.
var WrongLists = len(wrongTools)

// talksNonsense sends every wrong message once, and then answers. After that, it lists its tools in each wrong form
// once, and then correctly. Counts: talked, listed (wrong).
func talksNonsense(s *Server) {
	s.Handle("tools/list", func(c *fakeserver.CallContext) {
		if s.Count("talked") > 0 && s.Count("listed") < len(wrongTools) {
			c.Result(wrongTools[s.count("listed")-1])
			return
		}
		const takesAll = `"inputSchema":{"type":"object"}`
		c.Result(`{"tools":[{"name":"` + Tool + `",` + takesAll + `},{"name":"echo",` + takesAll + `}]}`)
	})
	s.Tool(Tool, func(c *fakeserver.CallContext) {
		for i, method := range wrongMethods {
			for k, params := range wrongParams {
				if params != "" {
					params = `,"params":` + params
				}
				for _, id := range []string{``, fmt.Sprintf(`,"id":"%d-%d"`, i, k), `,"id":null`, `,"id":{}`} {
					_ = s.SendLine(fmt.Sprintf(`{"jsonrpc":"2.0"%s,"method":%q%s}`, id, method, params))
				}
			}
		}
		for _, message := range wrongMessages {
			_ = s.SendLine(message)
		}
		s.count("talked")
		c.Text("that was all")
	})
}

func init() {
	behaviours["nonsense"] = behaviour{about: "A12: thousands of messages that are wrong in all ways", make: talksNonsense}
}
