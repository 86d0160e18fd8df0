package toolset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// Change describes a difference between a schema and the one that was made for a provider.
type Change struct {
	At   string // a JSON pointer into the original schema, or near the place; "" is the whole schema
	What string // printable
}

// Fit converts the inputSchema of a tool into one that the provider accepts. The new schema may say less about the
// arguments, but is not stricter: the server checks them in any case. (There are two exceptions, because models make
// better use of them: a tuple that says nothing about further elements becomes an array of its kinds, and where
// alternatives become one object, an argument has the schemas of the alternatives that name it.) err says why the
// conversion is impossible; the tool is then to be set aside, because the provider would refuse the whole request.
// changes and err are bounded and printable.
func Fit(p Provider, input json.RawMessage) (fitted json.RawMessage, changes []Change, err error) {
	f := &fitter{provider: p, takes: keywords[p], root: bytes.TrimSpace(input), work: bounds.FitWork}
	switch {
	case !p.Known():
		return nil, nil, fmt.Errorf("there is no provider %s", bounds.Printable(string(p)))
	case len(input) > bounds.SchemaBytes:
		return nil, nil, fmt.Errorf("its schema has more than %d KiB", bounds.SchemaBytes>>10)
	case !jsontext.IsObject(input):
		return nil, nil, errors.New("its schema is no JSON object")
	}
	s, err := f.finish(f.fit(f.root, place{}))
	if err != nil {
		return nil, nil, err
	}
	if f.more > 0 {
		f.changes = append(f.changes, Change{What: fmt.Sprintf("and %d changes more", f.more)})
	}
	return s.append(nil), f.changes, nil
}

// fitter converts one schema.
type fitter struct {
	provider Provider
	takes    map[string]kind
	root     json.RawMessage
	work     int                                   // bytes that may still be read
	parts    int                                   // schemas that were made from references
	bytes    int                                   // bytes of texts and values in these
	loosened int                                   // how often something was left out
	objects  map[string]map[string]json.RawMessage // members of objects by pointer, for references
	changes  []Change
	more     int
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
	f.loosened++
	c := Change{At: bounds.Printable(p.path), What: bounds.Printable(fmt.Sprintf(format, args...))}
	if len(f.changes) == bounds.FitChanges {
		f.more++
		return
	}
	for _, before := range f.changes {
		if before == c {
			return
		}
	}
	f.changes = append(f.changes, c)
}

// fit converts the text of a schema, and all schemas within it.
func (f *fitter) fit(raw json.RawMessage, p place) *schema {
	s := &schema{}
	f.work -= len(raw) + 64
	if len(p.refs) > 0 {
		f.parts++
	}
	switch {
	case len(raw) == 0 || raw[0] != '{':
		if string(raw) != "true" {
			f.say(p, "left open: it is no schema that can be told")
		}
		return s
	case p.depth > bounds.FitDepth:
		f.say(p, "left open: it lies too deep")
		return f.open(raw)
	case f.work < 0 || f.parts > bounds.FitParts || f.bytes > bounds.FitBytes:
		f.say(place{}, "some parts are left open: written out, the schema would be too long")
		return f.open(raw)
	}
	var came fields[json.RawMessage]
	jsontext.Members(raw, func(name []byte, value json.RawMessage) bool {
		came.set(string(name), value)
		return true
	})
	for _, key := range came.keys {
		before := f.loosened
		f.keyword(s, key, came.at[key], p)
		if f.loosened > before {
			f.guard(s, key, p)
		}
	}
	if came.has("patternProperties") && !s.has("patternProperties") {
		s.drop("additionalProperties") // it would forbid what the patterns allow
	}
	if ref := came.at["$ref"]; ref != nil {
		f.and(s, f.referred(ref, p), p)
	}
	f.settle(s, p)
	return s
}

// guard prevents that s becomes stricter because something below a keyword became less strict.
func (f *fitter) guard(s *schema, key string, p place) {
	switch key {
	case "not", "if":
		if !s.has(key) {
			return
		}
		s.drop(key)
		f.say(p, "%s dropped: it could not be told whole", key)
	case "oneOf":
		// More than one of the alternatives may hold now.
		if all := s.list("oneOf"); all != nil {
			f.say(p, "oneOf told as allOf of an anyOf")
			s.drop("oneOf")
			any := &schema{}
			any.set("anyOf", all)
			s.set("allOf", append(s.list("allOf"), any))
		}
	}
}

// open returns a schema that has only the type of raw.
func (f *fitter) open(raw json.RawMessage) *schema {
	s := &schema{}
	if t := jsontext.Get(raw, "type"); jsontext.IsString(t) && typeNames[jsontext.String(t)] {
		s.setText("type", jsontext.String(t))
		f.items(s)
	}
	return s
}

