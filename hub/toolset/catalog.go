package toolset

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/journal"
	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// Hub is the part of the hub that a Catalog uses.
type Hub interface {
	// KnownTools returns the known tools of a server, or of all servers if server is "". It starts no server.
	KnownTools(ctx context.Context, server string) ([]event.ToolInfo, map[string]*event.Error, error)
	// Profiles returns the profiles of the config, sorted by name.
	Profiles() []config.Profile
}

// Catalog holds the tools of all servers in the form for models. All errors are *event.Error.
type Catalog struct {
	hub     Hub
	log     *slog.Logger
	results *journal.Results
	index   index

	mu    sync.Mutex
	table *table // the names for the latest list; nil at first
	made  uint64 // versionOf that list
}

// NewCatalog returns a catalog of the tools of h. Long results are kept in the state directory. The caller must
// close it.
func NewCatalog(h Hub, stateDir string, log *slog.Logger) *Catalog {
	return &Catalog{hub: h, log: log, results: journal.OpenResults(stateDir, "results", log)}
}

// Close drops the results that are kept only while the hub runs.
func (c *Catalog) Close() { c.results.Close() }

// Profile returns a profile of the config. For "" it returns nil, which stands for all tools. Error: NOT_FOUND
// PROFILE_NOT_FOUND.
func (c *Catalog) Profile(name string) (*config.Profile, error) {
	if name == "" {
		return nil, nil
	}
	all := c.hub.Profiles()
	var names []string
	for i := range all {
		if all[i].Name == name {
			return &all[i], nil
		}
		names = append(names, all[i].Name)
	}
	return nil, event.Fail(event.CodeNotFound, event.ReasonProfileNotFound, []string{"profile", name},
		"no config file of yours has a profile %q%s", name, event.Hint(name, names))
}

// tools returns the tools that may be shown to models, of every profile.
func (c *Catalog) tools(ctx context.Context) ([]event.ToolInfo, error) {
	all, _, err := c.hub.KnownTools(ctx, "")
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(t event.ToolInfo) bool { return !ForModels(t) }), nil
}

// ForModels reports whether a tool may be shown to models: not if it is denied, or only for views (MCP Apps).
func ForModels(t event.ToolInfo) bool { return t.Policy != event.PolicyDeny && !t.HiddenFromModels }

// identity returns the identity of a tool.
func identity(t event.ToolInfo) Identity {
	return Identity{Server: t.Server, Name: t.Name}
}

// named returns the names of tools, which must be the result of c.tools.
func (c *Catalog) named(tools []event.ToolInfo) *table {
	of := versionOf(tools)
	c.mu.Lock()
	table, fresh := c.table, c.table != nil && c.made == of
	c.mu.Unlock()
	if fresh {
		return table
	}
	table = newTable(tools)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.table, c.made = table, of
	return table
}

// versionOf returns a hash that differs for different lists of tools.
func versionOf(tools []event.ToolInfo) uint64 {
	h := fnv.New64a()
	for _, t := range tools {
		for _, s := range []string{t.Server, t.Name, t.Hash} {
			_, _ = h.Write([]byte(s))
			_, _ = h.Write([]byte{0xff})
		}
	}
	return h.Sum64()
}

// Find returns the tool that has a name for models. Error: NOT_FOUND TOOL_NOT_FOUND.
func (c *Catalog) Find(ctx context.Context, name string) (Identity, error) {
	c.mu.Lock()
	table := c.table
	c.mu.Unlock()
	if table != nil {
		if id, ok := table.from[name]; ok { // a name stays that of its tool, whichever other tools exist
			return id, nil
		}
	}
	tools, err := c.tools(ctx)
	if err != nil {
		return Identity{}, err
	}
	table = c.named(tools)
	if id, ok := table.from[name]; ok {
		return id, nil
	}
	names := slices.Sorted(maps.Keys(table.from))
	return Identity{}, event.Fail(event.CodeNotFound, event.ReasonToolNotFound,
		[]string{"tool", bounds.Printable(name)},
		"no known tool has the name %q for models%s", bounds.Printable(name), event.Hint(name, names))
}

// table maps tools to their names for models and back. It does not change.
type table struct {
	names map[Identity]string
	from  map[string]Identity
	aside []Aside
}

// Aside is a tool that is not shown to models.
type Aside struct {
	Identity
	Reason string
}

// newTable names all tools. If two have the same name, which needs two equal hashes or a server that lists a tool
// twice, the one whose identity is less gets it, whatever the order of all; the other is set aside.
func newTable(all []event.ToolInfo) *table {
	t := &table{names: make(map[Identity]string, len(all)), from: make(map[string]Identity, len(all))}
	ids := make([]Identity, len(all))
	for i, tool := range all {
		ids[i] = identity(tool)
	}
	slices.SortFunc(ids, Identity.compare)
	for _, id := range ids {
		name := Name(id, ModelName)
		if _, twice := t.names[id]; twice {
			t.aside = append(t.aside, Aside{id, "its server lists it twice"})
		} else if _, taken := t.from[name]; taken {
			t.aside = append(t.aside, Aside{id, "its name for models, " + name + ", is another tool's"})
		} else {
			t.names[id], t.from[name] = name, id
		}
	}
	return t
}

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
	aside = slices.DeleteFunc(slices.Clone(table.aside), func(a Aside) bool { return !p.Has(a.Server, a.Name) })
	listed := map[Identity]bool{}
	for _, t := range all {
		id := identity(t)
		name, ok := table.names[id]
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
	slices.SortFunc(tools, func(a, b Tool) int { return a.compare(b.Identity) })
	slices.SortStableFunc(aside, func(a, b Aside) int { return a.compare(b.Identity) })
	return tools, aside, tokens, nil
}

func hintsOf(annotations json.RawMessage) Hints {
	hint := func(name string) *bool {
		switch string(jsontext.Get(annotations, name)) {
		case "true":
			return new(true)
		case "false":
			return new(false)
		}
		return nil
	}
	return Hints{hint("readOnlyHint"), hint("destructiveHint"), hint("idempotentHint"), hint("openWorldHint")}
}

// View makes the text for a model. If something has to be left out, the whole result is kept first. more returns the
// text that says how to read the rest, given the id.
func (c *Catalog) View(result json.RawMessage, o ViewOptions, more func(id string) string) View {
	v := NewView(result, o)
	if !v.Cut {
		return v
	}
	id, err := c.results.Keep(result)
	if err != nil {
		return v // the log has the reason, and the text says what is missing
	}
	o.More = more(id)
	v = NewView(result, o)
	v.ID = id
	return v
}

// ReadResult returns a piece of a result that was kept: of the text of which views are made, or of the original JSON.
// Error: NOT_FOUND RESULT_NOT_FOUND.
func (c *Catalog) ReadResult(id string, offset int64, limit int, original bool) (journal.Piece, error) {
	kept, err := c.results.Read(id)
	switch {
	case errors.Is(err, journal.ErrNotKept):
		return journal.Piece{}, event.Fail(event.CodeNotFound, event.ReasonResultNotFound, nil, "%v", err)
	case err != nil:
		return journal.Piece{}, event.AsError(fmt.Errorf("reading a kept result: %w", err))
	case original:
		return journal.PieceOf(string(kept), offset, limit), nil
	}
	whole := NewView(kept, ViewOptions{})
	return journal.PieceOf(whole.Text, offset, limit), nil
}
