package hub

import (
	"sync/atomic"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/schema"
)

// budgets are what all servers of a hub may cost together: package bounds says how they share it.
type budgets struct{ questions, lists, results, checks *bounds.Budget }

// newBudgets makes them; given hears what is given back.
func newBudgets(given func(bytes int)) *budgets {
	b := &budgets{
		questions: bounds.NewBudget("open questions", bounds.QuestionBytes, bounds.ServerQuestionBytes),
		lists:     bounds.NewBudget("lists", bounds.HubListBytes, bounds.ServerListBytes),
		results:   bounds.NewBudget("results in flight", bounds.ResultBytes, bounds.ServerResultBytes),
		checks:    bounds.NewBudget("checks of schemas", bounds.HubCheckBytes, bounds.ServerCheckBytes),
	}
	for _, one := range []*bounds.Budget{b.questions, b.lists, b.results, b.checks} {
		one.Given = given
	}
	return b
}

// costs are what one server costs. It is made with its server and not changed; its parts are safe for concurrent use.
type costs struct {
	questions, lists, results, checks *bounds.Account

	logs, notices, asks, complaints *bounds.Rate

	toldSoon atomic.Bool // a timer is set that tells how many log messages were dropped

	outputs, forms *schema.Checker
}

func (b *budgets) of(server string) *costs {
	c := &costs{
		questions: b.questions.Account(server), lists: b.lists.Account(server), results: b.results.Account(server), checks: b.checks.Account(server),
	}
	c.logs, c.notices = bounds.NewRate(bounds.LogRate, bounds.LogBurst), bounds.NewRate(bounds.NoticeRate, bounds.NoticeBurst)
	c.asks, c.complaints = bounds.NewRate(bounds.QuestionRate, bounds.QuestionBurst), bounds.NewRate(1, bounds.ComplaintBurst)
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

// toolOverhead is about what a tool takes besides its definition.
const toolOverhead = 512

// keepTools keeps a list of tools. An error says that it finds no room; nothing is kept then. h.mu is held.
func (s *server) keepTools(tools []mcp.Tool, of *connection) error {
	s.forgetTools()
	n := 0
	for _, t := range tools {
		n += len(t.Raw) + toolOverhead
	}
	if err := s.costs.lists.Take(n); err != nil {
		return err
	}
	s.tools, s.toolsOf, s.toolBytes = tools, of, n
	return nil
}

// forgetTools forgets a list. h.mu is held.
func (s *server) forgetTools() {
	s.costs.lists.Give(s.toolBytes)
	s.tools, s.toolBytes = nil, 0
}

// HoldResult takes the bytes of a result that is being handed to a host from what its server, and all servers together, may have in flight; release gives them back.
// An error says that it finds no room: the call has run, and its result is lost.
func (h *Hub) HoldResult(name, requestID string, bytes int) (release func(), err error) {
	var s *server
	h.update(func() { s = h.server(name) })
	if s == nil { // it has been removed meanwhile
		return func() {}, nil
	}
	if err := s.costs.results.Take(bytes); err != nil {
		return nil, boundError(s, requestID, "the call has run, and its result is lost, as too many large results are in flight; wait until some are over", err)
	}
	return func() { s.costs.results.Give(bytes) }, nil
}