// keyword converts one member of a schema.
func (f *fitter) keyword(s *schema, key string, raw json.RawMessage, p place) {
	k := f.takes[key]
	switch {
	case key == "$schema" || key == "$id" || key == "id" || key == "$comment" ||
		key == "$anchor" || key == "$dynamicAnchor":
		return // notes for readers of the schema
	case k == 0:
		f.say(p, "%s dropped", key)
		return
	}
	if len(p.refs) > 0 && k < schemaKind {
		f.bytes += len(key) + len(raw)
	}
	ok := true
	switch k {
	case refKind:
		if key == "$dynamicRef" || key == "$recursiveRef" {
			f.say(p, "%s dropped", key)
		}
	case typeKind:
		ok = f.types(s, raw)
	case schemaKind:
		f.one(s, key, raw, p)
	case itemsKind:
		if len(raw) > 0 && raw[0] == '[' {
			key = "prefixItems" // in older dialects
			if all := f.many(raw, p.in(key)); len(all) > 0 {
				s.set(key, all)
			}
			return
		}
		f.one(s, key, raw, p)
	case manyKind:
		if all := f.many(raw, p.in(key)); len(all) > 0 {
			s.set(key, append(s.list(key), all...)) // guard may have set it
		}
	case tableKind:
		ok = f.table(s, key, raw, p)
	default:
		ok = value(s, key, k, raw)
	}
	if !ok {
		f.say(p, "%s dropped: it is not what it should be", key)
	}
}

// value copies the value of a keyword that is no schema. It reports whether the value is valid.
func value(s *schema, key string, k kind, raw json.RawMessage) bool {
	switch k {
	case textKind:
		if !jsontext.IsString(raw) {
			return false
		}
	case numberKind, countKind:
		n, err := strconv.ParseFloat(string(raw), 64)
		if err != nil || math.IsInf(n, 0) || k == countKind && n < 0 {
			return false
		}
	case boolKind:
		if text := string(raw); text != "true" && text != "false" {
			return false
		}
	case listKind, namesKind:
		if raw[0] != '[' {
			return false
		}
	}
	clean, ok := appendClean(nil, raw, 0)
	if !ok {
		return false
	}
	s.set(key, json.RawMessage(clean))
	if k == namesKind {
		s.setStrings(key, s.strings(key))
	}
	return true
}

func (f *fitter) types(s *schema, raw json.RawMessage) (ok bool) {
	all := &schema{}
	all.set("type", raw)
	var known []string
	for _, one := range all.types() {
		if typeNames[one] {
			known = append(known, one)
		}
	}
	s.setTypes(known)
	return len(known) > 0
}

// one converts a schema that is the value of a keyword. false and true stay unless the keyword is items.
func (f *fitter) one(s *schema, key string, raw json.RawMessage, p place) {
	switch text := string(raw); {
	case key == "items" && text == "false":
		f.say(p.in(key), "dropped: it allows nothing")
	case key != "items" && (text == "true" || text == "false"):
		s.set(key, raw)
	default:
		s.set(key, f.fit(raw, p.in(key)))
	}
}

// many converts the schemas of anyOf, oneOf, allOf or prefixItems.
func (f *fitter) many(raw json.RawMessage, p place) (all []*schema) {
	i := 0
	jsontext.Elements(raw, func(one json.RawMessage) bool {
		if at := p.in(strconv.Itoa(i)); string(one) == "false" {
			f.say(at, "dropped: it allows nothing")
		} else {
			at.depth--
			all = append(all, f.fit(one, at))
		}
		i++
		return true
	})
	return all
}

func (f *fitter) table(s *schema, key string, raw json.RawMessage, p place) bool {
	t := &table{}
	object := jsontext.Members(raw, func(name []byte, value json.RawMessage) bool {
		n := string(name)
		at := p.in(key, n)
		if string(value) == "false" {
			f.say(at, "dropped: it allows nothing")
			return true
		}
		t.set(n, f.fit(value, at))
		if len(p.refs) > 0 {
			f.bytes += len(n)
		}
		return true
	})
	if object {
		s.set(key, t)
	}
	return object
}

// referred returns the converted target of a $ref.
func (f *fitter) referred(token json.RawMessage, p place) *schema {
	ref := jsontext.String(token)
	target := f.find(ref)
	if target == nil {
		f.say(p, "left open: %s leads to nothing in this schema", strconv.Quote(ref))
		return &schema{}
	}
	for _, before := range p.refs {
		if before == ref {
			f.say(p, "left open: %s contains itself", strconv.Quote(ref))
			return f.open(target)
		}
	}
	f.say(place{}, "references are written out where they are used")
	f.loosened-- // this does not loosen the schema
	p.refs = append(p.refs[:len(p.refs):len(p.refs)], ref)
	p.depth++ // a reference to a reference counts as a level, too
	return f.fit(target, p)
}

func (f *fitter) find(ref string) json.RawMessage {
	pointer, local := strings.CutPrefix(ref, "#")
	if !local || pointer != "" && pointer[0] != '/' {
		return nil
	}
	if plain, err := url.PathUnescape(pointer); err == nil {
		pointer = plain
	}
	at, walked := f.root, ""
	for _, token := range pointed(pointer) {
		members := f.objects[walked]
		if members == nil {
			if f.work -= len(at); f.work < 0 {
				return nil
			}
			members = membersOf(at)
			if f.objects == nil {
				f.objects = map[string]map[string]json.RawMessage{}
			}
			f.objects[walked] = members
		}
		if at = members[token]; at == nil {
			return nil
		}
		walked += "/" + token
	}
	return at
}

// membersOf returns the members of an object, or the elements of an array by their index.
func membersOf(raw json.RawMessage) map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	if !jsontext.Members(raw, func(name []byte, value json.RawMessage) bool {
		all[string(name)] = value
		return true
	}) {
		jsontext.Elements(raw, func(value json.RawMessage) bool {
			all[strconv.Itoa(len(all))] = value
			return true
		})
	}
	return all
}
