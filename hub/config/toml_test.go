package config

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2"
)

const codexTOML = `# what people have
model = "gpt"
[mcp_servers.docs]
command = "npx"
args = ["-y", # a comment, with ] and "
  'C:\x', """
two
lines""",]
env = { "API KEY" = "a\u00e9\"b", N.deep = 1_000 }
startup_timeout_sec = 1.5e1
enabled = true

[mcp_servers."with.dot".tools.read]
approval_mode = 'approve'
[[hooks]]
at = 1979-05-27T07:32:00Z
[[hooks]]
matrix = [[0x1F, -1_5], [], [0b11]]
`

func TestTOMLValues(t *testing.T) {
	doc, p := parseTOML("f", []byte("\xEF\xBB\xBF"+codexTOML))
	if p != nil {
		t.Fatal(p)
	}
	want := map[string]any{
		"model": "gpt",
		"mcp_servers": map[string]any{
			"docs": map[string]any{
				"command": "npx", "args": []any{"-y", `C:\x`, "two\nlines"},
				"env":                 map[string]any{"API KEY": `aé"b`, "N": map[string]any{"deep": "1000"}},
				"startup_timeout_sec": "1.5e1", "enabled": true,
			},
			"with.dot": map[string]any{"tools": map[string]any{"read": map[string]any{"approval_mode": "approve"}}},
		},
		"hooks": []any{map[string]any{"at": "1979-05-27T07:32:00Z"},
			map[string]any{"matrix": []any{[]any{"31", "-15"}, []any{}, []any{"3"}}}},
	}
	if diff := cmp.Diff(want, tomlPlain(t, doc.root)); diff != "" {
		t.Error(diff)
	}
	if _, p := parseTOML("f", nil); p != nil {
		t.Errorf("an empty file holds nothing, which is fine: %v", p)
	}
}

// tomlPlain turns a tree into maps, with numbers as they are spelled.
func tomlPlain(t testing.TB, v value) any {
	t.Helper()
	if s, ok := v.str(); ok {
		return s
	}
	if b, ok := v.boolean(); ok {
		return b
	}
	if n, ok := v.number(); ok {
		if !json.Valid([]byte(n)) {
			t.Fatalf("%q is no number of JSON", n)
		}
		return n
	}
	if members, ok := v.object(); ok {
		out := map[string]any{}
		for _, m := range members {
			out[m.name] = tomlPlain(t, m.value)
		}
		return out
	}
	elements, ok := v.array()
	if !ok {
		t.Fatalf("a value of no kind: %#v", v)
	}
	out := []any{}
	for _, e := range elements {
		out = append(out, tomlPlain(t, e))
	}
	return out
}

func TestTOMLPlaces(t *testing.T) {
	doc, p := parseTOML("f", []byte(codexTOML))
	if p != nil {
		t.Fatal(p)
	}
	got := map[string]string{}
	var walk func(at string, v value)
	place := func(offset int) string {
		line, column := doc.position(offset)
		return fmt.Sprintf("%d:%d", line, column)
	}
	walk = func(at string, v value) {
		got[at] = place(v.at())
		if members, ok := v.object(); ok {
			for _, m := range members {
				got[at+"/"+m.name+" key"] = place(m.at)
				walk(at+"/"+m.name, m.value)
			}
		}
		elements, _ := v.array()
		for i, e := range elements {
			walk(fmt.Sprintf("%s/%d", at, i), e)
		}
	}
	walk("", doc.root)
	for at, want := range map[string]string{
		"/model key": "2:1", "/model": "2:9",
		"/mcp_servers key": "3:2", "/mcp_servers/docs key": "3:14", "/mcp_servers/docs": "3:14",
		"/mcp_servers/docs/args": "5:8", "/mcp_servers/docs/args/0": "5:9", "/mcp_servers/docs/args/1": "6:3",
		"/mcp_servers/docs/args/2": "6:11",
		"/mcp_servers/docs/env":    "9:7", "/mcp_servers/docs/env/API KEY key": "9:9",
		"/mcp_servers/docs/env/API KEY":    "9:21",
		"/mcp_servers/docs/env/N/deep key": "9:37", "/mcp_servers/docs/env/N/deep": "9:44",
		"/mcp_servers/with.dot key": "13:14", "/mcp_servers/with.dot/tools/read key": "13:31",
		"/hooks/0": "15:3", "/hooks/1": "17:3", "/hooks/1/matrix": "18:10", "/hooks/1/matrix/0": "18:11",
		"/hooks/1/matrix/0/1": "18:18",
		"/hooks/1/matrix/1":   "18:25", "/hooks/1/matrix/2": "18:29", "/hooks/1/matrix/2/0": "18:30",
	} {
		if got[at] != want {
			t.Errorf("%s is at %s, want %s", at, got[at], want)
		}
	}
}

