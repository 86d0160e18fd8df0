package schema

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

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
