package toolset

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

var providers = []Provider{Anthropic, OpenAI, Gemini}

func fitted(t *testing.T, p Provider, input string) (string, []Change) {
	t.Helper()
	out, changes, err := Fit(p, json.RawMessage(input))
	if err != nil {
		t.Fatalf("%s, %s: %v", p, input, err)
	}
	for _, what := range refusals(p, out) {
		t.Errorf("%s would refuse %s: %s", p, out, what)
	}
	return string(out), changes
}

func TestFit(t *testing.T) {
	same := func(s string) map[Provider]string { return map[Provider]string{Anthropic: s, OpenAI: s, Gemini: s} }
	for _, test := range []struct {
		name, input string
		want        map[Provider]string
	}{
		{"what all take", `{"type":"object","properties":{"a":{"type":"string","description":"x"}},"required":["a"]}`,
			same(`{"type":"object","properties":{"a":{"type":"string","description":"x"}},"required":["a"]}`)},
		{"no properties", `{"type":"object"}`, same(`{"type":"object","properties":{}}`)},
		{"nothing at all", `{}`, same(`{"type":"object","properties":{}}`)},
		{"unknown keywords", `{"$schema":"x","type":"object","x-order":1,"properties":{"a":{"type":"string","x-y":[]}}}`,
			same(`{"type":"object","properties":{"a":{"type":"string"}}}`)},
		{"no type is invented", `{"properties":{"a":{"description":"anything"},"b":true,"c":{}}}`,
			same(`{"type":"object","properties":{"a":{"description":"anything"},"b":{},"c":{}}}`)},
		{"a reference", `{"properties":{"a":{"$ref":"#/$defs/A","description":"mine"}},"$defs":{"A":{"type":"integer","description":"its"}}}`,
			same(`{"type":"object","properties":{"a":{"description":"mine","type":"integer"}}}`)},
		{"allOf of one reference", `{"properties":{"a":{"allOf":[{"$ref":"#/definitions/A"}],"description":"d"}},"definitions":{"A":{"type":"string"}}}`,
			same(`{"type":"object","properties":{"a":{"description":"d","type":"string"}}}`)},
		{"the top is a reference", `{"$ref":"#/$defs/In","$defs":{"In":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}}}`,
			same(`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`)},
		{"a pointer with escapes", `{"properties":{"a":{"$ref":"#/$defs/x~1y%20z"}},"$defs":{"x/y z":{"type":"boolean"}}}`,
			same(`{"type":"object","properties":{"a":{"type":"boolean"}}}`)},
		{"a circle", `{"$defs":{"N":{"type":"object","properties":{"next":{"$ref":"#/$defs/N"}}}},"properties":{"n":{"$ref":"#/$defs/N"}}}`,
			same(`{"type":"object","properties":{"n":{"type":"object","properties":{"next":{"type":"object"}}}}}`)},
		{"another document", `{"properties":{"a":{"$ref":"https://example.com/x.json"},"b":{"$ref":"#/nowhere"}}}`,
			same(`{"type":"object","properties":{"a":{},"b":{}}}`)},
		{"alternatives at the top", `{"type":"object","properties":{"id":{"type":"string"}},"required":["id"],"oneOf":[
			{"properties":{"a":{"type":"string"},"k":{"type":"string"}},"required":["a","k"]},
			{"properties":{"b":{"type":"string"},"k":{"type":"string"}},"required":["b","k"]}]}`,
			same(`{"type":"object","properties":{"id":{"type":"string"},"a":{"type":"string"},"k":{"type":"string"},"b":{"type":"string"}},"required":["id","k"]}`)},
		{"one of two is required", `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"additionalProperties":false,"anyOf":[{"required":["a"]},{"required":["b"]}]}`,
			map[Provider]string{
				Anthropic: `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"additionalProperties":false}`,
				OpenAI:    `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"additionalProperties":false}`,
				Gemini:    `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}`,
			}},
		{"allOf at the top", `{"allOf":[{"type":"object","properties":{"a":{"type":"string"}}},{"required":["a"]}]}`,
			same(`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`)},
		{"a property of several kinds", `{"anyOf":[{"properties":{"k":{"const":"x"}}},{"properties":{"k":{"const":"y"}}}]}`,
			map[Provider]string{
				Anthropic: `{"type":"object","properties":{"k":{"anyOf":[{"const":"x"},{"const":"y"}]}}}`,
				OpenAI:    `{"type":"object","properties":{"k":{"anyOf":[{"const":"x"},{"const":"y"}]}}}`,
				Gemini:    `{"type":"object","properties":{"k":{"anyOf":[{"enum":["x"],"type":"string"},{"enum":["y"],"type":"string"}]}}}`,
			}},
		{"optional", `{"properties":{"a":{"anyOf":[{"type":"string","format":"uri"},{"type":"null"}],"default":null},"b":{"type":["integer","null"]}}}`,
			map[Provider]string{
				Anthropic: `{"type":"object","properties":{"a":{"anyOf":[{"type":"string","format":"uri"},{"type":"null"}],"default":null},"b":{"type":["integer","null"]}}}`,
				OpenAI:    `{"type":"object","properties":{"a":{"anyOf":[{"type":"string","format":"uri"},{"type":"null"}],"default":null},"b":{"type":["integer","null"]}}}`,
				Gemini:    `{"type":"object","properties":{"a":{"type":"string","nullable":true},"b":{"type":"integer","nullable":true}}}`,
			}},
		{"several types", `{"properties":{"a":{"type":["string","array"],"items":{"type":"string"},"minLength":1,"description":"d"}}}`,
			map[Provider]string{
				Anthropic: `{"type":"object","properties":{"a":{"type":["string","array"],"items":{"type":"string"},"minLength":1,"description":"d"}}}`,
				OpenAI:    `{"type":"object","properties":{"a":{"type":["string","array"],"items":{"type":"string"},"minLength":1,"description":"d"}}}`,
				Gemini:    `{"type":"object","properties":{"a":{"anyOf":[{"type":"string","minLength":1,"description":"d"},{"type":"array","items":{"type":"string"}}]}}}`,
			}},
		{"arrays", `{"properties":{"a":{"type":"array"},"b":{"type":"array","items":[{"type":"string"},{"type":"integer"}]},"c":{"type":["array","null"]}}}`,
			map[Provider]string{
				Anthropic: `{"type":"object","properties":{"a":{"type":"array"},"b":{"type":"array","prefixItems":[{"type":"string"},{"type":"integer"}]},"c":{"type":["array","null"]}}}`,
				OpenAI:    `{"type":"object","properties":{"a":{"type":"array","items":{}},"b":{"type":"array","items":{"anyOf":[{"type":"string"},{"type":"integer"}]}},"c":{"type":["array","null"],"items":{}}}}`,
				Gemini:    `{"type":"object","properties":{"a":{"type":"array","items":{}},"b":{"type":"array","items":{"anyOf":[{"type":"string"},{"type":"integer"}]}},"c":{"type":"array","items":{},"nullable":true}}}`,
			}},
		{"enums", `{"properties":{"a":{"enum":["x","y"]},"b":{"enum":[1,2],"type":"integer","description":"n"},"c":{"enum":["x",null]},"d":{"enum":["","x"],"type":"string"}}}`,
			map[Provider]string{
				Anthropic: `{"type":"object","properties":{"a":{"enum":["x","y"]},"b":{"enum":[1,2],"type":"integer","description":"n"},"c":{"enum":["x",null]},"d":{"enum":["","x"],"type":"string"}}}`,
				OpenAI:    `{"type":"object","properties":{"a":{"enum":["x","y"]},"b":{"enum":[1,2],"type":"integer","description":"n"},"c":{"enum":["x",null]},"d":{"enum":["","x"],"type":"string"}}}`,
				Gemini:    `{"type":"object","properties":{"a":{"enum":["x","y"],"type":"string"},"b":{"type":"integer","description":"n Allowed: [1,2]."},"c":{"enum":["x"],"type":"string","nullable":true},"d":{"type":"string","description":"Allowed: [\"\",\"x\"]."}}}`,
			}},
		{"numbers and formats", `{"properties":{"a":{"type":"integer","exclusiveMinimum":0,"maximum":9},"b":{"type":"string","format":"date-time"},"c":{"type":"string","format":"email"}}}`,
			map[Provider]string{
				Anthropic: `{"type":"object","properties":{"a":{"type":"integer","exclusiveMinimum":0,"maximum":9},"b":{"type":"string","format":"date-time"},"c":{"type":"string","format":"email"}}}`,
				OpenAI:    `{"type":"object","properties":{"a":{"type":"integer","exclusiveMinimum":0,"maximum":9},"b":{"type":"string","format":"date-time"},"c":{"type":"string","format":"email"}}}`,
				Gemini:    `{"type":"object","properties":{"a":{"type":"integer","maximum":9},"b":{"type":"string","format":"date-time"},"c":{"type":"string"}}}`,
			}},
		{"conditions", `{"properties":{"a":{"type":"string"}},"if":{"required":["a"]},"then":{"required":["b"]},"not":{"required":["z"]}}`,
			map[Provider]string{
				Anthropic: `{"type":"object","properties":{"a":{"type":"string"}},"if":{"required":["a"]},"then":{"required":["b"]},"not":{"required":["z"]}}`,
				OpenAI:    `{"type":"object","properties":{"a":{"type":"string"}}}`,
				Gemini:    `{"type":"object","properties":{"a":{"type":"string"}}}`,
			}},
		{"values of a wrong kind", `{"type":"object","properties":{"a":{"type":"any","minLength":"3","enum":7,"required":true}},"required":"a","description":[]}`,
			same(`{"type":"object","properties":{"a":{}}}`)},
		{"a member twice, the last counts", `{"type":"string","type":"object","properties":{"a":{"type":"string","type":"integer"}}}`,
			same(`{"type":"object","properties":{"a":{"type":"integer"}}}`)},
		{"names in required that are no properties", `{"properties":{"a":{"type":"string"}},"required":["a","b"]}`,
			map[Provider]string{
				Anthropic: `{"type":"object","properties":{"a":{"type":"string"}},"required":["a","b"]}`,
				OpenAI:    `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`,
				Gemini:    `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`,
			}},
		{"names of arguments", `{"properties":{"filter[id]":{"type":"string"},"a.b-c":{"type":"string"}}}`,
			map[Provider]string{
				Anthropic: `{"type":"object","properties":{"a.b-c":{"type":"string"}}}`,
				OpenAI:    `{"type":"object","properties":{"filter[id]":{"type":"string"},"a.b-c":{"type":"string"}}}`,
				Gemini:    `{"type":"object","properties":{"filter[id]":{"type":"string"},"a.b-c":{"type":"string"}}}`,
			}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, p := range providers {
				got, changes := fitted(t, p, test.input)
				if diff := cmp.Diff(test.want[p], got); diff != "" {
					t.Errorf("%s: (-want +got)\n%s\n%v", p, diff, changes)
				}
				if again, more := fitted(t, p, got); again != got {
					t.Errorf("%s: once more gives %s, %v", p, again, more)
				}
			}
		})
	}
}

