package stdio_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/mcphub-go/mcphub/internal/cli/clitest"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// program is a host that writes its lines by hand.
type program struct{ *clitest.Speaker }

// speak does something as the host of mcphub stdio, and returns how the command ended.
func speak(c *clitest.Commands, do func(p program), args ...string) clitest.Ended {
	c.T.Helper()
	r := c.Speak(func(s *clitest.Speaker) { do(program{s}) }, append([]string{"stdio"}, args...)...)
	if r.Status != exit.OK {
		c.T.Errorf("status %d\n%s", r.Status, r.Stderr)
	}
	return r
}

// read waits for a message that fits.
func (p program) read(what string, fits func(*mcphubv1.AttachResponse) bool) *mcphubv1.AttachResponse {
	p.T.Helper()
	var found *mcphubv1.AttachResponse
	p.Stdout.Line(p.T, what, func(line string) bool {
		m := new(mcphubv1.AttachResponse)
		if !strings.HasSuffix(line, "\n") || protojson.Unmarshal([]byte(line), m) != nil || !fits(m) {
			return false
		}
		found = m
		return true
	})
	return found
}

// reply waits for the reply to the message with this id.
func (p program) reply(id string) *mcphubv1.Reply {
	p.T.Helper()
	return p.read("the reply to "+id, func(m *mcphubv1.AttachResponse) bool {
		return m.GetReply() != nil && m.GetReply().GetMessageId() == id
	}).GetReply()
}

func (p program) greet() {
	p.T.Helper()
	p.Say(`{"hello":{"title":"by hand","promptKinds":["PROMPT_KIND_TOOL_APPROVAL","PROMPT_KIND_ELICITATION_FORM",` +
		`"PROMPT_KIND_SERVER_LAUNCH"]}}`)
	p.read("the snapshot", func(m *mcphubv1.AttachResponse) bool { return m.GetSnapshot() != nil })
}

// call calls a method of the hub, whose request has these fields.
func (p program) call(id, service, method, fields string) {
	p.T.Helper()
	p.Say(fmt.Sprintf(`{"messageId":%q,"call":{"method":"/mcphub.v1.%s/%s","request":`+
		`{"@type":"type.googleapis.com/mcphub.v1.%[3]sRequest"%s}}}`, id, service, method, fields))
}

const sleep = `,"requestId":"r-1","server":"demo","tool":"sleep","argumentsJson":"{\"seconds\":60}"`

// runs waits until a call is at its server.
func (p program) runs() {
	p.T.Helper()
	p.Stdout.Await(p.T, "tool sleep started")
}

// TestSession: a call is cancelled with a reason that reaches the server, a question is answered, and the end of the
// input is the goodbye. What is no message in between is answered, and loses nothing.
func TestSession(t *testing.T) {
	c := clitest.InBubbles(t)
	file, record := c.RecordedDemo("allow")
	r := speak(c, func(p program) {
		p.call("early", "McpHubService", "GetInfo", "")
		if e := p.reply("early").GetError(); e.GetReason() != "HELLO_EXPECTED" {
			t.Errorf("before hello: %v", e)
		}
		p.greet()
		p.call("call", "McpHubService", "CallTool", sleep)
		p.runs()
		for id, line := range map[string]string{
			"":      `nonsense`,
			"field": `{"messageId":"field","noField":1}`,
			"type":  `{"messageId":"type","cancelMcpRequest":{"requestId":7}}`,
			"none":  `{"messageId":"none","call":{"method":"/x","request":{"@type":"type.googleapis.com/none"}}}`,
			"twice": `{"messageId":"twice","hello":{"title":"again"}}`,
		} {
			p.Say(line)
			if e := p.reply(id).GetError(); e.GetCode() != "INVALID_ARGUMENT" || e.GetReason() != "INVALID_MESSAGE" {
				t.Errorf("%s: %v", line, e)
			}
		}
		p.Say(`{"messageId":"late","answerPrompt":{"promptId":"gone","dismiss":{}}}`)
		if e := p.reply("late").GetError(); e.GetReason() != "PROMPT_NOT_FOUND" {
			t.Errorf("an answer to a closed question: %v", e)
		}
		p.Say(`{"messageId":"stop","cancelMcpRequest":{"requestId":"r-1","reason":"seen enough"}}`)
		if o := p.reply("stop").GetCancelOutcome(); o != mcphubv1.CancelOutcome_CANCEL_OUTCOME_CANCELLING {
			t.Errorf("the cancel: %v", o)
		}
		p.read("that it was cancelled", func(m *mcphubv1.AttachResponse) bool {
			return m.GetMcpRequestCancelled().GetCancellation().GetReason() == "seen enough"
		})
		p.call("ask", "McpHubService", "CallTool", `,"server":"demo","tool":"ask_name"`)
		asked := p.read("the question", func(m *mcphubv1.AttachResponse) bool { return m.GetPromptOpened() != nil })
		p.Say(fmt.Sprintf(`{"answerPrompt":{"promptId":%q,"accept":{"contentJson":"{\"name\":\"Ada\"}"}}}`,
			asked.GetPromptOpened().GetPrompt().GetPromptId()))
		p.read("the result", func(m *mcphubv1.AttachResponse) bool {
			return strings.Contains(m.GetMcpRequestFinished().GetResultJson(), "Ada")
		})
	}, file)
	clitest.HeardCancel(t, record, "seen enough")
	if r.Stderr != "" {
		t.Errorf("stderr: %s", r.Stderr)
	}
}

