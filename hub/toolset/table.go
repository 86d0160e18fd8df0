package toolset

import (
	"slices"
	"sort"
)

// Table says which name belongs to whom, in both directions. Names are looked up in it and never taken apart. It is
// not changed once it is made.
type Table struct {
	names map[Identity]string
	from  map[string]Identity
	aside []Aside
}

// Aside is a tool that models are not shown.
type Aside struct {
	Identity
	Reason string
}

// NewTable names all. Where two want one name, which takes two equal hashes or a server that lists a tool twice, the
// one whose raw identity comes first in order has it, whatever the order they are given in; the other is set aside.
func NewTable(style Style, all []Named) *Table {
	t := &Table{names: make(map[Identity]string, len(all)), from: make(map[string]Identity, len(all))}
	sorted := slices.Clone(all)
	sort.SliceStable(sorted, func(i, j int) bool { return sorted[i].compare(sorted[j].Identity) < 0 })
	// With Single a server may spell a name that is another one's with a hash. What needed no change comes first.
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

// Name is the name that was given to a tool; false when there is none.
func (t *Table) Name(id Identity) (string, bool) {
	name, ok := t.names[id]
	return name, ok
}

// Find is whose name this is.
func (t *Table) Find(name string) (Identity, bool) {
	id, ok := t.from[name]
	return id, ok
}

// Aside are those that got no name.
func (t *Table) Aside() []Aside { return t.aside }