func TestTOMLProblems(t *testing.T) {
	deep := strings.Repeat("[", maxDepth+1)
	dotted := strings.Repeat("a.", maxDepth) + "a"
	for _, tt := range []struct{ name, text, place, message string }{
		{"no value", "a = \n", "1:5", "start of value"},
		{"double key", "a = 1\nb = 2\na = 3\n", "3:1", "already"},
		{"double key, quoted", "é = 1", "1:1", "start of key"},
		{"double table", "[a]\n[b]\n  [a]\n", "3:4", "already"},
		{"double in inline", "x = {k = 1, k = 2}", "1:13", "already"},
		{"table over value", "a = 1\n[a.b]\n", "2:2", "not TOML"},
		{"dotted over value", "a = 1\na.b = 2\n", "2:1", "not TOML"},
		{"array over table", "[a]\n[[a]]\n", "2:3", "not TOML"},
		{"table over array", "a = [1]\n[[a]]\n", "2:3", "not TOML"},
		{"into inline", "a = {}\n[a.b]\n", "2:2", ""},
		{"infinity", "a = 1\nb = [1, -inf]\n", "2:9", "infinities"},
		{"nan", "b = nan\n", "1:5", "infinities"},
		{"impossible date", "b = 2024-13-01\n", "1:10", "date"},
		{"large", "b = 9223372036854775808\n", "1:5", "large"},
		{"large hex", "b = 0xFFFFFFFFFFFFFFFF\n", "1:5", "large"},
		{"large float", "b = 1e999\n", "1:5", "float"},
		{"unterminated", "a = 'x\nb = 1\n", "1:7", "new lines"},
		{"no unicode", "a = '\xff'\n", "1:6", "UTF-8"},
		{"incomplete array", "a = [1,", "1:7", "incomplete"},
		{"deep array", "a = " + deep, "1:5", ""},
		{"deep closed", "a = " + deep + strings.Repeat("]", maxDepth+1), "1:105", "100 levels"},
		{"deep key", dotted + " = 1", "1:1", "100 levels"},
		{"deep header", "[" + dotted + "]", "1:202", "100 levels"},
		{"deep together", "[" + strings.Repeat("a.", 59) + "a]\nx = {" + strings.Repeat("a.", 59) + "a = 1}", "2:6",
			"100 levels"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			doc, p := parseTOML("f", []byte(tt.text))
			if p == nil {
				t.Fatalf("accepted: %v", tomlPlain(t, doc.root))
			}
			if got := fmt.Sprintf("%d:%d", p.Line, p.Column); got != tt.place && tt.name != "deep array" {
				t.Errorf("at %s, want %s (%s)", got, tt.place, p)
			}
			if !p.Fatal || p.File != "f" || !strings.Contains(p.Message, tt.message) || strings.Contains(p.Message, "999") {
				t.Errorf("%+v", p)
			}
		})
	}
}

