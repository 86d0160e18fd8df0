package mcp

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// NotChecked begins an entry of CheckOutput that is no violation: the result could not be checked, and the text goes on to say why.
const NotChecked = "not checked: "

// Bounds of what is checked at all. A schema is a server's text: it may be made to take for ever.
const (
	maxSchemaBytes  = 256 << 10
	maxSchemaDepth  = 64 // of the JSON text
	maxOutputBytes  = 4 << 20
	maxOutputDepth  = 512
	maxOutputPlans  = 256
	dialect202012   = "https://json-schema.org/draft/2020-12/schema"
	dialectDraft07  = "http://json-schema.org/draft-07/schema#"
	absentStructure = "structuredContent is absent, although the tool has an outputSchema"
)

// CheckOutput compares the structuredContent of a tool's result with the tool's outputSchema. It returns what is wrong, in bounded texts for people, to be
// shown beside the result and never instead of it; they may quote the result and must not be logged. nil: all is well, the tool has no schema, or the
// result reports an error of the tool, which need not conform (server/tools, "Output Schema", since 2025-06-18).
//
// Up to 2025-11-25 structuredContent is an object; 2026-07-28 allows any value, null too, which is something else than none. The dialect is 2020-12 unless
// $schema says draft-07. A schema of another dialect, with a reference to another document (nothing is ever fetched), or with one that takes too long gives one
// entry that begins with NotChecked. Numbers are compared with the precision of a float64.
//
// It takes about a second at the very most. It is safe for concurrent use, also when the session is over.
func (s *Session) CheckOutput(outputSchema, result json.RawMessage) []string {
	if outputSchema == nil || isNull(outputSchema) || string(member(result, "isError")) == "true" {
		return nil
	}
	content := member(result, "structuredContent")
	switch {
	case content == nil:
		return []string{absentStructure}
	case s.Era() != Modern && content[0] != '{':
		return []string{"structuredContent is no JSON object, as it must be in revision " + s.Revision()}
	}
	if problem := s.outputs.plan(outputSchema).check(content); problem != "" {
		return []string{problem}
	}
	return nil
}

// outputs keeps the plans of the schemas that were met. The zero value is ready to use; safe for concurrent use.
type outputs struct {
	mu    sync.Mutex // guards plans
	plans map[[sha256.Size]byte]*outputPlan
}

// plan is the plan for a schema, by its text. Two callers may make the same one at once; no lock is held meanwhile.
func (o *outputs) plan(schema json.RawMessage) *outputPlan {
	if len(schema) > maxSchemaBytes {
		return &outputPlan{why: fmt.Sprintf("the outputSchema has more than %d KiB", maxSchemaBytes>>10)}
	}
	key := sha256.Sum256(schema)
	o.mu.Lock()
	p := o.plans[key]
	o.mu.Unlock()
	if p != nil {
		return p
	}
	p = newOutputPlan(schema)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.plans == nil || len(o.plans) >= maxOutputPlans { // far more tools than any server has: starting again is good enough
		o.plans = make(map[[sha256.Size]byte]*outputPlan)
	}
	o.plans[key] = p
	return p
}

// outputPlan is a schema that is ready for checking, or why it cannot be. It is not changed once it is made.
type outputPlan struct {
	why      string // not "": nothing can be checked
	root     *jsonschema.Schema
	resolved *jsonschema.Resolved
	costs    *schemaCosts
}

func newOutputPlan(raw json.RawMessage) *outputPlan {
	p := &outputPlan{}
	if err := p.prepare(raw); err != nil {
		return &outputPlan{why: printable(err.Error())}
	}
	return p
}

// errFetch is what the library gets instead of a document: 2025-11-25 and 2026-07-28 basic, "JSON Schema Usage": clients MUST NOT fetch over the network.
var errFetch = errors.New("it refers to another document, and nothing is fetched")

func (p *outputPlan) prepare(raw json.RawMessage) (err error) {
	defer recovered(&err)
	if jsontext.Depth(raw) > maxSchemaDepth {
		return fmt.Errorf("the outputSchema is nested deeper than %d", maxSchemaDepth)
	}
	dialect, err := dialectOf(member(raw, "$schema"))
	if err != nil {
		return err
	}
	p.root = &jsonschema.Schema{}
	if err := json.Unmarshal(raw, p.root); err != nil {
		return fmt.Errorf("the outputSchema is malformed: %w", err)
	}
	p.root.Schema = dialect
	if p.costs, err = survey(p.root); err != nil {
		return fmt.Errorf("the outputSchema cannot be used: %w", err)
	}
	p.resolved, err = p.root.Resolve(&jsonschema.ResolveOptions{
		Loader: func(*url.URL) (*jsonschema.Schema, error) { return nil, errFetch },
	})
	if err != nil {
		return fmt.Errorf("the outputSchema cannot be used: %w", err)
	}
	return nil
}

// dialectOf is the spelling that the library knows for a $schema.
func dialectOf(raw json.RawMessage) (string, error) {
	switch text := strings.TrimSuffix(stringOf(raw), "#"); text {
	case "":
		if raw == nil {
			return dialect202012, nil
		}
	case dialect202012:
		return dialect202012, nil
	case "http://json-schema.org/draft-07/schema", "https://json-schema.org/draft-07/schema":
		return dialectDraft07, nil
	}
	return "", fmt.Errorf("the dialect of the outputSchema is unknown: %s", printable(string(raw)))
}

// check gives the text of one problem, "" when there is none. The library ends at the first violation.
func (p *outputPlan) check(content json.RawMessage) string {
	if p.why != "" {
		return NotChecked + p.why
	}
	violation, err := p.validate(content)
	switch {
	case err != nil:
		return NotChecked + printable(err.Error())
	case violation != nil:
		return "structuredContent does not conform to the outputSchema: " + printable(innermost(violation).Error())
	}
	return ""
}

// innermost is the error that names the place of the violation alone. The library names all places on the way there, one around the other.
func innermost(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil || errors.Unwrap(inner) == nil {
			return err
		}
		err = inner
	}
}

func (p *outputPlan) validate(content json.RawMessage) (violation, err error) {
	defer recovered(&err)
	switch {
	case len(content) > maxOutputBytes:
		return nil, fmt.Errorf("structuredContent has more than %d MiB", maxOutputBytes>>20)
	case jsontext.Depth(content) > maxOutputDepth:
		return nil, fmt.Errorf("structuredContent is nested deeper than %d", maxOutputDepth)
	}
	var value any
	if err := json.Unmarshal(content, &value); err != nil {
		return nil, errors.New("structuredContent has a number beyond the range of a float64")
	}
	if err := p.costs.affordable(p.root, value); err != nil {
		return nil, err
	}
	return p.resolved.Validate(value), nil
}

// recovered turns a panic of the library into an error. It asserts what it takes for impossible, and what it gets is made by strangers: a schema that
// trips it must not end the process with everybody's calls.
func recovered(err *error) {
	if recover() != nil {
		*err = errors.New("the validator failed on this schema")
	}
}
