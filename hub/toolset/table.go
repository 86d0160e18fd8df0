package toolset

import (
	"slices"
	"sort"
)

// Table maps identities to names and back. Names are looked up in it and never parsed. It is immutable.
type Table struct {
	names map[Identity]string
	from  map[string]Identity
	aside []Aside
}

// Aside is a tool that is not shown to models.
type Aside struct {
	Identity
	Reason string
}

// NewTable names all tools. If two have the same name, which needs two equal hashes or a server that lists a tool
// twice, the one whose raw identity is less gets it, whatever the order of all; the other is set aside.
func NewTable(style Style, all []Named) *Table {
	t := &Table{names: make(map[Identity]string, len(all)), from: make(map[string]Identity, len(all))}
	sorted := slices.Clone(all)
	sort.SliceStable(sorted, func(i, j int) bool { return sorted[i].compare(sorted[j].Identity) < 0 })
	// With Single, a tool's own name may equal another one's name with a hash. Names that need no change take precedence.
	var changed []Named
	for _, n := range sorted {
		if style.Single && !legalInMCP(n.Name) {
			changed = append(changed, n)
			continue
		}
		t.add(style, n)
	}
	for _, n := range changed {
		t.add(style, n)
	}
	return t
}

func (t *Table) add(style Style, n Named) {
	if _, twice := t.names[n.Identity]; twice {
		t.aside = append(t.aside, Aside{n.Identity, "its server lists it twice"})
		return
	}
	name := style.Name(n)
	if _, taken := t.from[name]; taken {
		t.aside = append(t.aside, Aside{n.Identity, "its name for models, " + name + ", is another tool's"})
		return
	}
	t.names[n.Identity], t.from[name] = name, n.Identity
}

// Name returns the name of a tool, or false if it has none.
func (t *Table) Name(id Identity) (string, bool) {
	name, ok := t.names[id]
	return name, ok
}

// Find returns the tool with a name.
func (t *Table) Find(name string) (Identity, bool) {
	id, ok := t.from[name]
	return id, ok
}

// Aside returns the tools that got no name.
func (t *Table) Aside() []Aside { return t.aside }
