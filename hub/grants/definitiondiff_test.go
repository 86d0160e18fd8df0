package grants

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mcphub-go/mcphub/hub/event"
)

func TestDefinitionDiff(t *testing.T) {
	for _, tc := range []struct {
		name, before, after string
		want                []event.DefinitionChange
	}{
		{"nothing", `{"a":[1,{"b":null}]}`, ` { "a" : [1, {"b":null} ] }`, nil},
		{"another order", `{"a":1,"b":2}`, `{"b":2,"a":1}`, nil},
		{"a text", `{"description":"reads"}`, `{"description":"reads <all>"}`,
			[]event.DefinitionChange{{Path: "description", Before: `"reads"`, After: `"reads <all>"`}}},
		{"deep", `{"inputSchema":{"properties":{"path":{"type":"string"}}}}`,
			`{"inputSchema":{"properties":{"path":{"type":"array"}}}}`,
			[]event.DefinitionChange{{Path: "inputSchema.properties.path.type", Before: `"string"`, After: `"array"`}}},
		{"in the order of the definition, what is gone last", `{"z":1,"gone":{"x":1},"a":1}`, `{"z":2,"new":[1],"a":2}`,
			[]event.DefinitionChange{{Path: "z", Before: "1", After: "2"}, {Path: "new", Before: "", After: "[1]"},
				{Path: "a", Before: "1", After: "2"}, {Path: "gone", Before: `{"x":1}`, After: ""}}},
		{"elements", `{"required":["a","b","c"]}`, `{"required":["a","x"]}`,
			[]event.DefinitionChange{{Path: "required[1]", Before: `"b"`, After: `"x"`},
				{Path: "required[2]", Before: `"c"`, After: ""}}},
		{"another type", `{"a":{"b":1}}`, `{"a":[1]}`, []event.DefinitionChange{{Path: "a", Before: `{"b":1}`,
			After: `[1]`}}},
		{"null is a value", `{"a":null}`, `{}`, []event.DefinitionChange{{Path: "a", Before: "null", After: ""}}},
		{"odd names", `{"p":{"a.b":1,"":1,"[0]":1,"\u202e":1,"ö":1}}`, `{"p":{"a.b":2,"":2,"[0]":2,"\u202e":2,"ö":2}}`,
			[]event.DefinitionChange{{Path: `p["a.b"]`, Before: "1", After: "2"}, {Path: `p[""]`, Before: "1", After: "2"},
				{Path: `p["[0]"]`, Before: "1", After: "2"}, {Path: `p["\u202e"]`, Before: "1", After: "2"},
				{Path: `p["ö"]`, Before: "1", After: "2"}}},
		{"a name that comes twice", `{"a":1,"a":2}`, `{"a":2}`, nil},
		{"numbers as spelled", `{"a":1.0}`, `{"a":1}`, []event.DefinitionChange{{Path: "a", Before: "1.0", After: "1"}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, definitionChanges(tc.before, tc.after)); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
}

// A server cannot flood a prompt by changing much, and what is left out is marked.
func TestDefinitionDiffIsBounded(t *testing.T) {
	object := func(value string) string {
		var members []string
		for i := range 1000 {
			members = append(members, fmt.Sprintf(`"m%d":%s`, i, value))
		}
		return "{" + strings.Join(members, ",") + "}"
	}
	list := definitionChanges(object("1"), object("2"))
	if len(list) != maxChanges || list[maxChanges-2].Path != "m198" ||
		list[maxChanges-1] != (event.DefinitionChange{Path: "...", Before: "", After: `"801 more changes"`}) {
		t.Errorf("%d changes, at the end %+v", len(list), list[max(0, len(list)-2):])
	}
	for name, long := range map[string]string{
		"text":     `"` + strings.Repeat("é", maxChangeValue) + `"`,
		"controls": `"` + strings.Repeat(`\u0000`, maxChangeValue) + `"`,
		"object":   object("1"),
		"number":   strings.Repeat("1", 2*maxChangeValue),
	} {
		list := definitionChanges(`{"`+strings.Repeat("k", 2*maxChangePath)+`":1}`, `{"`+strings.Repeat("k", 2*maxChangePath)+
			`":`+long+`}`)
		var text string
		if len(list) != 1 || len(list[0].After) > maxChangeValue || json.Unmarshal([]byte(list[0].After), &text) != nil ||
			!strings.HasSuffix(text, "bytes of JSON in all)") {
			t.Errorf("%s: %.200v", name, list)
		} else if len(list[0].Path) > maxChangePath+len("...") || !strings.HasSuffix(list[0].Path, "...") {
			t.Errorf("%s: a path of %d bytes", name, len(list[0].Path))
		}
	}
	deep := strings.Repeat("[", 100000) + strings.Repeat("]", 100000)
	for name, odd := range map[string]string{"no JSON": `{"a":`, "two values": `{} {}`, "large": `"` +
		strings.Repeat("x", maxDiffed) + `"`, "deep": deep, "nothing": ``} {
		if list := definitionChanges(`{}`, odd); list != nil {
			t.Errorf("%s: %.200v", name, list)
		}
		if list := toolChanges("h1", `{}`, "h2", odd); len(list) != 1 || list[0].Path != "" ||
			!strings.Contains(list[0].Before, "h1") || !strings.Contains(list[0].After, "h2") {
			t.Errorf("%s: nothing says that it has changed: %.200v", name, list)
		}
	}
}

// Whatever changed: the old definition with the changes carried out is the new one.
func TestDefinitionDiffProperty(t *testing.T) {
	for seed := range uint64(3000) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		before := anyValue(rnd, 0)
		after := mutated(rnd, before)
		if rnd.IntN(10) == 0 {
			after = anyValue(rnd, 0)
		}
		checkDiff(t, jsonText(t, before), jsonText(t, after))
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func FuzzDefinitionDiff(f *testing.F) {
	f.Add(`{"name":"a","inputSchema":{"required":["x"]}}`, `{"name":"a","inputSchema":{"required":["x","y"],"a.b":{}}}`)
	f.Add(`[1,2,3]`, `[]`)
	f.Add(`{"a":1,"a":2}`, `{"":{"\"]":1}}`)
	f.Fuzz(func(t *testing.T, before, after string) {
		if !json.Valid([]byte(before)) || !json.Valid([]byte(after)) {
			definitionChanges(before, after) // must not panic
			return
		}
		checkDiff(t, before, after)
	})
}

func checkDiff(t *testing.T, before, after string) {
	t.Helper()
	a, err := parseValue(before)
	if err != nil {
		return
	}
	b, err := parseValue(after)
	if err != nil {
		return
	}
	d := differences{limit: 1 << 30, valueLimit: 1 << 30, pathLimit: 1 << 30}
	d.between("", a, b)
	got := decoded(t, before)
	for _, c := range slices.Backward(d.list) { // from the end, so that elements that go leave the others at their places
		got = carriedOut(t, got, c.Path, c)
	}
	if want := decoded(t, after); !reflect.DeepEqual(got, want) {
		t.Errorf("before %s\nafter  %s\nchanges %+v\ngive   %s", before, after, d.list, jsonText(t, got))
	}
}

// carriedOut gives v with one change at path.
func carriedOut(t *testing.T, v any, path string, c event.DefinitionChange) any {
	t.Helper()
	if path == "" {
		return decoded(t, c.After)
	}
	key, index, rest := firstStep(t, path)
	gone := rest == "" && c.After == ""
	if key == nil {
		items := v.([]any)
		for index >= len(items) { // the ones between come later: changes are carried out from the end
			items = append(items, nil)
		}
		if gone {
			return items[:index]
		}
		items[index] = carriedOut(t, items[index], rest, c)
		return items
	}
	members := v.(map[string]any)
	if gone {
		delete(members, *key)
	} else {
		members[*key] = carriedOut(t, members[*key], rest, c)
	}
	return members
}

func firstStep(t *testing.T, path string) (key *string, index int, rest string) {
	t.Helper()
	path = strings.TrimPrefix(path, ".")
	switch {
	case strings.HasPrefix(path, `["`):
		quoted, err := strconv.QuotedPrefix(path[1:])
		if err != nil {
			t.Fatalf("path %q: %v", path, err)
		}
		name, err := strconv.Unquote(quoted)
		if err != nil {
			t.Fatalf("path %q: %v", path, err)
		}
		return &name, 0, path[len(quoted)+2:]
	case path[0] == '[':
		end := strings.IndexByte(path, ']')
		index, err := strconv.Atoi(path[1:end])
		if err != nil {
			t.Fatalf("path %q: %v", path, err)
		}
		return nil, index, path[end+1:]
	}
	end := strings.IndexAny(path, ".[")
	if end < 0 {
		end = len(path)
	}
	name := path[:end]
	return &name, 0, path[end:]
}

func anyValue(rnd *rand.Rand, depth int) any {
	kind := rnd.IntN(8)
	if depth == 0 {
		kind = 6
	} else if depth > 3 {
		kind = rnd.IntN(5)
	}
	switch kind {
	case 0:
		return nil
	case 1:
		return rnd.IntN(2) == 0
	case 2:
		return json.Number(strconv.Itoa(rnd.IntN(4)))
	case 3, 4:
		return []string{"", "a", "b", "<é>\n"}[rnd.IntN(4)]
	case 5:
		items := []any{}
		for range rnd.IntN(4) {
			items = append(items, anyValue(rnd, depth+1))
		}
		return items
	}
	members := map[string]any{}
	for range rnd.IntN(6) {
		members[anyName(rnd)] = anyValue(rnd, depth+1)
	}
	return members
}

func anyName(rnd *rand.Rand) string {
	return []string{"name", "description", "a.b", "", "[0]", `"`, `\`, "$ref", "x-y", "ü", "0", "\u202e", "a]",
		"\x00"}[rnd.IntN(14)]
}

// mutated gives v with a few changes somewhere.
func mutated(rnd *rand.Rand, v any) any {
	if rnd.IntN(12) == 0 {
		return anyValue(rnd, 1)
	}
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, item := range v {
			if rnd.IntN(8) > 0 {
				out[key] = mutated(rnd, item)
			}
		}
		if rnd.IntN(4) == 0 {
			out[anyName(rnd)] = anyValue(rnd, 2)
		}
		return out
	case []any:
		out := []any{}
		for _, item := range v {
			if rnd.IntN(8) > 0 {
				out = append(out, mutated(rnd, item))
			}
		}
		if rnd.IntN(4) == 0 {
			out = append(out, anyValue(rnd, 2))
		}
		return out
	}
	return v
}

func jsonText(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func decoded(t *testing.T, text string) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return v
}
