package prompts

import (
	"encoding/json"
	"fmt"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// Words are the words for a question that has a request of its own. All questions but tool approvals have one.
type Words struct {
	Method, Subject string // of the request
	Name            string // the beginning of its id
	Wants           string // what a server wants that waits for the answer
	Shows           string // what a window can show that can show such a question
}

// WordsOf returns the words for a question.
func WordsOf(p *event.PromptInfo) Words {
	switch p.Kind {
	case event.PromptSampling:
		return Words{Method: "sampling/createMessage", Name: "ask"}
	case event.PromptSignIn:
		return Words{Method: "authorization", Subject: p.SignIn.Issuer, Name: "sign-in", Wants: "a sign-in",
			Shows: "sign-ins"}
	case event.PromptServerLaunch:
		return Words{Method: "launch", Subject: launched(p.Launch), Name: "launch", Wants: "your consent to start it",
			Shows: "server launches"}
	case event.PromptConfigInput:
		return Words{Method: "input", Subject: p.Input.InputID, Name: "input", Shows: "config inputs",
			Wants: fmt.Sprintf("the input %q of its config", bounds.Printable(p.Input.InputID))}
	}
	return Words{Method: "elicitation/create", Name: "ask"}
}

// launched returns the name of what would be started, for the request, which everybody sees. It leaves out the query of
// a URL, which may be secret.
func launched(q *event.LaunchQuestion) string {
	if q.URL != "" {
		return (config.Server{URL: q.URL}).DisplayURL()
	}
	return q.Command
}

// Of returns what people are shown of a server's question. withTools reports whether it is a sampling question for a
// model that is to use tools.
func Of(q *mcp.Question) (info event.PromptInfo, withTools bool) {
	question := &event.Question{Payload: q.Payload, Message: q.Message, Waiting: q.Waiting, Schema: q.Schema}
	info = event.PromptInfo{Kind: event.PromptElicitationForm, Question: question}
	switch q.Kind {
	case mcp.Sampling:
		info.Kind, withTools = event.PromptSampling, hasTools(q.Payload)
	case mcp.ElicitationURL:
		info.Kind, question.URL, question.URLHost = event.PromptElicitationURL, q.URL, q.URLHost
	}
	return info, withTools
}

func hasTools(payload json.RawMessage) bool {
	some := false
	jsontext.Elements(jsontext.Get(payload, "tools"), func(json.RawMessage) bool {
		some = true
		return false
	})
	return some
}
