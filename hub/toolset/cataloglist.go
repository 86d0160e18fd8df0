package toolset

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sort"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// Tool is a tool in the form that all providers of models accept.
type Tool struct {
	Identity
	ModelName, Title, Description string
	InputSchema                   json.RawMessage
	Changes                       []Change
	Tokens                        int
	Hints                         Hints
	Policy                        event.Policy
}

// Hints are the annotations that the server has sent with its tool; nil if absent.
type Hints struct{ ReadOnly, Destructive, Idempotent, OpenWorld *bool }

// List returns the tools of a profile, sorted by server and name, and those that cannot be sent. tokens is the
// estimated cost of all of them.
func (c *Catalog) List(ctx context.Context, profile string) (tools []Tool, aside []Aside, tokens int,
	err error) {
	p, err := c.Profile(profile)
	if err != nil {
		return nil, nil, 0, err
	}
	all, err := c.tools(ctx)
	if err != nil {
		return nil, nil, 0, err
	}
	table := c.named(all)
	aside = slices.DeleteFunc(slices.Clone(table.Aside()), func(a Aside) bool { return !p.Has(a.Server, a.Name) })
	listed := map[Identity]bool{}
	for _, t := range all {
		id := identity(t)
		name, ok := table.Name(id)
		if !ok || listed[id] || !p.Has(t.Server, t.Name) {
			continue
		}
		listed[id] = true
		if ctx.Err() != nil {
			return nil, nil, 0, event.AsError(context.Cause(ctx))
		}
		definition := json.RawMessage(t.Definition)
		schema, changes, err := Fit(jsontext.Get(definition, "inputSchema"))
		if err != nil {
			aside = append(aside, Aside{Identity: id, Reason: err.Error()})
			continue
		}
		description := bounds.Cut(t.Description, bounds.DescriptionBytes)
		cost := Tokens(len(name) + len(description) + len(schema))
		tools = append(tools, Tool{Identity: id, ModelName: name, Title: t.Title, Description: description,
			InputSchema: schema, Changes: changes, Tokens: cost, Hints: hintsOf(jsontext.Get(definition, "annotations")),
			Policy: t.Policy})
		tokens += cost
	}
	sort.Slice(tools, func(i, j int) bool { return compare(tools[i].Identity, tools[j].Identity) < 0 })
	sort.SliceStable(aside, func(i, j int) bool { return compare(aside[i].Identity, aside[j].Identity) < 0 })
	return tools, aside, tokens, nil
}

func compare(a, b Identity) int {
	return cmp.Or(cmp.Compare(a.Server, b.Server), cmp.Compare(a.Name, b.Name))
}

func hintsOf(annotations json.RawMessage) Hints {
	hint := func(name string) *bool {
		switch string(jsontext.Get(annotations, name)) {
		case "true":
			yes := true
			return &yes
		case "false":
			no := false
			return &no
		}
		return nil
	}
	return Hints{hint("readOnlyHint"), hint("destructiveHint"), hint("idempotentHint"), hint("openWorldHint")}
}
