package toolset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// Change describes a difference between a schema and the one that was made of it for models.
type Change struct {
	At   string // a JSON pointer into the original schema, or near the place; "" is the whole schema
	What string // printable
}

// keyPattern is what Anthropic accepts as names of arguments: "Property keys should match pattern".
var keyPattern = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)

// Fit converts the inputSchema of a tool into the form that all providers accept (see schema). The new schema may say
// less about the arguments, but is not stricter: the server checks them in any case. There are exceptions, because the
// form cannot say null, and because models make better use of what is simple:
//   - null is left out where anything else may stand;
//   - a schema without a type that has properties is an object, and one that has items an array;
//   - a tuple that says nothing about further elements becomes an array of its kinds;
//   - where alternatives become one object, an argument has the schemas of the alternatives that name it.
//
// err says why the conversion is impossible; the tool is then to be set aside, because a provider would refuse the
// whole request. changes and err are bounded and printable.
func Fit(input json.RawMessage) (fitted json.RawMessage, changes []Change, err error) {
	f := &fitter{root: bytes.TrimSpace(input), work: bounds.FitWork, room: len(input) + bounds.FitBytes,
		objects: map[string]map[string]json.RawMessage{}}
	switch {
	case len(input) > bounds.SchemaBytes:
		return nil, nil, fmt.Errorf("its schema has more than %d KiB", bounds.SchemaBytes>>10)
	case !jsontext.IsObject(input):
		return nil, nil, errors.New("its schema is no JSON object")
	}
	s := f.fit(f.root, place{})
	if err := f.finish(s); err != nil {
		return nil, nil, err
	}
	fitted = s.append(nil, func(name string) {
		f.say(place{}, "%s is not said to be required: it is no property", strconv.Quote(name))
	})
	if f.more > 0 {
		f.changes = append(f.changes, Change{What: fmt.Sprintf("and %d changes more", f.more)})
	}
	return fitted, f.changes, nil
}

// finish makes one object of the whole schema: no provider accepts alternatives at the top.
func (f *fitter) finish(s *schema) error {
	top := place{}
	if _, ok := both(s.kind, "object"); ok {
		f.and(s, &schema{kind: "object"}, top)
	}
	if all := s.anyOf; all != nil {
		s.anyOf, s.kind = nil, "object"
		f.and(s, f.or(all, top), top)
	}
	if s.nothing || s.kind != "object" {
		return errors.New("its schema takes no object")
	}
	if s.properties.all == nil {
		s.properties.all = []*property{}
	}
	for _, q := range s.properties.all {
		switch {
		case keyPattern.MatchString(q.name) || q.schema == nil:
		case q.required:
			return fmt.Errorf("it requires an argument with a name that Anthropic does not take: %s", bounds.Printable(q.name))
		default:
			f.say(top.in("properties", q.name), "dropped: Anthropic does not take its name")
			q.schema = nil
		}
	}
	return nil
}

// fitter converts one schema.
type fitter struct {
	root    json.RawMessage
	work    int                                   // bytes that may still be read
	parts   int                                   // schemas that were made from references
	room    int                                   // bytes of names and values that the result may still get
	objects map[string]map[string]json.RawMessage // members of objects by pointer, for references
	text    []byte                                // for comparisons
	changes []Change
	more    int
}

// place is the current position in the schema.
type place struct {
	path  string
	depth int      // the number of schemas around it
	refs  []string // the references that led to it
}

func (p place) in(keys ...string) place {
	p.depth++
	for _, key := range keys {
		// A path is for people. Names can be of any length, and each level would hold all of them again.
		p.path = bounds.Cut(p.path+"/"+key, 512)
	}
	return p
}

// say records a change, once.
func (f *fitter) say(p place, format string, args ...any) {
	c := Change{At: bounds.Printable(p.path), What: bounds.Printable(fmt.Sprintf(format, args...))}
	switch {
	case slices.Contains(f.changes, c):
	case len(f.changes) == bounds.FitChanges:
		f.more++
	default:
		f.changes = append(f.changes, c)
	}
}
