package allowance

import (
	"log/slog"
	"runtime/debug"
	"sync/atomic"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/redact"
	"github.com/mcphub-go/mcphub/hub/schema"
)

// House is the hub that the servers belong to.
type House interface {
	// Update runs f with the hub's lock. f must not wait for anything.
	Update(f func())
	// Closed reports whether the hub is closed or being closed. It is called with the lock.
	Closed() bool
	// Emit sends an event to the windows. It is called with the lock.
	Emit(b event.Body)
}

// Options are the options of Budgets. All are required.
type Options struct {
	House    House
	Logger   *slog.Logger
	Redactor *redact.Redactor
}

// Budgets are what all servers of a hub may cost together. Package bounds says how the servers share a budget.
// NewBudgets makes them.
type Budgets struct {
	Questions, Lists, Results, Checks, Answers *bounds.Budget

	Free func() // returns memory to the system: debug.FreeOSMemory; tests replace it

	options  Options
	released *bounds.Releases
}

// NewBudgets returns the budgets of a hub. The caller must close them.
func NewBudgets(o Options) *Budgets {
	b := &Budgets{
		options:   o,
		Free:      debug.FreeOSMemory,
		Questions: bounds.NewBudget("open questions", bounds.QuestionBytes, bounds.ServerQuestionBytes),
		Lists:     bounds.NewBudget("lists", bounds.HubListBytes, bounds.ServerListBytes),
		Results:   bounds.NewBudget("results in flight", bounds.ResultBytes, bounds.ServerResultBytes),
		Checks:    bounds.NewBudget("checks of schemas", bounds.HubCheckBytes, bounds.ServerCheckBytes),
		Answers:   bounds.NewBudget("answers being compared", bounds.AnswersBytes, bounds.AnswerBytes),
	}
	b.released = bounds.NewReleases(func() { b.Free() })
	for _, one := range []*bounds.Budget{b.Questions, b.Lists, b.Results, b.Checks, b.Answers} {
		one.Given = b.released.Note
	}
	return b
}

// Close makes sure that no more memory is returned to the system.
func (b *Budgets) Close() { b.released.Close() }

// Allowance is what one server may cost and do, for as long as it is configured. Its parts are safe for concurrent use,
// except quiet and gone, which are guarded by the hub's lock. The comment of a method says whether it takes that lock.
type Allowance struct {
	house    House
	log      *slog.Logger
	redactor *redact.Redactor
	server   string

	Questions, Lists, Results, Checks *bounds.Account
	Outputs, Forms                    *schema.Checker

	logs, notices, asks, complaints *bounds.Rate

	unsaid  atomic.Uint32 // kinds of the notices that were held back, see noticeKind
	pending atomic.Bool   // the windows will be told of these, and of dropped log messages: see soon

	quiet quiet
	gone  bool
}

// Of returns an allowance for a server. The caller closes it together with the server.
func (b *Budgets) Of(server string) *Allowance {
	a := &Allowance{
		house: b.options.House, log: b.options.Logger, redactor: b.options.Redactor, server: server,
		Questions: b.Questions.Account(server), Lists: b.Lists.Account(server), Results: b.Results.Account(server),
		Checks:     b.Checks.Account(server),
		logs:       bounds.NewRate(bounds.LogRate, bounds.LogBurst),
		notices:    bounds.NewRate(bounds.NoticeRate, bounds.NoticeBurst),
		asks:       bounds.NewRate(bounds.QuestionRate, bounds.QuestionBurst),
		complaints: bounds.NewRate(1, bounds.ComplaintBurst),
	}
	a.Outputs = mcp.OutputChecker(a.Checks)
	a.Forms = &schema.Checker{Schema: "requestedSchema of the form", Value: "content of the answer", Account: a.Checks}
	return a
}

// Close releases what a server that is gone still holds. It is called with the lock.
func (a *Allowance) Close() {
	a.gone = true
	for _, one := range []*bounds.Account{a.Questions, a.Lists, a.Results, a.Checks} {
		one.Close()
	}
}
