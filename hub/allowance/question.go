package allowance

import (
	"strconv"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// questionBytes returns about how many bytes an open question takes.
func questionBytes(q *mcp.Question) int {
	return event.Overhead + len(q.Payload) + len(q.Message) + len(q.Schema) + len(q.URL) + len(q.ElicitationID)
}

// Admit takes the bytes of a question from the budget; release returns them. If nobody is to be asked, Admit returns an
// answer (refused) or an error for the server instead. It takes the lock.
func (a *Allowance) Admit(q *mcp.Question, kind event.PromptKind) (release func(), refused *mcp.Answer, err error) {
	if !a.asks.Allow(time.Now()) {
		return nil, nil, a.tooMuch("questionsTooFast", "the server asks more than "+strconv.Itoa(bounds.QuestionRate)+
			" questions a second")
	}
	var as event.Action
	var why string
	a.house.Update(func() { as, why = a.quiet.refuse(time.Now()) })
	if why != "" {
		a.log.Debug("a question of a server was refused without asking", "server", a.server, "kind", kind.String(),
			"why", why)
		if as == event.ActionDecline {
			return nil, &mcp.Answer{Action: mcp.Decline}, nil
		}
		return nil, &mcp.Answer{Action: mcp.Dismiss}, nil
	}
	n := questionBytes(q)
	if err := a.Questions.Take(n); err != nil {
		return nil, nil, a.tooMuch("questionTooLarge", err.Error())
	}
	return func() { a.Questions.Give(n) }, nil, nil
}

// tooMuch reports that a question goes over a bound, and returns the error for its server. It takes the lock.
func (a *Allowance) tooMuch(name, text string) error {
	a.OverBound(name, text)
	return &mcp.BoundError{Code: jsonrpc.CodeTooManyRequests, Text: text}
}

// OverBound tells people that the server went over a bound, and which. It takes the lock.
func (a *Allowance) OverBound(name, text string) {
	if !a.complaints.Allow(time.Now()) {
		return
	}
	a.log.Warn("a question of a server was refused: it goes over a bound", "server", a.server, "bound", text)
	a.house.Update(func() { a.Note(name, map[string]string{"text": text}) })
}