func TestFitSetsAside(t *testing.T) {
	for input, want := range map[string]string{
		`{"type":"string"}`:                                         "takes no object",
		`{"type":["array","null"]}`:                                 "takes no object",
		`{"anyOf":[{"type":"string"}, false]}`:                      "takes no object",
		`{"oneOf":[{"type":"string"},{"type":"array","items":{}}]}`: "none of the alternatives",
		`[]`:       "no JSON object",
		`{"type":`: "no JSON object",
		``:         "no JSON object",
		`{"a":"` + strings.Repeat("x", bounds.SchemaBytes) + `"}`: "256 KiB",
	} {
		for _, p := range providers {
			if out, _, err := Fit(p, json.RawMessage(input)); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s, %.60s: %s, %v; want %s", p, input, out, err, want)
			}
		}
	}
	if _, _, err := Fit("mistral", json.RawMessage(`{}`)); err == nil {
		t.Error("an unknown provider is taken")
	}
	required := json.RawMessage(`{"properties":{"$top":{"type":"integer"}},"required":["$top"]}`)
	if _, _, err := Fit(Anthropic, required); err == nil || !strings.Contains(err.Error(), "$top") {
		t.Error(err)
	}
}

func TestFitSaysWhatItChanged(t *testing.T) {
	const input = `{"properties":{"a":{"$ref":"#/$defs/A"},"b":{"oneOf":[{"type":"string"},{"type":"integer"}]}},
		"$defs":{"A":{"type":"string","x-hint":1}},"not":{"required":["a"]}}`
	_, changes := fitted(t, OpenAI, input)
	want := []Change{
		{"/properties/b", "oneOf told as anyOf"},
		{"", "not dropped"},
		{"", "references are written out where they are used"},
		{"/properties/a", "x-hint dropped"},
	}
	less := func(a, b Change) int { return strings.Compare(a.At+a.What, b.At+b.What) }
	slices.SortFunc(want, less)
	slices.SortFunc(changes, less)
	if diff := cmp.Diff(want, changes); diff != "" {
		t.Error(diff)
	}
	var b strings.Builder
	b.WriteString(`{"properties":{`)
	for i := range 200 {
		fmt.Fprintf(&b, `%q:{"\u202ex%s":1},`, fmt.Sprint("a", i), strings.Repeat("y", 5000/(i+1)))
	}
	b.WriteString(`"z":{}}}`)
	if _, changes = fitted(t, OpenAI, b.String()); len(changes) != bounds.FitChanges+1 {
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
			for _, p := range []Provider{Anthropic, OpenAI} { // Gemini's form is no JSON Schema
				out, _ := fitted(t, p, test.schema)
				accepts(t, out, valid)
			}
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
		"deep items":        strings.Repeat(`{"items":`, 5_000) + `{}` + strings.Repeat(`}`, 5_000),
		"deep default":      `{"properties":{"a":{"default":` + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000) + `}}}`,
		"wide":              wide(`{"properties":{`, `"a#N":{}`, `}}`),
		"illegal names":     wide(`{"properties":{`, `"[#N":{}`, `}}`),
		"alternatives":      wide(`{"oneOf":[`, `{"properties":{"a":{"const":1#N}},"required":["a","b","c","d"]}`, `]}`),
		"required":          wide(`{"anyOf":[{},{}],"required":[`, `"a#N"`, `]}`),
		"required twice":    wide(`{"anyOf":[{"$ref":"#/$defs/r"},{"$ref":"#/$defs/r"}],"$defs":{"r":{"required":[`, `"a#N"`, `]}}}`),
		"many references":   wide(`{"$defs":{"a":{"type":"string"}},"properties":{`, `"a#N":{"$ref":"#/$defs/a"}`, `}}`),
		"long pointers":     wide(`{"properties":{`, `"a#N":{"$ref":"#/properties/a#N/properties/a/b/c/d"}`, `}}`),
		"large reference":   wide(`{"properties":{"a":{"$ref":"#/$defs/a"},"b":{"$ref":"#/$defs/a"},"c":{"$ref":"#/$defs/a"}},"$defs":{"a":{"properties":{`, `"a#N":{}`, `}}}}`),
		"two circles":       `{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"}`,
		"the top in itself": `{"properties":{"a":{"$ref":"#"},"b":{"$ref":"#"}},"anyOf":[{"$ref":"#"},{"$ref":"#"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			for _, p := range providers {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				out, _, err := Fit(p, json.RawMessage(input))
				runtime.ReadMemStats(&after)
				allocated := after.TotalAlloc - before.TotalAlloc
				if err != nil {
					t.Fatalf("%s: set aside: %v", p, err)
				}
				for _, what := range refusals(p, out) {
					t.Errorf("%s would refuse %.200s: %s", p, out, what)
				}
				if len(out) > 3*bounds.SchemaBytes || allocated > 16<<20 {
					t.Errorf("%s: %d bytes of %d, with %d KiB allocated", p, len(out), len(input), allocated>>10)
				}
			}
		})
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
		for _, p := range providers {
			out, changes, err := Fit(p, json.RawMessage(input))
			if err != nil {
				continue
			}
			if len(changes) > bounds.FitChanges+1 || len(out) > len(input)*12+8*bounds.FitBytes {
				t.Errorf("%d changes, %d bytes of %d", len(changes), len(out), len(input))
			}
			for _, what := range refusals(p, out) {
				t.Errorf("%s would refuse %s, made of %s: %s", p, out, input, what)
			}
		}
	})
}