func FuzzTOML(f *testing.F) {
	for _, s := range []string{
		codexTOML, "", "a.b.c=1", "[a]\n[a.b]\n[[a.c]]\n[[a.c]]\nx=1\n[a.c.d]\n", "a=[{b=1},\n#x,]\n{c=[[]]}]",
		"a={b={},c=[],}", "\"\"='''x'''", "x=07:32:00\r\ny=1979-05-27",
		"a=1e6\nb=-0\nc=+0.0\nd=0b1", "[a]\n[a]", "[[a]]\n[a.b]\n[[a]]\n[a.b]", "x={a.b=1,a.c={d=2}}", "a=inf",
		"[a.b]\nc=1\n[a]\nd=2", "\xEF\xBB\xBFa=1",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, p := parseTOML("f", data)
		var want map[string]any
		err := toml.Unmarshal([]byte(strings.TrimPrefix(string(data), "\xEF\xBB\xBF")), &want)
		if p != nil {
			if p.Line < 1 || p.Column < 1 || p.Line > strings.Count(string(data), "\n")+1 || p.Message == "" {
				t.Fatalf("no place: %+v", p)
			}
			if err == nil && !strings.Contains(p.Message, "levels") && !strings.Contains(p.Message, "infinities") {
				t.Fatalf("refused what the decoder takes: %v", p)
			}
			return
		}
		if err != nil {
			t.Fatalf("took what the decoder refuses: %v", err)
		}
		tomlWithin(t, doc, doc.root)
		if diff := cmp.Diff(tomlSpelled(want), tomlPlain(t, doc.root)); diff != "" {
			if !tomlSame(tomlSpelled(want), tomlPlain(t, doc.root)) {
				t.Fatal(diff)
			}
		}
	})
}

// tomlWithin checks that every place is in the text, and that the place of a key is where the key begins.
func tomlWithin(t *testing.T, doc *document, v value) {
	if v.at() < 0 || v.at() > len(doc.text) {
		t.Fatalf("offset %d of %d", v.at(), len(doc.text))
	}
	members, _ := v.object()
	for _, m := range members {
		if m.at >= len(doc.text) {
			t.Fatalf("key offset %d of %d", m.at, len(doc.text))
		}
		if c := doc.text[m.at]; c != '"' && c != '\'' && !strings.HasPrefix(string(doc.text[m.at:]), m.name) {
			t.Fatalf("at %d is not %q", m.at, m.name)
		}
		tomlWithin(t, doc, m.value)
	}
	elements, ok := v.array()
	if len(doc.text) == 0 {
		return
	}
	if c := doc.text[min(v.at(), len(doc.text)-1):]; ok && c[0] != '[' && v.at() > 0 {
		// An array of tables begins at its name in the first header.
		if before := strings.LastIndexByte(string(doc.text[:v.at()]),
			'\n'); !strings.HasPrefix(strings.TrimLeft(string(doc.text[before+1:]), " \t"), "[[") {
			t.Fatalf("no array at %d", v.at())
		}
	}
	for _, e := range elements {
		tomlWithin(t, doc, e)
	}
	if s, ok := v.str(); ok {
		if q := doc.text[v.at()]; q != '"' && q != '\'' && !strings.HasPrefix(string(doc.text[v.at():]), s) {
			t.Fatalf("no string at %d", v.at())
		}
	}
}

// tomlSpelled turns what the decoder returns into the shape of tomlPlain.
func tomlSpelled(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			out[k] = tomlSpelled(e)
		}
		return out
	case []any:
		out := []any{}
		for _, e := range v {
			out = append(out, tomlSpelled(e))
		}
		return out
	case string, bool:
		return v
	}
	return tomlNumber{v}
}

// tomlNumber is what is compared by value: a number, or a date.
type tomlNumber struct{ v any }

func tomlSame(want, got any) bool {
	switch want := want.(type) {
	case map[string]any:
		other, ok := got.(map[string]any)
		if !ok || len(other) != len(want) {
			return false
		}
		for k := range want {
			if e, ok := other[k]; !ok || !tomlSame(want[k], e) {
				return false
			}
		}
		return true
	case []any:
		other, ok := got.([]any)
		if !ok || len(other) != len(want) {
			return false
		}
		for i := range want {
			if !tomlSame(want[i], other[i]) {
				return false
			}
		}
		return true
	case tomlNumber:
		text, ok := got.(string)
		if !ok {
			return false
		}
		switch n := want.v.(type) {
		case int64:
			return text == fmt.Sprint(n) || n == 0 && text == "-0"
		case float64:
			var f float64
			err := json.Unmarshal([]byte(text), &f)
			return err == nil && (f == n || math.IsNaN(n))
		case time.Time, toml.LocalDate, toml.LocalDateTime, toml.LocalTime:
			return text != ""
		}
		return false
	}
	return reflect.DeepEqual(want, got)
}
