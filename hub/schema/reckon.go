package schema

import (
	"errors"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

// A unit of work is about a visit of a value by a schema, or 64 bytes of text.
var (
	errTooCostly = errors.New("checking it would take too long")
	errEndless   = errors.New("its schema refers to itself without end")
)

// value is a decoded JSON value with what a visit of it costs.
type value struct {
	bytes  int // of its text in an error, about
	object map[string]*value
	names  []*value // the object's keys, as values
	array  []*value
	length int // of a string
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

// reckoning finds out what a check can cost at most, without doing it: a schema may lead to the same value on
// exponentially many ways, and in a circle. Each pair of schema and value is looked at once, however often the
// validator would come to it.
type reckoning struct {
	*schemaCosts
	known map[visit]cost
	under map[visit]bool // on the way from the root to here
	depth int
	// of all visits so far, each counted once: less than the work of the root, and known before that is added up
	spent   int
	stopped error
}

type visit struct {
	schema *jsonschema.Schema
	value  *value
}

// cost is the work of a visit with all below it, and the bytes of the error that it may end in: an error's text is
// written anew on each level above.
type cost struct{ work, text int }

// affordable tells whether the validator may be let loose on content. steps is how many visits it took to find that
// out.
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

// spend counts work that a visit takes whatever lies below it. false: it is too much.
func (r *reckoning) spend(work int) bool {
	if r.spent += work; r.spent > bounds.CheckWork && r.stopped == nil {
		r.stopped = errTooCostly
	}
	return r.stopped == nil
}

// tally adds up what is below a visit.
type tally struct {
	r      *reckoning
	work   int
	text   int // the longest error of what ends the visit
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
