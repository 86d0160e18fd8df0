package hub

import (
	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/schema"
)

// budgets are what all servers of a hub may cost together: package bounds says how they share it.
type budgets struct{ questions, lists, results, checks *bounds.Budget }

func newBudgets() *budgets {
	return &budgets{
		questions: bounds.NewBudget("open questions", bounds.QuestionBytes, bounds.ServerQuestionBytes),
		lists:     bounds.NewBudget("lists", bounds.HubListBytes, bounds.ListBytes),
		results:   bounds.NewBudget("results in flight", bounds.ResultBytes, bounds.ServerResultBytes),
		checks:    bounds.NewBudget("checks of schemas", bounds.HubCheckBytes, bounds.ServerCheckBytes),
	}
}

// costs are what one server costs. It is made with its server and not changed; its parts are safe for concurrent use.
type costs struct {
	questions, lists, results, checks *bounds.Account

	outputs, forms *schema.Checker
}

func (b *budgets) of(server string) *costs {
	c := &costs{
		questions: b.questions.Account(server), lists: b.lists.Account(server), results: b.results.Account(server), checks: b.checks.Account(server),
	}
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
