package soak

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// lateAnswer is in the answers that the raw server gives to calls that were cancelled. Nobody must see it.
const lateAnswer = "a late answer"

// rawServer returns a server without an SDK, with the tools of the other servers. It does to a cancelled call what
// servers do: it withdraws its question or does not, and answers late or never.
func rawServer(era string) *fakeserver.Server {
	s := fakeserver.New()
	ask := asks
	if era == modern {
		s, ask = fakeserver.New(fakeserver.WithModern()), asksInARound
	}
	s.Tool("slow", func(c *fakeserver.CallContext) {
		var in struct{ MS int }
		_ = json.Unmarshal(c.Arguments(), &in)
		select {
		case <-time.After(time.Duration(in.MS) * time.Millisecond):
			c.Text("done")
		case <-c.Context().Done():
			if of(c)%2 == 0 {
				c.Text(lateAnswer)
			}
		}
	})
	s.Tool("ask", ask("elicitation/create", func(text string) string {
		return fmt.Sprintf(`{"mode":"form","message":%q,"requestedSchema":{"type":"object","properties":{"name":`+
			`{"type":"string"}}}}`, "Your name? "+text)
	}))
	s.Tool("sample", ask("sampling/createMessage", func(text string) string {
		return fmt.Sprintf(`{"messages":[{"role":"user","content":{"type":"text","text":%q}}],"maxTokens":9}`, text)
	}))
	if era == legacy {
		s.Tool("ask_then_withdraw", withdraws)
	}
	return s
}

// of returns a number that depends on the call alone.
func of(c *fakeserver.CallContext) uint32 {
	h := fnv.New32()
	_, _ = h.Write(c.Param("_meta"))
	return h.Sum32()
}

// about returns the text that a question repeats.
func about(c *fakeserver.CallContext) string {
	var in struct{ About, Prompt string }
	_ = json.Unmarshal(c.Arguments(), &in)
	return in.About + in.Prompt
}

func asks(method string, params func(text string) string) fakeserver.Handler {
	return func(c *fakeserver.CallContext) {
		question := c.Request(method, params(about(c)))
		select {
		case answer := <-question.Response():
			c.Text(string(answer.Result))
		case <-c.Context().Done():
			if of(c)%2 == 0 {
				question.Cancel("its call was cancelled")
			}
			if of(c)%3 == 0 {
				c.Text(lateAnswer)
			}
		}
	}
}

func asksInARound(method string, params func(text string) string) fakeserver.Handler {
	return func(c *fakeserver.CallContext) {
		if answers := c.Param("inputResponses"); answers != nil {
			c.Text(string(answers))
			return
		}
		c.InputRequired(fmt.Sprintf(`{"answer":{"method":%q,"params":%s}}`, method, params(about(c))), "a state")
	}
}

// withdraws takes its question back, and answers the call at the same time.
func withdraws(c *fakeserver.CallContext) {
	var in struct{ After int }
	_ = json.Unmarshal(c.Arguments(), &in)
	question := c.Request("elicitation/create", `{"mode":"form","message":"Quick: your name?","requestedSchema":`+
		`{"type":"object","properties":{"name":{"type":"string"}}}}`)
	select {
	case <-time.After(time.Duration(in.After) * time.Millisecond):
		question.Cancel("no longer needed")
		c.Text("withdrawn")
	case <-question.Response():
		c.Text("answered")
	case <-c.Context().Done():
	}
}

// inMemory starts a server over pipes in memory as if it were a process.
func inMemory(w *witness, s *fakeserver.Server) func(config.Server, func(string)) mcp.Opener {
	return func(c config.Server, _ func(string)) mcp.Opener {
		return w.tap(c.Name, func(context.Context) (*mcp.Link, error) {
			p := s.Start(context.Background())
			return &mcp.Link{Conn: jsonrpc.NewLineConn(p.Stdout, p.Stdin, jsonrpc.LineConnOptions{Close: p.End}),
				Kill: func(string) { p.Kill() }}, nil
		})
	}
}
