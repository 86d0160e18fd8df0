package toolset

import (
	"cmp"
	"hash/maphash"
	"slices"

	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// and merges b into s: s then says at most what s and b said together. b must not be used afterwards.
func (f *fitter) and(s, b *schema, p place) {
	kind, ok := both(s.kind, b.kind)
	if !ok {
		f.say(p, "left open: it can have no type")
		*s = schema{title: s.title, description: s.description}
		return
	}
	s.kind, s.nothing = kind, s.nothing || b.nothing
	s.title, s.description = cmp.Or(s.title, b.title), cmp.Or(s.description, b.description)
	for _, k := range keywords {
		switch mine, theirs := s.values[k.key], b.values[k.key]; {
		case theirs == nil:
		case mine == nil:
			s.set(k.key, theirs)
		case string(mine) != string(theirs): // each of the two says less than both
			f.say(p, "one of two %s dropped", k.key)
		}
	}
	s.items = f.andSchema(s.items, b.items, p, "items")
	for _, theirs := range b.properties.all {
		mine := s.properties.of(theirs.name)
		mine.required = mine.required || theirs.required
		mine.schema = f.andSchema(mine.schema, theirs.schema, p, "properties", theirs.name)
	}
	if s.kind != "" {
		s.only(s.kind)
	}
	alternatives := s.anyOf
	if alternatives == nil {
		alternatives = b.anyOf
	} else if b.anyOf != nil {
		f.say(p, "one of two anyOf dropped")
	}
	if alternatives != nil {
		f.beside(s, alternatives, p)
	}
}

func (f *fitter) andSchema(a, b *schema, p place, keys ...string) *schema {
	if a == nil {
		return b
	}
	if b != nil {
		f.and(a, b, p.in(keys...))
	}
	return a
}

// beside merges alternatives into s. "When using any_of, it must be the only field set" (Vertex).
func (f *fitter) beside(s *schema, all []*schema, p place) {
	s.anyOf = nil
	if f.work -= 64 * len(all); f.work < 0 { // each part of an allOf may come here
		f.say(place{}, tooLong)
		return
	}
	all = slices.DeleteFunc(all, func(one *schema) bool {
		kind, ok := both(s.kind, one.kind)
		if !ok {
			f.say(p, "an alternative dropped: it is no %s", s.kind)
		} else if kind != "" {
			one.only(kind)
		}
		return !ok
	})
	switch {
	case len(all) == 0:
		s.nothing = true
	case len(all) == 1:
		f.and(s, all[0], p)
	case s.kind == "object" && s.properties.all != nil:
		f.and(s, f.or(all, p), p)
	case s.items != nil || len(s.values) > 0:
		f.say(p, "anyOf dropped: there is more beside it")
	default:
		s.kind, s.anyOf = "", all
	}
}

// any returns a schema that takes what one of all takes.
func (f *fitter) any(all []*schema, p place) *schema {
	var flat []*schema
	seen, seed := map[uint64]bool{}, maphash.MakeSeed()
	for _, one := range all {
		if one.nothing {
			continue
		}
		for _, alternative := range one.alternatives() {
			var required []byte
			f.text = alternative.append(f.text[:0], func(name string) { required = jsontext.AppendString(required, name) })
			f.text = append(f.text, required...)
			f.work -= len(f.text)
			if sum := maphash.Bytes(seed, f.text); !seen[sum] {
				seen[sum] = true
				flat = append(flat, alternative)
			}
			if len(all) > 1 && alternative.kind == "" && len(alternative.values) == 0 {
				f.say(p, "alternatives left open: one takes anything")
				return &schema{}
			}
		}
	}
	switch len(flat) {
	case 0:
		return &schema{nothing: true}
	case 1:
		return flat[0]
	}
	return &schema{anyOf: flat}
}

// or merges objects, of which one holds, into one object: it has all of their properties, and requires those that all
// of them require.
func (f *fitter) or(all []*schema, p place) *schema {
	s := &schema{kind: "object"}
	kinds, requiring := map[string][]*schema{}, map[string]int{}
	for _, one := range all {
		for _, q := range one.properties.all {
			s.properties.of(q.name)
			if q.schema != nil {
				kinds[q.name] = append(kinds[q.name], q.schema)
			}
			if q.required {
				requiring[q.name]++
			}
		}
	}
	for _, q := range s.properties.all {
		q.required = requiring[q.name] == len(all)
		if of := kinds[q.name]; of != nil {
			q.schema = f.any(of, p.in("properties", q.name))
		}
	}
	f.say(p, "alternatives folded: which of the arguments go together is not said any more")
	return s
}

// both returns the type of what has both types; "" is any type. ok is false if nothing has both.
func both(a, b string) (kind string, ok bool) {
	switch {
	case a == "" || a == "number" && b == "integer":
		return b, true
	case b == "" || b == "number" && a == "integer":
		return a, true
	}
	return a, a == b
}
