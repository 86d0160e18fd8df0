package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

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
