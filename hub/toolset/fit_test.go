package toolset

import (
	"cmp"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

func fitted(t *testing.T, input string) (string, []Change) {
	t.Helper()
	out, changes, err := Fit(json.RawMessage(input))
	if err != nil {
		t.Fatalf("%s: %v", input, err)
	}
	for _, what := range refusals(out) {
		t.Errorf("a provider would refuse %s: %s", out, what)
	}
	return string(out), changes
}

// TestFit: what comes of a schema. Most inputs and results are the properties of an object.
func TestFit(t *testing.T) {
	for _, test := range []struct{ name, input, want string }{
		{"what all take", `{"a":{"type":"string","description":"x"}}`, `{"a":{"type":"string","description":"x"}}`},
		{"unknown keywords", `{"a":{"type":"string","x-y":[],"default":"q"}}`, `{"a":{"type":"string"}}`},
		{"no type is invented", `{"a":{"description":"anything"},"b":true,"c":{}}`, `{"a":{"description":"anything"},"b":{},"c":{}}`},
		{"one that is clear is added", `{"a":{"properties":{"b":{}}},"c":{"items":{}},"d":{"enum":["x"]}}`,
			`{"a":{"type":"object","properties":{"b":{}}},"c":{"type":"array","items":{}},"d":{"type":"string","enum":["x"]}}`},
		{"keywords of other types", `{"a":{"type":"string","minimum":1,"items":{}},"b":{"type":"integer","pattern":"x","properties":{}}}`,
			`{"a":{"type":"string"},"b":{"type":"integer"}}`},
		{"null", `{"a":{"anyOf":[{"type":"string","format":"uri"},{"type":"null"}],"default":null,"title":"A"},"b":{"type":["integer","null"]},
			"c":{"enum":["x",null]},"d":{"type":"string","nullable":true},"e":{"type":"null"},"f":{"type":"array","items":{"const":null}}}`,
			`{"a":{"type":"string","title":"A"},"b":{"type":"integer"},"c":{"type":"string","enum":["x"]},"d":{"type":"string"},"e":{},"f":{"type":"array","items":{}}}`},
		{"several types", `{"a":{"type":["string","array"],"items":{"type":"string"},"minLength":1,"description":"d"}}`,
			`{"a":{"anyOf":[{"type":"string","description":"d","minLength":1},{"type":"array","items":{"type":"string"}}]}}`},
		{"alternatives", `{"a":{"oneOf":[{"type":"string","description":"s"},{"anyOf":[{"type":"integer"},{"type":"boolean"}]},{"type":"integer"}],"description":"d"}}`,
			`{"a":{"anyOf":[{"type":"string","description":"d s"},{"type":"integer"},{"type":"boolean"}]}}`},
		{"alternatives of one type", `{"a":{"type":"string","anyOf":[{"pattern":"x","minimum":1},{"type":"integer"},{"enum":["y"]}]}}`,
			`{"a":{"anyOf":[{"type":"string","pattern":"x"},{"type":"string","enum":["y"]}]}}`},
		{"alternatives beside more", `{"a":{"type":"string","minLength":1,"anyOf":[{"pattern":"x"},{"pattern":"y"}]}}`,
			`{"a":{"type":"string","minLength":1}}`},
		{"an alternative of anything", `{"a":{"anyOf":[{"type":"string"},{}],"description":"d"}}`, `{"a":{"description":"d"}}`},
		{"arrays", `{"a":{"type":"array"},"b":{"type":"array","items":[{"type":"string"},{"type":"integer"}],"maxItems":2},"c":{"type":["array","null"]},
			"d":{"prefixItems":[{"type":"number"},{"type":"number"}],"items":false}}`,
			`{"a":{"type":"array","items":{}},"b":{"type":"array","maxItems":2,"items":{"anyOf":[{"type":"string"},{"type":"integer"}]}},"c":{"type":"array","items":{}},` +
				`"d":{"type":"array","items":{"type":"number"}}}`},
		{"enums", `{"a":{"enum":["x","y","x"]},"b":{"enum":[1, 2],"type":"integer","description":"n"},"c":{"const":"z"},"d":{"enum":["","x"],"type":"string"}}`,
			`{"a":{"type":"string","enum":["x","y"]},"b":{"type":"integer","description":"n Allowed: [1,2]."},"c":{"type":"string","enum":["z"]},` +
				`"d":{"type":"string","description":"Allowed: [\"\",\"x\"]."}}`},
		{"numbers and formats", `{"a":{"type":"integer","exclusiveMinimum":0,"maximum":9},"b":{"type":"string","format":"date-time"},"c":{"type":"string","format":"email"}}`,
			`{"a":{"type":"integer","maximum":9},"b":{"type":"string","format":"date-time"},"c":{"type":"string"}}`},
		{"values of a wrong kind", `{"a":{"type":"any","minLength":"3","enum":7,"required":true,"anyOf":{},"maxItems":-1}}`, `{"a":{}}`},
		{"a member twice, the last counts", `{"a":{"type":"string","type":"integer"}}`, `{"a":{"type":"integer"}}`},
		{"nothing is allowed", `{"a":false,"b":{"anyOf":[false,{"type":"string"}]}}`, `{"b":{"type":"string"}}`},
		{"names of arguments", `{"filter[id]":{"type":"string"},"a.b-c":{"properties":{"$x":{}}}}`, `{"a.b-c":{"type":"object","properties":{"$x":{}}}}`},
		{"no properties", `{"type":"object"}`, ``},
		{"nothing at all", `{}`, ``},
		{"allOf", `{"allOf":[{"type":"object","properties":{"a":{"type":"number"}}},{"required":["a"],"properties":{"a":{"type":"integer","title":"A"}}}]}`,
			`{"type":"object","properties":{"a":{"type":"integer","title":"A"}},"required":["a"]}`},
		{"names in required that are no properties", `{"properties":{"a":{"type":"string"}},"required":["a","b"]}`,
			`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`},
		{"a reference", `{"properties":{"a":{"$ref":"#/$defs/A","description":"mine"}},"$defs":{"A":{"type":"integer","description":"its"}}}`,
			`{"type":"object","properties":{"a":{"type":"integer","description":"mine"}}}`},
		{"allOf of one reference", `{"properties":{"a":{"allOf":[{"$ref":"#/definitions/A"}],"description":"d"}},"definitions":{"A":{"type":"string"}}}`,
			`{"type":"object","properties":{"a":{"type":"string","description":"d"}}}`},
		{"the top is a reference", `{"$ref":"#/$defs/In","$defs":{"In":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}}}`,
			`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`},
		{"a pointer with escapes", `{"properties":{"a":{"$ref":"#/$defs/x~1y%20z"}},"$defs":{"x/y z":{"type":"boolean"}}}`,
			`{"type":"object","properties":{"a":{"type":"boolean"}}}`},
		{"a circle", `{"$defs":{"N":{"type":"object","properties":{"next":{"$ref":"#/$defs/N"}}}},"properties":{"n":{"$ref":"#/$defs/N"}}}`,
			`{"type":"object","properties":{"n":{"type":"object","properties":{"next":{"type":"object"}}}}}`},
		{"another document", `{"properties":{"a":{"$ref":"https://example.com/x.json"},"b":{"$ref":"#/nowhere"}}}`,
			`{"type":"object","properties":{"a":{},"b":{}}}`},
		{"alternatives at the top", `{"type":"object","properties":{"id":{"type":"string"}},"required":["id"],"oneOf":[
			{"properties":{"a":{"type":"string"},"k":{"type":"string"}},"required":["a","k"]},
			{"properties":{"b":{"type":"string"},"k":{"type":"string"}},"required":["b","k"]}]}`,
			`{"type":"object","properties":{"id":{"type":"string"},"a":{"type":"string"},"k":{"type":"string"},"b":{"type":"string"}},"required":["id","k"]}`},
		{"and nothing else", `{"title":"T","anyOf":[{"type":"object","properties":{"k":{"const":"x"}}},{"type":"string"},{"type":"object","properties":{"k":{"const":"y"}}}]}`,
			`{"type":"object","title":"T","properties":{"k":{"anyOf":[{"type":"string","enum":["x"]},{"type":"string","enum":["y"]}]}}}`},
		{"one of two is required", `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}`},
		{"conditions", `{"properties":{"a":{"type":"string"}},"if":{"required":["a"]},"then":{"required":["b"]},"not":{"required":["z"]}}`,
			`{"type":"object","properties":{"a":{"type":"string"}}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			input, want := test.input, test.want
			if !strings.HasPrefix(want, `{"type":`) {
				want = `{"type":"object","properties":` + cmp.Or(want, "{}") + `}`
				if test.want != "" {
					input = `{"$schema":"x","type":"object","properties":` + input + `}`
				}
			}
			got, changes := fitted(t, input)
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s\n%v", diff, changes)
			}
			if again, more := fitted(t, got); again != got || more != nil {
				t.Errorf("once more gives %s, %v", again, more)
			}
		})
	}
}

func TestFitSetsAside(t *testing.T) {
	for input, want := range map[string]string{
		`{"type":"string"}`:                                         "takes no object",
		`{"type":["array","null"]}`:                                 "takes no object",
		`{"type":"null"}`:                                           "takes no object",
		`{"anyOf":[{"type":"string"}, false]}`:                      "takes no object",
		`{"oneOf":[{"type":"string"},{"type":"array","items":{}}]}`: "takes no object",
		`[]`:       "no JSON object",
		`{"type":`: "no JSON object",
		``:         "no JSON object",
		`{"a":"` + strings.Repeat("x", bounds.SchemaBytes) + `"}`:        "256 KiB",
		`{"properties":{"$top":{"type":"integer"}},"required":["$top"]}`: "$top",
	} {
		if out, _, err := Fit(json.RawMessage(input)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %s, %v; want %s", input, out, err, want)
		}
	}
}

// TestFitSaysWhatItChanged: and bounds what it says, and prints nothing of a server as it is.
func TestFitSaysWhatItChanged(t *testing.T) {
	const input = `{"properties":{"a":{"$ref":"#/$defs/A"},"b":{"oneOf":[{"type":"string"},{"type":["integer","null"]}]},
		"c":{"anyOf":[{"type":"string"},{}]}},"$defs":{"A":{"type":"string","x-hint":1}},"not":{"required":["a"]},"required":["d"]}`
	_, changes := fitted(t, input)
	want := []Change{
		{"", "not dropped"},
		{"", "references are written out where they are used"},
		{"/properties/a", "x-hint dropped"},
		{"/properties/b/oneOf/1", "null is left out"},
		{"/properties/b", "oneOf told as anyOf"},
		{"/properties/c", "alternatives left open: one takes anything"},
		{"", "type object added"},
		{"", `"d" is not said to be required: it is no property`},
	}
	if diff := gocmp.Diff(want, changes); diff != "" {
		t.Error(diff)
	}
	var b strings.Builder
	b.WriteString(`{"properties":{`)
	for i := range 200 {
		fmt.Fprintf(&b, `%q:{"\u202ex%s":1},`, fmt.Sprint("a", i), strings.Repeat("y", 5000/(i+1)))
	}
	b.WriteString(`"z":{}}}`)
	if _, changes = fitted(t, b.String()); len(changes) != bounds.FitChanges+1 {
		t.Errorf("%d changes", len(changes))
	}
	for _, c := range changes {
		if strings.ContainsRune(c.What, '\u202e') || len(c.What) > 2000 {
			t.Errorf("%q", c)
		}
	}
}

// Arguments that the server's schema takes, a model may still send: a fitted schema is never stricter.
func TestFitIsNeverStricter(t *testing.T) {
	for _, test := range []struct {
		schema string
		valid  []string
	}{
		{`{"not":{"$ref":"#/$defs/A"},"$defs":{"A":{"required":["x"],"unknownWord":1,"minContains":1}}}`, []string{`{}`, `{"a":1}`}},
		{`{"properties":{"a":{"not":{"properties":{"x":{"not":{"type":"string"},"unknownWord":1}},"required":["x"]}}}}`,
			[]string{`{"a":{"x":"s"}}`}},
		{`{"properties":{"a":{"oneOf":[{"minLength":3,"type":"string","dependentRequired":{}},{"type":"string","maxLength":2}]}}}`,
			[]string{`{"a":"x"}`, `{"a":"xxxx"}`}},
		{`{"properties":{"a":{"oneOf":[{"required":["x"],"dependentRequired":{"x":["y"]}},{"required":["x"]}]}}}`,
			[]string{`{"a":{"x":1}}`}},
		{`{"additionalProperties":false,"patternProperties":{"^x":{}},"properties":{"a":{}}}`, []string{`{"xy":1}`, `{"a":1}`}},
		{`{"allOf":[{"properties":{"a":{}},"patternProperties":{"^x":{}},"additionalProperties":false},{"patternProperties":{"^x":{"type":"string"},"^a":{}}}]}`,
			[]string{`{"a":1,"xy":"s"}`}},
		{`{"allOf":[{"properties":{"a":{"type":"string"}}},{"properties":{"b":{}}}],"unevaluatedProperties":false}`,
			[]string{`{"a":"s","b":1}`}},
		{`{"anyOf":[{"properties":{"a":{}},"patternProperties":{"^x":{}},"additionalProperties":false},{"properties":{"b":{}},"additionalProperties":false}]}`,
			[]string{`{"a":1}`, `{"b":1}`, `{"xy":1}`}},
		{`{"properties":{"a":{"prefixItems":[{"type":"string"},{"type":"integer"}],"items":{"type":"boolean"}}}}`,
			[]string{`{"a":["s",1,true]}`}},
		{`{"properties":{"a":{"allOf":[{"enum":[1.0,2]},{"enum":[1,3]}]}}}`, []string{`{"a":1}`}},
		{`{"properties":{"a":{"allOf":[{"type":["number","string"]},{"type":["integer","string"]}]}}}`, []string{`{"a":1}`, `{"a":"s"}`}},
		{`{"properties":{"a":{"$ref":"#/$defs/T"}},"$defs":{"T":{"anyOf":[{"type":"string"},{"type":"array","items":{"$ref":"#/$defs/T"}}]}}}`,
			[]string{`{"a":"s"}`, `{"a":["s",["s"]]}`}},
		{`{"if":{"required":["a"],"unknownWord":1,"dependentRequired":{"a":["b"]}},"then":{"required":["c"]},"properties":{"a":{},"b":{},"c":{}}}`,
			[]string{`{"a":1}`, `{"a":1,"b":1,"c":1}`}},
		{`{"$ref":"#/$defs/A","properties":{"b":{}},"$defs":{"A":{"properties":{"a":{}},"required":["a"]}}}`, []string{`{"a":1,"b":1}`}},
		{`{"properties":{"a":{"items":[{"type":"string"},{"type":"integer"}]}}, "$schema":"http://json-schema.org/draft-07/schema#"}`,
			[]string{`{"a":["s",1]}`}},
	} {
		for _, valid := range test.valid {
			accepts(t, test.schema, valid)
			out, _ := fitted(t, test.schema)
			accepts(t, out, valid)
		}
	}
}

func accepts(t *testing.T, schema, value string) {
	t.Helper()
	var s jsonschema.Schema
	var v any
	if err := json.Unmarshal([]byte(schema), &s); err != nil {
		t.Fatal(schema, err)
	}
	if err := json.Unmarshal([]byte(value), &v); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(schema, err)
	}
	if err := resolved.Validate(v); err != nil {
		t.Errorf("%s does not take %s: %v", schema, value, err)
	}
}

// No schema that a server can write takes much work to fit (counted by the memory that it allocates), or becomes long.
func TestFitOfHostileSchemas_amount(t *testing.T) {
	exponential := `{"properties":{"a":{"$ref":"#/$defs/d0"}},"$defs":{`
	for i := range 40 {
		exponential += fmt.Sprintf(`"d%d":{"type":"object","properties":{"l":{"$ref":"#/$defs/d%d"},"r":{"$ref":"#/$defs/d%d"}}},`,
			i, i+1, i+1)
	}
	exponential += `"d40":{"type":"string"}}}`
	allOf := `{"$ref":"#/$defs/d0","$defs":{`
	for i := range 40 {
		allOf += fmt.Sprintf(`"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	allOf += `"d40":{"properties":{"a":{"type":"string"}}}}}`
	wide := func(open, each, end string) string {
		n := (bounds.SchemaBytes - len(open) - len(end)) / (len(each) + 7)
		var b strings.Builder
		b.WriteString(open)
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(strings.ReplaceAll(each, "#N", fmt.Sprintf("%05d", i)))
		}
		return b.String() + end
	}
	for name, input := range map[string]string{
		"exponential":       exponential,
		"all of each other": allOf,
		"deep":              strings.Repeat(`{"properties":{"a":`, 4_000) + `{}` + strings.Repeat(`}}`, 4_000),
		"deep items":        `{"properties":{"a":` + strings.Repeat(`{"items":`, 5_000) + `{}` + strings.Repeat(`}`, 5_000) + `}}`,
		"deep default":      `{"properties":{"a":{"default":` + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000) + `}}}`,
		"wide":              wide(`{"properties":{`, `"a#N":{}`, `}}`),
		"illegal names":     wide(`{"properties":{`, `"[#N":{}`, `}}`),
		"alternatives":      wide(`{"oneOf":[`, `{"properties":{"a":{"const":1#N}},"required":["a","b","c","d"]}`, `]}`),
		"deep and wide":     wide(strings.Repeat(`{"properties":{"a":{"anyOf":[{"type":"string"},`, 11)+`{"anyOf":[`, `{"type":"string","title":"#N"}`, `]}`+strings.Repeat(`]}}}`, 11)),
		"parts of one":      wide(`{"allOf":[`, `{"required":["a#N"]}`, `]}`),
		"required":          wide(`{"anyOf":[{},{}],"required":[`, `"a#N"`, `]}`),
		"required twice":    wide(`{"anyOf":[{"$ref":"#/$defs/r"},{"$ref":"#/$defs/r"}],"$defs":{"r":{"required":[`, `"a#N"`, `]}}}`),
		"many references":   wide(`{"$defs":{"a":{"type":"string"}},"properties":{`, `"a#N":{"$ref":"#/$defs/a"}`, `}}`),
		"long pointers":     wide(`{"properties":{`, `"a#N":{"$ref":"#/properties/a#N/properties/a/b/c/d"}`, `}}`),
		"a long pointer":    `{"properties":{"a":{"$ref":"#` + strings.Repeat("/a", 10_000) + `"}}}`,
		"large reference":   wide(`{"properties":{"a":{"$ref":"#/$defs/a"},"b":{"$ref":"#/$defs/a"},"c":{"$ref":"#/$defs/a"}},"$defs":{"a":{"properties":{`, `"a#N":{}`, `}}}}`),
		"two circles":       `{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"}`,
		"the top in itself": `{"properties":{"a":{"$ref":"#"},"b":{"$ref":"#"}},"anyOf":[{"$ref":"#"},{"$ref":"#"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			out, _, err := Fit(json.RawMessage(input))
			runtime.ReadMemStats(&after)
			allocated := after.TotalAlloc - before.TotalAlloc
			if err != nil {
				t.Fatalf("set aside: %v", err)
			}
			for _, what := range refusals(out) {
				t.Errorf("a provider would refuse %.200s: %s", out, what)
			}
			if len(out) > 3*bounds.SchemaBytes || allocated > 24<<20 {
				t.Errorf("%d bytes of %d, with %d KiB allocated", len(out), len(input), allocated>>10)
			}
		})
	}
}

// TestPartsBesideAlternativesAreBounded: each part of an allOf goes through the alternatives of another.
func TestPartsBesideAlternativesAreBounded(t *testing.T) {
	alternatives := ""
	for i := range 3_000 {
		alternatives += fmt.Sprintf(`{"pattern":"%d"},`, i)
	}
	_, changes := fitted(t, `{"properties":{"a":{"allOf":[{"anyOf":[`+alternatives+`{"type":"string"}]}`+
		strings.Repeat(`,{"type":"string"}`, 7_000)+`]}}}`)
	if len(changes) != 2 || changes[0].What != tooLong {
		t.Errorf("changes: %v", changes)
	}
}

func FuzzFit(f *testing.F) {
	for _, seed := range []string{
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"type":["string","null"],"enum":["a",null]}}}`,
		`{"oneOf":[{"properties":{"a":{"const":1}}},{"allOf":[{"required":["a"]},{"type":"object"}]}]}`,
		`{"properties":{"a":{"type":"array","items":[{},false,true],"prefixItems":[{}]},"b":{"not":{},"if":{},"then":{}}}}`,
		`{"properties":{"a":{"anyOf":[{"type":"null"},{"anyOf":[{},{"items":{}}]}],"nullable":true,"type":["object","array"]}}}`,
		`{"patternProperties":{"a":{}},"additionalProperties":{"$ref":"#"},"anyOf":[{"$ref":"#/anyOf/1"},{"properties":{"a":false}}]}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input string) {
		out, changes, err := Fit(json.RawMessage(input))
		if err != nil {
			return
		}
		if len(changes) > bounds.FitChanges+1 || len(out) > len(input)*12+8*bounds.FitBytes {
			t.Errorf("%d changes, %d bytes of %d", len(changes), len(out), len(input))
		}
		for _, what := range refusals(out) {
			t.Errorf("a provider would refuse %s, made of %s: %s", out, input, what)
		}
	})
}
