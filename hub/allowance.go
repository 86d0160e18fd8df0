package hub

import (
	"context"
	"runtime/debug"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/schema"
)

// budgets are what all servers of a hub may cost together. Package bounds says how the servers share a budget.
type budgets struct {
	questions, lists, results, checks, answers *bounds.Budget

	free func() // returns memory to the system: debug.FreeOSMemory; tests replace it

	hub      *Hub
	released *bounds.Releases
}

// newBudgets returns the budgets of a hub. The caller must close them.
func newBudgets(h *Hub) *budgets {
	b := &budgets{
		hub:       h,
		free:      debug.FreeOSMemory,
		questions: bounds.NewBudget("open questions", bounds.QuestionBytes, bounds.ServerQuestionBytes),
		lists:     bounds.NewBudget("lists", bounds.HubListBytes, bounds.ServerListBytes),
		results:   bounds.NewBudget("results in flight", bounds.ResultBytes, bounds.ServerResultBytes),
		checks:    bounds.NewBudget("checks of schemas", bounds.HubCheckBytes, bounds.ServerCheckBytes),
		answers:   bounds.NewBudget("answers being compared", bounds.AnswersBytes, bounds.AnswerBytes),
	}
	b.released = bounds.NewReleases(func() { b.free() })
	for _, one := range []*bounds.Budget{b.questions, b.lists, b.results, b.checks, b.answers} {
		one.Given = b.released.Note
	}
	return b
}

// close makes sure that no more memory is returned to the system.
func (b *budgets) close() { b.released.Close() }

// allowance is what one server may cost and do, for as long as it is configured. Its parts are safe for concurrent use,
// except quiet and gone, which are guarded by the hub's lock. The comment of a method says whether it takes that lock.
type allowance struct {
	hub    *Hub
	server string

	questions, lists, results, checks *bounds.Account
	outputs, forms                    *schema.Checker

	logs, notices, asks, complaints *bounds.Rate

	unsaid  atomic.Uint32 // kinds of the notices that were held back, see noticeKind
	pending atomic.Bool   // the windows will be told of these, and of dropped log messages: see soon

	quiet quietTime
	gone  bool
}

// of returns an allowance for a server. The caller closes it together with the server.
func (b *budgets) of(server string) *allowance {
	a := &allowance{
		hub: b.hub, server: server,
		questions: b.questions.Account(server), lists: b.lists.Account(server), results: b.results.Account(server),
		checks:     b.checks.Account(server),
		logs:       bounds.NewRate(bounds.LogRate, bounds.LogBurst),
		notices:    bounds.NewRate(bounds.NoticeRate, bounds.NoticeBurst),
		asks:       bounds.NewRate(bounds.QuestionRate, bounds.QuestionBurst),
		complaints: bounds.NewRate(1, bounds.ComplaintBurst),
	}
	a.outputs = mcp.OutputChecker(a.checks)
	a.forms = &schema.Checker{Schema: "requestedSchema of the form", Value: "content of the answer", Account: a.checks}
	return a
}

// close releases what a server that is gone still holds. It is called with the lock.
func (a *allowance) close() {
	a.gone = true
	for _, one := range []*bounds.Account{a.questions, a.lists, a.results, a.checks} {
		one.Close()
	}
}

// questionBytes returns about how many bytes an open question takes.
func questionBytes(q *mcp.Question) int {
	return event.Overhead + len(q.Payload) + len(q.Message) + len(q.Schema) + len(q.URL) + len(q.ElicitationID)
}

// admit takes the bytes of a question from the budget; release returns them. If nobody is to be asked, Admit returns an
// answer (refused) or an error for the server instead. It takes the lock.
func (a *allowance) admit(q *mcp.Question, kind event.PromptKind) (release func(), refused *mcp.Answer, err error) {
	if !a.asks.Allow(time.Now()) {
		return nil, nil, a.tooMuch("questionsTooFast", "the server asks more than "+strconv.Itoa(bounds.QuestionRate)+
			" questions a second")
	}
	var as event.Action
	var why string
	a.hub.within(func() { as, why = a.quiet.refuse(time.Now()) })
	if why != "" {
		a.hub.log.Debug("a question of a server was refused without asking", "server", a.server, "kind", kind.String(),
			"why", why)
		if as == event.ActionDecline {
			return nil, &mcp.Answer{Action: mcp.Decline}, nil
		}
		return nil, &mcp.Answer{Action: mcp.Dismiss}, nil
	}
	n := questionBytes(q)
	if err := a.questions.Take(n); err != nil {
		return nil, nil, a.tooMuch("questionTooLarge", err.Error())
	}
	return func() { a.questions.Give(n) }, nil, nil
}

