package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

func form() *Checker { return &Checker{Schema: "requestedSchema", Value: "content"} }

// doubling is a schema of a few hundred bytes that leads to the same value in 2^n ways.
func doubling(n int) string {
	defs := []string{`"d0":{"type":"object"}`}
	for i := 1; i <= n; i++ {
		defs = append(defs, fmt.Sprintf(`"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i, i-1, i-1))
	}
	return fmt.Sprintf(`{"type":"object","properties":{},"$defs":{%s},"$ref":"#/$defs/d%d"}`, strings.Join(defs, ","), n)
}

// chain is n definitions, each made by def from its number, and a last one that is a string.
func chain(n int, def func(i int) string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"a%d":%s,`, i, def(i))
	}
	return `{"$ref":"#/$defs/a0","$defs":{` + b.String() + fmt.Sprintf(`"a%d":{"type":"string"}}}`, n)
}

// Findings A1 and A2: what cannot be checked, or was made to take for ever or to end the process, is not checked, and
// that is found out in a bounded number of steps.
func TestSchemasOfStrangersAreNotCheckedBeyondTheBound_amount(t *testing.T) {
	const object = `{"a":"b","c":[1]}`
	deep := strings.Repeat(`{"k":`, 400) + `1` + strings.Repeat(`}`, 400)
	names := make([]string, 9_000)
	for i := range names {
		names[i] = fmt.Sprintf(`"n%d":{}`, i)
	}
	lookups := strings.Join(names, ",")
	for name, c := range map[string]struct{ schema, value, want string }{
		"unknown dialect": {`{"$schema":"http://json-schema.org/draft-04/schema#","type":"string"}`, object, "draft-04"},
		"dialect no text": {`{"$schema":7}`, object, "malformed"},
		"malformed":       {`{"type":7}`, object, "malformed"},
		"lost":            {`{"$ref":"#/$defs/none"}`, object, "leads nowhere"},
		"null subschema":  {`{"properties":{"a":null}}`, object, "null"},
		"network":         {`{"properties":{"a":{"$ref":"https://example.com/schema.json"}}}`, object, "nothing is fetched"},
		"file":            {`{"$ref":"file:///etc/passwd"}`, object, "nothing is fetched"},
		"relative":        {`{"$id":"https://example.com/a","$ref":"b"}`, object, "nothing is fetched"},
		"embedded":        {`{"$defs":{"x":{"$id":"https://example.com/x"}}}`, object, "$id"},
		"pattern":         {`{"pattern":"(?<=a)b"}`, object, "pattern"},
		"large pattern":   {`{"pattern":"` + strings.Repeat(`(\\p{L}x){999}`, 50) + `"}`, object, "too large"},
		"no schema":       {`[]`, object, "malformed"},

		"itself":         {`{"$ref":"#"}`, object, "too long"},
		"itself, allOf":  {`{"allOf":[{"$ref":"#"}]}`, object, "too long"},
		"itself, anchor": {`{"$anchor":"a","oneOf":[{"$ref":"#a"}]}`, object, "anchor"},
		"each other": {`{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"}`, object,
			"too long"},
		"circle":        {`{"allOf":[{"anyOf":[{"not":{"$ref":"#"}}]}]}`, object, "too long"},
		"two":           {`{"$ref":"#/$defs/a","$defs":{"a":{"if":{"$ref":"#/$defs/b"}},"b":{"oneOf":[{"$ref":"#/$defs/a"}]}}}`, object, "too long"},
		"dynamic":       {`{"$dynamicAnchor":"n","$dynamicRef":"#n"}`, object, "dynamic"},
		"dynamic below": {`{"$dynamicAnchor":"n","properties":{"a":{"$dynamicRef":"#n"}}}`, object, "dynamic"},
		"recursive ref": {`{"$dynamicRef":"#"}`, object, "dynamic"},
		"doubling 22":   {doubling(22), object, "too long"},
		"doubling 40":   {doubling(40), object, "too long"},
		"exponential": {chain(60, func(i int) string {
			return fmt.Sprintf(`{"anyOf":[{"$ref":"#/$defs/a%d"},{"$ref":"#/$defs/a%d"}]}`, i+1, i+1)
		}), object, "too long"},
		"all branches": {`{"anyOf":[{"$ref":"#/$defs/x"},{"$ref":"#/$defs/x"}],"$defs":{"x":{"additionalProperties":{"$ref":"#"}}}}`, deep, "too long"},
		"long chain": {chain(4000, func(i int) string {
			return fmt.Sprintf(`{"$ref":"#/$defs/a%d"}`, i+1)
		}), object, "too long"},
		"many texts": {`{"anyOf":[` + strings.Repeat(`{"type":"string"},`, 5000) + `{"type":"string"}]}`, `{"x":"` +
			strings.Repeat("x", 1<<20) + `"}`, "too long"},
		"slow pattern": {`{"properties":{"x":{"pattern":"` + strings.Repeat(`(x?){50}`, 50) + `y"}}}`, `{"x":"` +
			strings.Repeat("x", 1<<20) + `"}`, "too long"},
		"slow names": {`{"patternProperties":{"` + strings.Repeat(`(x?){50}`, 50) + `y":true}}`, `{"` +
			strings.Repeat("x", 1<<20) + `":1}`, "too long"},
		"lookups": {`{"items":{"dependentSchemas":{` + lookups + `}}}`, `[` + strings.Repeat(`{},`, 20_000) +
			`{}]`, "too long"},
		"long names": {`{"properties":{"` + strings.Repeat("n", 100<<10) + `":{"allOf":[` + strings.Repeat(`{},`, 2000) +
			`{}]}}}`, object, "too large"},
		"many":        {`{"allOf":[` + strings.Repeat(`{},`, bounds.SchemaParts) + `{}]}`, object, "subschemas"},
		"many values": {`{"enum":[` + strings.Repeat(`0,`, bounds.SchemaValues) + `0]}`, object, "values"},
		"large":       {`{"description":"` + strings.Repeat("x", bounds.SchemaBytes) + `"}`, object, "256 KiB"},
		"nested":      {strings.Repeat(`{"not":`, 100) + `{}` + strings.Repeat(`}`, 100), object, "nested"},

		"large value":   {`{"type":"object"}`, `{"x":"` + strings.Repeat("x", bounds.CheckedBytes) + `"}`, "2 MiB"},
		"nested value":  {`{"type":"object"}`, `{"x":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `}`, "nested"},
		"value of many": {`{"type":"object"}`, `{"x":[` + strings.Repeat("0,", bounds.CheckedValues) + `0]}`, "values"},
	} {
		t.Run(name, func(t *testing.T) {
			before := runtime.NumGoroutine()
			verdict := form().Check(json.RawMessage(c.schema), json.RawMessage(c.value))
			if verdict.Violation != "" || !strings.Contains(verdict.NotChecked, c.want) {
				t.Errorf("got %+v, want %s", verdict, c.want)
			}
			if after := runtime.NumGoroutine(); after > before {
				t.Errorf("%d goroutines before, %d after", before, after)
			}
		})
	}
}

func TestCheckTellsWhatConforms(t *testing.T) {
	const people = `{"type":"object","properties":{"name":{"type":"string","minLength":1},"age":{"type":"integer"}},"required":["name"]}`
	for name, c := range map[string]struct{ schema, value, want string }{
		"conforms":   {people, `{"name":"Ada","age":7}`, ""},
		"missing":    {people, `{}`, "required"},
		"wrong type": {people, `{"name":"Ada","age":"7"}`, "integer"},
		"recursive": {`{"properties":{"kids":{"items":{"$ref":"#"}},"n":{"type":"integer"}}}`,
			`{"kids":[{"kids":[{"n":1}]}]}`, ""},
		"recursive, no": {`{"properties":{"kids":{"items":{"$ref":"#"}},"n":{"type":"integer"}}}`,
			`{"kids":[{"kids":[{"n":"1"}]}]}`, "integer"},
		"doubled, twice": {doubling(6), `{}`, ""},
		"true":           {`true`, `{}`, ""},
		"false":          {`false`, `{}`, "not"},
	} {
		v := form().Check(json.RawMessage(c.schema), json.RawMessage(c.value))
		if v.NotChecked != "" || (c.want == "") != (v.Violation == "") || !strings.Contains(v.Violation, c.want) {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// TestNumbersBeyondAFloatObeyTheirBounds (finding G11): a number that no float64 holds is compared as the largest one.
// It does not make the whole value pass unchecked.
func TestNumbersBeyondAFloatObeyTheirBounds(t *testing.T) {
	const bounded = `{"properties":{"n":{"type":"number","maximum":10,"minimum":-10},"s":{"type":"string"}}}`
	for value, conforms := range map[string]bool{
		`{"n":1e400}`: false, `{"n":-1e400}`: false, `{"n":[1e400]}`: false, `{"m":[1e400,{"k":-1e999}]}`: true,
		`{"m":1e400,"n":10}`: true, `{"m":1e400,"s":7}`: false, `{"n":1e-400}`: true,
	} {
		v := form().Check([]byte(bounded), []byte(value))
		if v.NotChecked != "" || (v.Violation == "") != conforms {
			t.Errorf("%s: %+v", value, v)
		}
	}
}

func TestAViolationIsBoundedAndPrintable(t *testing.T) {
	value := `{"x":"\u0000\u001b[31m\n` + strings.Repeat("x", 100<<10) + `"}`
	v := form().Check(json.RawMessage(`{"properties":{"x":{"type":"integer"}}}`), json.RawMessage(value))
	if utf8.RuneCountInString(v.Violation) > 512 || v.Violation == "" || strings.ContainsAny(v.Violation, "\x00\x1b\n") {
		t.Errorf("got %.600q", v.Violation)
	}
}

func TestSchemasArePreparedOnceAndWithinTheirBytes(t *testing.T) {
	budget := bounds.NewBudget("checks", bounds.HubCheckBytes, bounds.ServerCheckBytes)
	c := form()
	c.Account = budget.Account("s")
	schema, value := json.RawMessage(`{"type":"object"}`), json.RawMessage(`{}`)
	c.Check(schema, value)
	if first := c.plan(schema); c.plan(schema) != first {
		t.Error("prepared twice")
	}
	forgot := 0
	for i := range 200 {
		before := len(c.kept)
		c.Check(json.RawMessage(fmt.Sprintf(`{"minProperties":%d,"allOf":[%s{}]}`, i, strings.Repeat("{},", i))), value)
		if c.held > bounds.PlanBytes || budget.Used() != c.held || c.held == 0 {
			t.Fatalf("%d plans of %d bytes are kept, %d are on the books", len(c.kept), c.held, budget.Used())
		}
		if len(c.kept) < before {
			forgot++
		}
	}
	if forgot == 0 {
		t.Error("plans were never forgotten")
	}
}

// What the checks of all servers hold is bounded: a check that finds no room is not done, and what it took is given
// back.
func TestChecksHaveATotal(t *testing.T) {
	budget := bounds.NewBudget("bytes of checks", 2<<20, 1<<20)
	c := form()
	c.Account = budget.Account("s")
	v := c.Check(json.RawMessage(`{}`), json.RawMessage(`[`+strings.Repeat("0,", 40_000)+`0]`))
	if !strings.Contains(v.NotChecked, `server "s"`) || !strings.Contains(v.NotChecked, "bytes of checks") ||
		budget.Used() != 0 {
		t.Errorf("%+v, %d are on the books", v, budget.Used())
	}
	var all sync.WaitGroup
	for i := range 8 {
		c := form()
		c.Account = budget.Account(fmt.Sprint(i))
		all.Go(func() {
			for range 50 {
				c.Check(json.RawMessage(doubling(i)), json.RawMessage(`{"a":[1,2,3]}`))
			}
			c.Account.Close()
		})
	}
	all.Wait()
	if budget.Used() != 0 {
		t.Errorf("%d are on the books", budget.Used())
	}
}

// A schema that leads to itself ends at a depth, however cheap each step is: the stack is memory.
func TestAnEndlessSchemaEndsAtADepth(t *testing.T) {
	p := newPlan(json.RawMessage(`{"$ref":"#"}`))
	r := &reckoning{schemaCosts: p.costs, left: 1 << 60}
	if r.visit(p.root, "x"); r.left >= 0 || r.depth != 0 {
		t.Errorf("%d units are left, at depth %d", r.left, r.depth)
	}
}

// Finding B15: the library panics on a failed assertion, which must not end the process.
func TestAPanicOfTheValidatorIsNotChecked(t *testing.T) {
	p := newPlan(json.RawMessage(`{"properties":{"a":{}}}`))
	p.resolved = &jsonschema.Resolved{} // has no root: the library dereferences nil
	if _, err := p.validate(json.RawMessage(`{}`)); err == nil || !strings.Contains(err.Error(), "failed") {
		t.Errorf("err = %v", err)
	}
	var err error
	func() {
		defer recovered(&err)
		panic(errors.New("assertion"))
	}()
	if err == nil {
		t.Error("a panic is no error")
	}
}

func FuzzCheck(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"anyOf":[{"type":"string"},{"$ref":"#"}]}}}`,
			`{"a":{"a":"b"}}`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","items":[{}],"additionalItems":false,"dependencies":{"a":["b"]}}`, `[1,2]`},
		{`{"patternProperties":{"^x":{"multipleOf":0}},"propertyNames":{"maxLength":3},"unevaluatedProperties":false,"uniqueItems":true}`, `{"x":5,"yyyy":[1,1]}`},
		{`{"$ref":"#"}`, `{}`}, {`{"allOf":[{"$ref":"#"}]}`, `{}`}, {`{"$dynamicAnchor":"n","$dynamicRef":"#n"}`, `{}`},
		{doubling(22), `{}`},
		{`{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"}`, `{}`},
		{`{"dependentSchemas":{"a":{"$ref":"#"}},"if":{"not":{}},"then":{"$ref":"#/if"}}`, `{"a":1}`},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, schema, value string) {
		if !json.Valid([]byte(schema)) || !json.Valid([]byte(value)) {
			return
		}
		v := form().Check(json.RawMessage(schema), json.RawMessage(value))
		if n := max(utf8.RuneCountInString(v.Violation), utf8.RuneCountInString(v.NotChecked)); n > 8*bounds.PrintableRunes {
			t.Errorf("a text of %d runes", n)
		}
		if v.Violation != "" && v.NotChecked != "" {
			t.Errorf("%+v", v)
		}
	})
}
