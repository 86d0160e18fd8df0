package toolset

import (
	"context"
	"encoding/json"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// Found is a result of a search.
type Found struct {
	event.ToolInfo
	ModelName string
	Score     float64
}

// Numbers of tools that a search returns.
const (
	fewFound  = 5 // if the limit is 0
	mostFound = 100
)

// Search finds tools of a profile by words of their names, descriptions and argument names, the best first. A limit of
// 0 means 5, and one above 100 means 100.
func (c *Catalog) Search(ctx context.Context, query string, limit int, profile string) ([]Found, error) {
	p, err := c.Profile(profile)
	if err != nil {
		return nil, err
	}
	return c.SearchIn(ctx, query, limit, p)
}

// SearchIn is Search with a profile from Profile.
func (c *Catalog) SearchIn(ctx context.Context, query string, limit int, p *config.Profile) ([]Found, error) {
	all, err := c.tools(ctx)
	if err != nil {
		return nil, err
	}
	table := c.named(all)
	c.keepIndex(all)
	if limit <= 0 {
		limit = fewFound
	}
	by := make(map[Identity]*event.ToolInfo, len(all))
	for i := range all {
		by[identity(all[i])] = &all[i]
	}
	hits := c.index.Search(query, min(limit, mostFound), func(id Identity) bool {
		return by[id] != nil && p.Has(id.Server, id.Name)
	})
	found := make([]Found, 0, len(hits))
	for _, h := range hits {
		if name, ok := table.Name(h.Identity); ok && by[h.Identity] != nil {
			info := *by[h.Identity]
			delete(by, h.Identity) // the server may list the tool twice
			info.Description = bounds.Cut(info.Description, bounds.DescriptionBytes)
			found = append(found, Found{info, name, h.Score})
		}
	}
	return found, nil
}

// keepIndex updates the index to the tools of all servers.
func (c *Catalog) keepIndex(all []event.ToolInfo) {
	of := map[string][]event.ToolInfo{}
	for _, t := range all {
		of[t.Server] = append(of[t.Server], t)
	}
	c.index.Retain(func(server string) bool { return of[server] != nil })
	for server, tools := range of {
		c.index.Put(server, versionOf(tools), func() []Searched { return searched(tools) })
	}
}

func searched(tools []event.ToolInfo) []Searched {
	out := make([]Searched, len(tools))
	for i, t := range tools {
		out[i] = Searched{Name: t.Name, Title: t.Title, Description: t.Description,
			InputSchema: jsontext.Get(json.RawMessage(t.Definition), "inputSchema")}
	}
	return out
}
