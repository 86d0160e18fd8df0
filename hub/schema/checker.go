package schema

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

// Checker checks values of one kind for one server. A Checker with the two names set is ready to use. It is safe for
// concurrent use.
type Checker struct {
	Schema, Value string          // the names of the schema and the value in texts
	Account       *bounds.Account // bounds the memory that the checks of this server hold, in bytes

	// turn lets one check run at a time: a server with many checks delays only its own.
	turn sync.Mutex // guards kept and held
	kept map[[sha256.Size]byte]*plan
	held int // bytes of the plans in kept, charged to Account
}

// Verdict is the result of a check. All texts are bounded and printable. They may quote the value and must not be
// logged, except for NotChecked.
type Verdict struct {
	Violation  string // how the value does not conform; "": it does, or was not checked
	NotChecked string // why it was not checked; "": it was
}

// Check compares a valid JSON text with a schema. The dialect is 2020-12 unless $schema says draft-07. Numbers are
// compared with the precision of a float64, and within its range. A schema of another dialect, with a reference to
// another document (nothing is ever fetched), or one that would take too long is not checked. Check takes about a
// second at most, and no more memory than Account allows.
func (c *Checker) Check(schema, value json.RawMessage) Verdict {
	notChecked := func(what string, why error) Verdict {
		return Verdict{NotChecked: bounds.Printable(what + ": " + why.Error())}
	}
	if err := fits(schema, bounds.SchemaBytes, bounds.SchemaDepth, bounds.SchemaValues); err != nil {
		return notChecked("the "+c.Schema, err)
	}
	if err := fits(value, bounds.CheckedBytes, bounds.CheckedDepth, bounds.CheckedValues); err != nil {
		return notChecked("the "+c.Value, err)
	}
	c.turn.Lock()
	defer c.turn.Unlock()
	need := 2*len(value) + measure(value).values*valueBytes
	if err := c.Account.Take(need); err != nil {
		c.forget() // the kept plans only save time
		if err = c.Account.Take(need); err != nil {
			return notChecked("the "+c.Value, err)
		}
	}
	defer c.Account.Give(need)
	p := c.plan(schema)
	if p.why != nil {
		return notChecked("the "+c.Schema, p.why)
	}
	violation, err := p.validate(value)
	switch {
	case err != nil:
		return notChecked("the "+c.Value, err)
	case violation != nil:
		return Verdict{Violation: bounds.Printable(innermost(violation).Error())}
	}
	return Verdict{}
}

// valueBytes is about the memory of a value, decoded.
const valueBytes = 192

// fits returns an error if a JSON text is beyond one of these bounds.
func fits(raw json.RawMessage, bytes, depth, values int) error {
	if len(raw) > bytes {
		return fmt.Errorf("it has more than %s", bounds.Bytes(bytes))
	}
	switch s := measure(raw); {
	case s.depth > depth:
		return fmt.Errorf("it is nested deeper than %d", depth)
	case s.values > values:
		return fmt.Errorf("it has more than %d values", values)
	}
	return nil
}

// errBusy is the reason why a schema was not prepared.
var errBusy = errors.New("the checks of all servers hold too much memory just now")

// plan returns the prepared schema, from kept if it is there. Called with c.turn held.
func (c *Checker) plan(schema json.RawMessage) *plan {
	key := sha256.Sum256(schema)
	if p := c.kept[key]; p != nil {
		return p
	}
	need := measure(schema).values * partBytes / 4 // a subschema has a name and some members
	if c.Account.Take(need) != nil {
		return &plan{why: errBusy}
	}
	p := newPlan(schema)
	c.Account.Give(need)
	if c.held+p.bytes() > bounds.PlanBytes { // far more than servers have, so it is good enough to start again
		c.forget()
	}
	if p.bytes() > bounds.PlanBytes || c.Account.Take(p.bytes()) != nil {
		return p
	}
	if c.kept == nil {
		c.kept = make(map[[sha256.Size]byte]*plan)
	}
	c.kept[key], c.held = p, c.held+p.bytes()
	return p
}

// forget drops the kept plans and ends their charge. Called with c.turn held.
func (c *Checker) forget() {
	c.Account.Give(c.held)
	c.kept, c.held = nil, 0
}

const (
	dialect202012  = "https://json-schema.org/draft/2020-12/schema"
	dialectDraft07 = "http://json-schema.org/draft-07/schema#"
)

