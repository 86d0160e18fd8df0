package hub

import (
	"context"
	"sync/atomic"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/schema"
)

// budgets are what all servers of a hub may cost together: package bounds says how they share it.
type budgets struct{ questions, lists, results, checks, answers *bounds.Budget }

// newBudgets makes them; given hears what is given back.
func newBudgets(given func(bytes int)) *budgets {
	b := &budgets{
		questions: bounds.NewBudget("open questions", bounds.QuestionBytes, bounds.ServerQuestionBytes),
		lists:     bounds.NewBudget("lists", bounds.HubListBytes, bounds.ServerListBytes),
		results:   bounds.NewBudget("results in flight", bounds.ResultBytes, bounds.ServerResultBytes),
		checks:    bounds.NewBudget("checks of schemas", bounds.HubCheckBytes, bounds.ServerCheckBytes),
		answers:   bounds.NewBudget("answers being compared", bounds.AnswersBytes, bounds.AnswerBytes),
	}
	for _, one := range []*bounds.Budget{b.questions, b.lists, b.results, b.checks, b.answers} {
		one.Given = given
	}
	return b
}

// costs are what one server costs. It is made with its server and not changed; its parts are safe for concurrent use.
type costs struct {
	questions, lists, results, checks *bounds.Account

	logs, notices, asks, complaints *bounds.Rate

	logsSoon atomic.Bool // it is told soon how many log messages were dropped

	unsaid      atomic.Uint32 // kinds of notices that did not pass, see noticeKind
	noticesSoon atomic.Bool   // those are told soon

	outputs, forms *schema.Checker
}

func (b *budgets) of(server string) *costs {
	c := &costs{
		questions: b.questions.Account(server), lists: b.lists.Account(server), results: b.results.Account(server),
		checks: b.checks.Account(server),
	}
	c.logs, c.notices = bounds.NewRate(bounds.LogRate, bounds.LogBurst),
		bounds.NewRate(bounds.NoticeRate, bounds.NoticeBurst)
	c.asks, c.complaints = bounds.NewRate(bounds.QuestionRate, bounds.QuestionBurst),
		bounds.NewRate(1, bounds.ComplaintBurst)
	c.outputs = mcp.OutputChecker(c.checks)
	c.forms = &schema.Checker{Schema: "requestedSchema of the form", Value: "content of the answer", Account: c.checks}
	return c
}

// close gives back what a server that is gone still holds.
func (c *costs) close() {
	for _, a := range []*bounds.Account{c.questions, c.lists, c.results, c.checks} {
		a.Close()
	}
}

// resultHold ends the counting of the result that a request has in hand: it counts from the first part that was read of
// it. The zero value is ready to use; safe for concurrent use.
type resultHold struct{ release atomic.Pointer[func()] }

// set takes over what ends it. A result before it, of a round that asked for something, is over.
func (k *resultHold) set(release func()) {
	if before := k.release.Swap(&release); before != nil {
		(*before)()
	}
}

func (k *resultHold) end() {
	if release := k.release.Swap(nil); release != nil {
		(*release)()
	}
}

// until ends it with ctx, the caller's, if a result is handed to the caller: gRPC ends the context of a call once its
// answer is written, or nobody wants it any more. A context that never ends tells nothing of that.
func (k *resultHold) until(ctx context.Context, handed bool) {
	switch {
	case k.release.Load() == nil:
	case handed && ctx.Done() != nil:
		context.AfterFunc(ctx, k.end)
	default:
		k.end()
	}
}