// tooMuch reports that a question goes over a bound, and returns the error for its server. It takes the lock.
func (a *allowance) tooMuch(name, text string) error {
	a.overBound(name, text)
	return &mcp.BoundError{Code: jsonrpc.CodeTooManyRequests, Text: text}
}

// overBound tells people that the server went over a bound, and which. It takes the lock.
func (a *allowance) overBound(name, text string) {
	if !a.complaints.Allow(time.Now()) {
		return
	}
	a.hub.log.Warn("a question of a server was refused: it goes over a bound", "server", a.server, "bound", text)
	a.hub.within(func() { a.note(name, map[string]string{"text": text}) })
}

// quietTime keeps a server from asking: for a while after a person has said No several times in a row, or, if muted,
// until the person wants its questions again.
type quietTime struct {
	refused int       // in a row
	until   time.Time // no question before that
	muted   bool
}

// refuse reports whether a question that comes at now is answered without asking anybody: then why is not "", and as is
// the answer.
func (q *quietTime) refuse(now time.Time) (as event.Action, why string) {
	switch {
	case q.muted:
		return event.ActionDecline, "the user wants no more questions of this server"
	case now.Before(q.until):
		return event.ActionDismiss, "its last questions were refused, and it asks again at once"
	}
	return 0, ""
}

// settled records how a question that was shown has ended. An end that no person chose changes nothing. It is called
// with the lock.
func (a *allowance) settled(cause event.PromptCause) {
	q := &a.quiet
	switch cause {
	case event.CauseAnswered:
		q.refused, q.until = 0, time.Time{}
	case event.CauseDeclined, event.CauseDismissed:
		q.refused++
		if over := q.refused - bounds.RefusalsFree; over > 0 {
			q.until = time.Now().Add(refusalPause(over))
		}
	}
}

// refusalPause returns how long a server has to wait after the n-th No beyond the first bounds.RefusalsFree.
func refusalPause(n int) time.Duration {
	pause := bounds.RefusalPause
	for range n - 1 {
		if pause >= bounds.RefusalMaxPause {
			return bounds.RefusalMaxPause
		}
		pause *= 2
	}
	return min(pause, bounds.RefusalMaxPause)
}

// called is called when somebody calls the server, which may have to ask questions for that. It ends the pause after
// refusals, but does not unmute the server, and allows bounds.QuestionsPerCall more questions. It is called with the
// lock.
func (a *allowance) called() {
	a.quiet.refused, a.quiet.until = 0, time.Time{}
	a.asks.Credit(bounds.QuestionsPerCall)
}

// muted reports whether the user wants no more questions of the server. It is called with the lock.
func (a *allowance) muted() bool { return a.quiet.muted }

// mute sets whether the user wants no more questions of the server. changed reports whether that is a change. It is
// called with the lock.
func (a *allowance) mute(muted bool) (changed bool) {
	if !muted {
		a.quiet.refused, a.quiet.until = 0, time.Time{}
	}
	changed = a.quiet.muted != muted
	a.quiet.muted = muted
	return changed
}

// resultHold ends the accounting of a request's current result, which counts from the first part on that was read of
// it. The zero value is ready to use. It is safe for concurrent use.
type resultHold struct{ release atomic.Pointer[func()] }

// set stores the function that ends the accounting of a new result. It ends that of the result before, which is of an
// earlier round that asked a question.
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

// until ends the accounting. If the result is handed to the caller, the accounting ends with ctx, the caller's context:
// gRPC ends the context of a call once it has queued the answer, or once nobody wants it any more. An answer that waits
// there for a slow host is not counted. Otherwise, and if ctx never ends, the accounting ends at once.
func (k *resultHold) until(ctx context.Context, handed bool) {
	switch {
	case k.release.Load() == nil:
	case handed && ctx.Done() != nil:
		context.AfterFunc(ctx, k.end)
	default:
		k.end()
	}
}