// plan is a schema that is ready for checking, or the reason why it cannot be checked. It is immutable.
type plan struct {
	why      error // not nil: nothing can be checked
	root     *jsonschema.Schema
	resolved *jsonschema.Resolved
	costs    *schemaCosts
}

// smallPlan is about the memory of a plan that has only a reason.
const smallPlan = 1 << 10

// bytes returns about how much memory a plan takes.
func (p *plan) bytes() int {
	if p.why != nil {
		return smallPlan
	}
	return smallPlan + p.costs.bytes
}

func newPlan(raw json.RawMessage) *plan {
	p := &plan{}
	if err := p.prepare(raw); err != nil {
		return &plan{why: err}
	}
	return p
}

// errFetch is what the library's loader returns for any document: 2025-11-25 and 2026-07-28 basic, "JSON Schema Usage":
// clients MUST NOT fetch over the network.
var errFetch = errors.New("it refers to another document, and nothing is fetched")

func (p *plan) prepare(raw json.RawMessage) (err error) {
	defer recovered(&err)
	p.root = &jsonschema.Schema{}
	if err := json.Unmarshal(raw, p.root); err != nil {
		return fmt.Errorf("it is malformed: %w", err)
	}
	if p.root.Schema, err = dialectOf(p.root.Schema); err != nil {
		return err
	}
	if p.costs, err = survey(p.root); err != nil {
		return err
	}
	p.resolved, err = p.root.Resolve(&jsonschema.ResolveOptions{
		Loader: func(*url.URL) (*jsonschema.Schema, error) { return nil, errFetch },
	})
	return err
}

// dialectOf returns the spelling of a $schema that the library knows.
func dialectOf(text string) (string, error) {
	switch strings.TrimSuffix(text, "#") {
	case "", dialect202012:
		return dialect202012, nil
	case "http://json-schema.org/draft-07/schema", "https://json-schema.org/draft-07/schema":
		return dialectDraft07, nil
	}
	return "", fmt.Errorf("its dialect is unknown: %s", text)
}

// innermost returns the wrapped error that names only the place of the violation. The library wraps it once for each
// place on the path to it.
func innermost(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil || errors.Unwrap(inner) == nil {
			return err
		}
		err = inner
	}
}

// validate compares content with the schema. err says why it was not compared.
func (p *plan) validate(content json.RawMessage) (violation, err error) {
	defer recovered(&err)
	value, err := decoded(content)
	if err != nil {
		return nil, err
	}
	if err := p.costs.affordable(p.root, value); err != nil {
		return nil, err
	}
	return p.resolved.Validate(value), nil
}

// decoded returns a value as the validator takes it. A number beyond the range of a float64 becomes the largest one of
// its sign, so that it is measured by the bounds of the schema as every other.
func decoded(content json.RawMessage) (value any, err error) {
	if err = json.Unmarshal(content, &value); err == nil {
		return value, nil
	}
	d := json.NewDecoder(bytes.NewReader(content))
	d.UseNumber()
	if err = d.Decode(&value); err != nil {
		return nil, err
	}
	return floats(value), nil
}

// floats replaces the numbers in a value, and returns it.
func floats(value any) any {
	switch v := value.(type) {
	case json.Number:
		f, _ := v.Float64() // beyond the range it is infinite, which the validator does not know
		return min(max(f, -math.MaxFloat64), math.MaxFloat64)
	case []any:
		for i := range v {
			v[i] = floats(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = floats(v[name])
		}
	}
	return value
}

// recovered turns a panic of the library into an error. The library panics on what it considers impossible, and its
// input comes from servers: such a schema must not end the process with the calls of all users. (A stack overflow
// cannot be recovered; the computation of costs prevents it.)
func recovered(err *error) {
	if recover() != nil {
		*err = errors.New("the validator failed on this schema")
	}
}

// shape describes a JSON text once it is decoded.
type shape struct{ depth, values int }

// measure counts the values, including names, of a valid JSON text, and the nesting of its arrays and objects. For
// invalid text the counts are arbitrary.
func measure(raw []byte) (s shape) {
	depth := 0
	s.values = 1
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			for i++; i < len(raw) && raw[i] != '"'; i++ {
				if raw[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			s.values++
			depth++
			s.depth = max(s.depth, depth)
		case '}', ']':
			depth--
		case ',', ':':
			s.values++
		}
	}
	return s
}