// TestLinesAreAWindows: without --host nothing that comes on the input counts for more than a click in a window.
func TestLinesAreAWindows(t *testing.T) {
	c := clitest.InBubbles(t)
	file, _ := c.RecordedDemo("ask")
	speak(c, func(p program) {
		p.greet()
		for i, m := range []struct{ service, method, fields, reason string }{
			{"McpServerService", "ReloadConfig", "", "METHOD_OF_HOSTS"},
			{"McpHubService", "Drain", "", "METHOD_OF_HOSTS"},
			{"GatewayService", "OpenGateway", "", "METHOD_OF_HOSTS"},
			{"McpServerService", "AllowLaunch", `,"server":"demo"`, "METHOD_OF_HOSTS"},
			{"McpHubService", "CallTool", `,"server":"demo","tool":"echo","preapproved":true`, "INVALID_REQUEST"},
			{"McpHubService", "CallTool", `,"server":"demo","tool":"echo","caller":"another"`, "INVALID_REQUEST"},
		} {
			id := fmt.Sprint(i)
			p.call(id, m.service, m.method, m.fields)
			if e := p.reply(id).GetError(); e.GetReason() != m.reason {
				t.Errorf("%s%s: %v", m.method, m.fields, e)
			}
		}
	}, file)
}

// TestHost: with --host the host says which servers there are, gets the result of its call in the reply, gives up
// another one, and calls without being asked what its own page has asked.
func TestHost(t *testing.T) {
	c := clitest.InBubbles(t)
	file, record := c.RecordedDemo("ask")
	speak(c, func(p program) {
		p.greet()
		p.call("config", "McpServerService", "ReloadConfig", fmt.Sprintf(`,"sources":[{"path":%q,"scope":"user"}]`, file))
		if e := p.reply("config").GetError(); e != nil {
			t.Fatal(e)
		}
		// A managed policy is not taken from lines.
		p.call("policy", "McpServerService", "ReloadConfig", `,"managedPolicy":{"json":"{}"}`)
		if e := p.reply("policy").GetError(); !strings.Contains(e.GetMessage(), "managed_policy: is not taken") {
			t.Errorf("a policy: %v", e)
		}
		p.call("echo", "McpHubService", "CallTool",
			`,"server":"demo","tool":"echo","argumentsJson":"{\"text\":\"hi\"}","preapproved":true`)
		var result mcphubv1.CallToolResponse
		r := p.reply("echo")
		if r.GetResponse().UnmarshalTo(&result) != nil || !strings.Contains(result.GetResultJson(), "hi") {
			t.Errorf("the reply of the call: %v", r)
		}
		p.call("long", "McpHubService", "CallTool", sleep+`,"preapproved":true`)
		p.runs()
		p.Say(`{"giveUp":{"messageId":"long"}}`)
		if e := p.reply("long").GetError(); e.GetCode() != "CANCELLED" {
			t.Errorf("what was given up: %v", e)
		}
		p.call("wrong", "McpHubService", "CallTool", `,"server":"demo","tool":"none","preapproved":true`)
		if e := p.reply("wrong").GetError(); e.GetReason() != "TOOL_NOT_FOUND" {
			t.Errorf("a tool that is not there: %v", e)
		}
	}, "--host")
	clitest.HeardCancel(t, record, "the host cancelled the call")
}

// TestInputEnds: the end of the input ends the calls of the host, and the hub with those of the window; the server
// hears of each.
func TestInputEnds(t *testing.T) {
	for reason, args := range map[string][]string{
		"the hub is shutting down":    nil,
		"the host cancelled the call": {"--host"},
	} {
		c := clitest.InBubbles(t)
		file, record := c.RecordedDemo("allow")
		speak(c, func(p program) {
			p.greet()
			p.call("call", "McpHubService", "CallTool", sleep)
			p.runs()
		}, append(args, file)...)
		heard, err := os.ReadFile(record)
		if err != nil || !strings.Contains(string(heard), `"reason":"`+reason+`"`) {
			t.Errorf("%v: %v\n%s", args, err, heard)
		}
	}
}

// TestWrongUse: what is wrong with the command line is said before a hub is opened.
func TestWrongUse(t *testing.T) {
	c := clitest.InBubbles(t)
	r := c.Run("stdio", "--url", "no address")
	if r.Status != exit.Usage || !strings.Contains(r.Stderr, "--url") {
		t.Errorf("status %d: %s", r.Status, r.Stderr)
	}
}
