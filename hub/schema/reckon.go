package schema

import (
	"errors"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

// A unit of work is about one visit of a value by a schema, or 64 bytes of text.
var (
	errTooCostly = errors.New("checking it would take too long")
	errEndless   = errors.New("its schema refers to itself without end")
)

// value is a decoded JSON value with the cost of visiting it.
type value struct {
	bytes  int // length of its text in an error, about
	object map[string]*value
	names  []*value // the object's keys, as values
	array  []*value
	length int // length of a string
}

func weigh(v any) *value {
	switch v := v.(type) {
	case string:
		return &value{bytes: 2*len(v) + 2, length: len(v)}
	case []any:
		out := &value{bytes: 2}
		for _, item := range v {
			w := weigh(item)
			out.array = append(out.array, w)
			out.bytes += w.bytes + 1
		}
		return out
	case map[string]any:
		out := &value{bytes: 2, object: make(map[string]*value, len(v))}
		for name, item := range v {
			w, n := weigh(item), weigh(name)
			out.object[name] = w
			out.names = append(out.names, n)
			out.bytes += w.bytes + n.bytes + 2
		}
		return out
	}
	return &value{bytes: 24}
}

// reckoning computes the highest possible cost of a check, without doing it: a schema may lead to the same value on
// exponentially many paths, and in a cycle. It visits each pair of schema and value once, however often the validator
// would visit it.
type reckoning struct {
	*schemaCosts
	known map[visit]cost
	under map[visit]bool // the visits on the path from the root to the current one
	depth int
	// The work of all visits so far, each counted once: less than the work of the root, but known before that is summed
	// up.
	spent   int
	stopped error
}

type visit struct {
	schema *jsonschema.Schema
	value  *value
}

// cost is the work of a visit including all visits below it, and the bytes of the error that may result: the text of an
// error is copied on each level above.
type cost struct{ work, text int }

// affordable returns nil if the validator may check content. steps is the number of visits that it took to decide that.
func (c *schemaCosts) affordable(root *jsonschema.Schema, content any) (steps int, err error) {
	r := &reckoning{schemaCosts: c, known: map[visit]cost{}, under: map[visit]bool{}}
	r.of(root, weigh(content))
	return len(r.known), r.stopped
}

func (r *reckoning) of(s *jsonschema.Schema, v *value) cost {
	at := visit{s, v}
	if r.stopped != nil {
		return cost{}
	}
	if c, ok := r.known[at]; ok {
		return c
	}
	switch {
	case r.under[at]:
		r.stopped = errEndless
	case len(r.known) >= bounds.CheckVisits, r.depth >= bounds.CheckStack:
		r.stopped = errTooCostly
	}
	if r.stopped != nil {
		return cost{}
	}
	r.under[at] = true
	r.depth++
	own := r.own[s]
	sum := tally{r: r}
	sum.work = 1 + own.enums/16 + own.names + len(v.names) + len(v.array)/8 + v.length*r.steps[s.Pattern]/32
	if s.UniqueItems {
		sum.work += v.bytes / 8
	}
	if r.spend(sum.work) {
		sum.inPlace(s, v)
		sum.items(s, v)
		sum.properties(s, v)
	}
	r.depth--
	delete(r.under, at)
	c := cost{text: own.text + 2*v.bytes + max(sum.text, sum.joined)}
	c.work = sum.work + c.text/64
	if c.work > bounds.CheckWork && r.stopped == nil {
		r.stopped = errTooCostly
	}
	r.known[at] = c
	return c
}

// spend adds the work of a visit itself, without those below it. It reports whether the total is still affordable.
func (r *reckoning) spend(work int) bool {
	if r.spent += work; r.spent > bounds.CheckWork && r.stopped == nil {
		r.stopped = errTooCostly
	}
	return r.stopped == nil
}

// tally sums up the costs below a visit.
type tally struct {
	r      *reckoning
	work   int
	text   int // the longest error that can end the visit
	joined int // all errors of an anyOf, which are joined
}

func (t *tally) add(s *jsonschema.Schema, v *value) cost {
	c := t.r.of(s, v)
	t.work += c.work
	t.text = max(t.text, c.text)
	if t.work > bounds.CheckWork && t.r.stopped == nil {
		t.r.stopped = errTooCostly
	}
	return c
}

func (t *tally) inPlace(s *jsonschema.Schema, v *value) {
	if target := t.r.refs[s]; target != nil {
		t.add(target, v)
	}
	for _, sub := range s.AnyOf {
		t.joined = min(t.joined+t.add(sub, v).text, 64*bounds.CheckWork)
	}
	for _, list := range [][]*jsonschema.Schema{s.AllOf, s.OneOf, {s.Not, s.If, s.Then, s.Else}} {
		for _, sub := range list {
			if sub != nil {
				t.add(sub, v)
			}
		}
	}
	for _, named := range []map[string]*jsonschema.Schema{s.DependentSchemas, s.DependencySchemas} {
		for name, sub := range named {
			if v.object[name] != nil {
				t.add(sub, v)
			}
		}
	}
}

func (t *tally) items(s *jsonschema.Schema, v *value) {
	for i, item := range v.array {
		for _, list := range [][]*jsonschema.Schema{s.PrefixItems, s.ItemsArray} {
			if i < len(list) {
				t.add(list[i], item)
			}
		}
		for _, sub := range []*jsonschema.Schema{s.Items, s.AdditionalItems, s.Contains, s.UnevaluatedItems} {
			if sub != nil {
				t.add(sub, item)
			}
		}
		if t.r.stopped != nil {
			return
		}
	}
}

func (t *tally) properties(s *jsonschema.Schema, v *value) {
	for name, item := range v.object {
		if sub := s.Properties[name]; sub != nil {
			t.add(sub, item)
		} else if s.AdditionalProperties != nil {
			t.add(s.AdditionalProperties, item)
		}
		for pattern, sub := range s.PatternProperties {
			work := len(name) * t.r.steps[pattern] / 32
			t.work += work
			if !t.r.spend(work) {
				return
			}
			t.add(sub, item)
		}
		if s.UnevaluatedProperties != nil {
			t.add(s.UnevaluatedProperties, item)
		}
		if t.r.stopped != nil {
			return
		}
	}
	if s.PropertyNames != nil {
		for _, name := range v.names {
			t.add(s.PropertyNames, name)
		}
	}
}
