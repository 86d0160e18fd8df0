package toolset

import (
	"context"
	"hash/fnv"
	"log/slog"
	"slices"
	"sync"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/journal"
	"github.com/mcphub-go/mcphub/hub/nearmiss"
)

// House is the part of the hub that a Catalog uses.
type House interface {
	// KnownTools returns the known tools of a server, or of all servers if server is "". It starts no server.
	KnownTools(ctx context.Context, server string) ([]event.ToolInfo, map[string]*event.Error, error)
	// Profiles returns the profiles of the config, sorted by name.
	Profiles() []config.Profile
}

// Catalog holds the tools of all servers in the form for models. All errors are *event.Error.
type Catalog struct {
	house   House
	log     *slog.Logger
	results *journal.Results
	index   Index

	mu    sync.Mutex
	table *Table // the names for the latest list; nil at first
	made  uint64 // versionOf that list
}

// NewCatalog returns a catalog of the tools of h. Long results are kept in the state directory. The caller must
// close it.
func NewCatalog(h House, stateDir string, log *slog.Logger) *Catalog {
	return &Catalog{house: h, log: log, results: journal.OpenResults(stateDir, log)}
}

// Close drops the results that are kept only while the hub runs.
func (c *Catalog) Close() { c.results.Close() }

// Profile returns a profile of the config. For "" it returns nil, which stands for all tools. Error: NOT_FOUND
// PROFILE_NOT_FOUND.
func (c *Catalog) Profile(name string) (*config.Profile, error) {
	if name == "" {
		return nil, nil
	}
	all := c.house.Profiles()
	var names []string
	for i := range all {
		if all[i].Name == name {
			return &all[i], nil
		}
		names = append(names, all[i].Name)
	}
	return nil, event.Fail(event.CodeNotFound, event.ReasonProfileNotFound, []string{"profile", name},
		"no config file of yours has a profile %q%s", name, nearmiss.Hint(name, names))
}

// tools returns the tools that may be shown to models, of every profile.
func (c *Catalog) tools(ctx context.Context) ([]event.ToolInfo, error) {
	all, _, err := c.house.KnownTools(ctx, "")
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
func (c *Catalog) named(tools []event.ToolInfo) *Table {
	of := versionOf(tools)
	c.mu.Lock()
	table, fresh := c.table, c.table != nil && c.made == of
	c.mu.Unlock()
	if fresh {
		return table
	}
	all := make([]Named, len(tools))
	for i, t := range tools {
		all[i].Identity = identity(t)
	}
	table = NewTable(Style{Bytes: ModelName}, all)
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
		if id, ok := table.Find(name); ok { // a name stays that of its tool, whichever other tools exist
			return id, nil
		}
	}
	tools, err := c.tools(ctx)
	if err != nil {
		return Identity{}, err
	}
	table = c.named(tools)
	if id, ok := table.Find(name); ok {
		return id, nil
	}
	var names []string
	for _, t := range tools {
		if known, ok := table.Name(identity(t)); ok {
			names = append(names, known)
		}
	}
	return Identity{}, event.Fail(event.CodeNotFound, event.ReasonToolNotFound,
		[]string{"tool", bounds.Printable(name)},
		"no known tool has the name %q for models%s", bounds.Printable(name), nearmiss.Hint(name, names))
}
