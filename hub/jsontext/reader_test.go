package jsontext

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// seeds are texts at the edges of JSON.
var seeds = []string{
	``, ` `, `{`, `}`, `{}`, ` { } `, `[]`, `[ ]`, `[1,]`, `[,1]`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{,}`, `{"a":1 "b":2}`,
	`{"a":1}}`, `[[[[]]]]`, `[{}]`, `{"a":[}`,
	`0`, `-0`, `-`, `01`, `1.`, `.1`, `1.0`, `1e`, `1e+`, `1E+5`, `1e5.0`, `-1.5e-7`, `--1`, `+1`, `0x1`, `1 2`,
	`"`, `""`, `"a`, `"\"`, `"\\"`, `"\u12"`, `"\u12g4"`, `"\u00e9\ud800"`, `"\x"`, "\"\x1f\"", "\"\x7f\xff\xfe\"",
	"\"12345678\"", "\"1234567\\n12345678\"", "\"\x00\"",
	`true`, `tru`, `truex`, `false`, `null`, `nul`, `None`, `NaN`, "\ufeff{}", "{}\n", "\t{}\r",
	`{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":[1,{"y":null}]},"result":"r","error":{"code":1}}`,
	`{"id":1,"id":2,"\u0069d":3,"ID":4,"i\/d":5}`, `{"":1,"id":"é` + "\xff" + `"}`, `{"id":1}{"id":2}`,
	`{"result":{"a":1,"\u0061":2," b ":[{}],"c":{"result":1}},"id":1}`, `{"result":{},"result":{"x":1}}`,
	`{"result":{"a":1,}}`, `{"result":{"a"}}`,
}

func FuzzReader(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(check)
}

// check compares the reader with encoding/json.
func check(t *testing.T, text []byte) {
	valid := json.Valid(text)
	if got := Valid(text); got != valid {
		t.Fatalf("Valid(%.200q) = %v", text, got)
	}
	trimmed := bytes.TrimSpace(text)
	startsWith := func(c byte) bool { return valid && len(trimmed) > 0 && trimmed[0] == c }
	if got, want := IsObject(text), startsWith('{'); got != want {
		t.Fatalf("IsObject(%.200q) = %v", text, got)
	}
	if got, want := IsID(text), valid && len(text) == len(trimmed) &&
		(text[0] == '"' || text[0] == '-' || text[0] >= '0' && text[0] <= '9'); got != want {
		t.Fatalf("IsID(%.200q) = %v", text, got)
	}
	if startsWith('"') {
		var want string
		if err := json.Unmarshal(text, &want); err != nil || String(trimmed) != want {
			t.Fatalf("String(%.200q) = %q, want %q, %v", text, String(trimmed), want, err)
		}
	}
	if !bytes.HasPrefix(text, byteOrderMark) {
		checkMessage(t, text, startsWith('{'), startsWith('['))
	}
	if startsWith('[') {
		var want, got []json.RawMessage
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		array := Elements(text, func(v json.RawMessage) bool {
			got = append(got, v)
			return true
		})
		same := array && len(got) == len(want)
		for i := range got {
			same = same && bytes.Equal(got[i], want[i])
		}
		if !same {
			t.Fatalf("elements of %.200q: %q, want %q", text, got, want)
		}
	}
	if valid {
		checkMembers(t, text, Members)
		_, twice := Repeated(text)
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		if twice != repeatedToken(t, d) {
			t.Fatalf("Repeated(%.200q) = %v", text, twice)
		}
	}
}

func checkMessage(t *testing.T, text []byte, object, array bool) {
	t.Helper()
	var r Reader
	var m Message
	kind := r.Message(text, &m)
	if want := map[bool]Kind{true: Single}[object] + map[bool]Kind{true: Array}[array]; kind != want {
		t.Fatalf("%.200q is of kind %v, want %v", text, kind, want)
	}
	var members map[string]json.RawMessage
	if object {
		if err := json.Unmarshal(text, &members); err != nil {
			t.Fatal(err)
		}
	}
	for name, got := range map[string][]byte{
		"jsonrpc": m.Version, "id": m.ID, "method": m.Method, "params": m.Params, "result": m.Result, "error": m.Error,
	} {
		if want := members[name]; (want == nil) != (got == nil) || !bytes.Equal(want, got) {
			t.Fatalf("%s of %.200q: %q, want %q", name, text, got, want)
		}
	}
	if m.Result != nil {
		checkMembers(t, m.Result, func(_ []byte, f func([]byte, json.RawMessage) bool) bool {
			return m.ResultObject(bytes.Clone(m.Result)).Members(f)
		})
	}
}

func checkMembers(t *testing.T, text []byte, members func([]byte, func([]byte, json.RawMessage) bool) bool) {
	t.Helper()
	var want map[string]json.RawMessage
	isMap := json.Unmarshal(text, &want) == nil && want != nil
	got := map[string]json.RawMessage{}
	if object := members(text, func(name []byte, v json.RawMessage) bool {
		got[string(name)] = v
		return true
	}); object != isMap {
		t.Fatalf("%.200q is an object: %v, want %v", text, object, isMap)
	}
	if len(got) != len(want) {
		t.Fatalf("%d members of %.200q, want %d", len(got), text, len(want))
	}
	for name := range got {
		if !bytes.Equal(got[name], want[name]) || !bytes.Equal(Get(text, name), want[name]) {
			t.Fatalf("%q of %.200q: %q, want %q", name, text, got[name], want[name])
		}
	}
}

// repeatedToken is Repeated by means of encoding/json.
func repeatedToken(t *testing.T, d *json.Decoder) bool {
	t.Helper()
	token, err := d.Token()
	if err != nil {
		t.Fatal(err)
	}
	opened, ok := token.(json.Delim)
	if !ok {
		return false
	}
	names, twice := map[string]bool{}, false
	for d.More() {
		if opened == '{' {
			name, err := d.Token()
			if err != nil {
				t.Fatal(err)
			}
			twice = twice || names[name.(string)]
			names[name.(string)] = true
		}
		twice = repeatedToken(t, d) || twice
	}
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	return twice
}

func TestDepth(t *testing.T) {
	for _, depth := range []int{9998, 9999, 10000, 10001} {
		for _, pair := range []string{`[]`, `{}`} {
			inner := strings.Repeat("[", depth-1) + pair + strings.Repeat("]", depth-1)
			for _, text := range []string{inner, `{"params":` + inner + `}`, `{"result":` + inner +
				`}`, strings.Repeat(`{"a":`, depth) + `1` + strings.Repeat(`}`, depth)} {
				if got, want := Valid([]byte(text)), json.Valid([]byte(text)); got != want {
					t.Errorf("%.20s... at %d is valid: %v, want %v", text, depth, got, want)
				}
			}
		}
	}
}

// Finding A8. The id of a message that is nested too deeply is found all the same.
func TestDeepMessage(t *testing.T) {
	deep := strings.Repeat(`{"a":[`, MaxDepth) + strings.Repeat(`]}`, MaxDepth)
	for text, want := range map[string]Kind{
		`{"jsonrpc":"2.0","id":7,"result":` + deep + `}`:                           Deep,
		`{"result":{"x":"]}","y":` + deep + `,"id":8},"id":7, "jsonrpc" : "2.0"} `: Deep,
		"\ufeff" + `{"id":7,"result":` + deep + `}`:                                Deep,
		`{"id":7,"result":` + deep + `]}`:                                          Invalid,
		`{"id":7,"result":` + deep:                                                 Invalid,
		`{"id":7,"result":` + strings.Repeat(`[`, 2*MaxDepth):                      Invalid,
		`{"id":7,"result":` + deep + `}{}`:                                         Invalid,
		`[{"id":7,"result":` + deep + `}]`:                                         Invalid,
		deep + `x`:                                                                 Invalid,
	} {
		var r Reader
		var m Message
		if kind := r.Message([]byte(text), &m); kind != want {
			t.Errorf("%.40q is of kind %v, want %v", text, kind, want)
		}
		if want == Deep && (string(m.ID) != "7" || m.Result == nil) {
			t.Errorf("%.40q: id %q", text, m.ID)
		}
	}
}

// Every byte, in every position of the eight that are looked at together, and after an escape.
func TestStringBytes(t *testing.T) {
	for c := range 256 {
		for at := range 17 {
			text := []byte(`"` + strings.Repeat("x", at) + string([]byte{byte(c)}) + strings.Repeat("\xf0", 16-at) + `"`)
			check(t, text)
			check(t, append([]byte(`"\n`), text[1:]...))
		}
		check(t, []byte{'"', '\\', byte(c), '"'})
		check(t, []byte{'"', '\\', 'u', '0', byte(c), 'a', 'F', '"'})
	}
}

// Finding A15. A large result is not walked again to find its members, and an object with very many is not indexed.
func TestLargeResultIsIndexed(t *testing.T) {
	var r Reader
	var m Message
	text := `{"id":1,"result":{"content":"` + strings.Repeat("x", indexed) + `","\u0069sError":true},"jsonrpc":"2.0"}`
	if kind := r.Message([]byte(text), &m); kind != Single || len(m.index) != 2 {
		t.Fatalf("kind %v, %d members in the index", kind, len(m.index))
	}
	o := m.ResultObject(bytes.Clone(m.Result))
	clear(m.Result) // a copy has the members in the same places
	if got := string(o.Get("isError")); got != "true" {
		t.Errorf("isError is %q", got)
	}
	if got := len(o.Get("content")); got != indexed+2 {
		t.Errorf("content has %d bytes", got)
	}
	many := `{"id":1,"result":{"a":1` + strings.Repeat(`,"a":1`, indexed) + `}}`
	if kind := r.Message([]byte(many), &m); kind != Single || m.index != nil || cap(r.places) > 2*maxPlaces {
		t.Errorf("kind %v, %d members in the index, room for %d", kind, len(m.index), cap(r.places))
	}
}

func TestRepeated(t *testing.T) {
	for text, want := range map[string]string{
		`{"url":1,"URL":2}`:                       "",
		`{"url":1,"\u0075rl":2}`:                  "url",
		`{"a":[{"b":{"c":1},"d":[{"c":1}]}]}`:     "",
		`[{"a":{"b":1,"c":{"b":2},"b":3}}]`:       "b",
		"{\"a\xff\":1,\"a\xfe\":2}":               "a\ufffd", // shown as the same
		`{"a":"a","b":"a","c":["a","a",{"a":1}]}`: "",
		`"a"`:         "",
		`{"":1,"":2}`: "",
	} {
		name, found := Repeated([]byte(text))
		if wantFound := want != "" || text == `{"":1,"":2}`; name != want || found != wantFound {
			t.Errorf("%s: %q, %v; want %q, %v", text, name, found, want, wantFound)
		}
	}
}

func BenchmarkMessage(b *testing.B) {
	escaped := strings.Repeat(`func main() {\n\tfmt.Println(\"hello, world\")\n}\n`, 1<<15)
	baseline := []byte(strings.Repeat("the quick brown fox ", 1<<16))
	b.Run("IndexByte", func(b *testing.B) {
		b.SetBytes(int64(len(baseline)))
		for b.Loop() {
			bytes.IndexByte(baseline, '"')
		}
	})
	for name, value := range map[string]string{
		"plain":     `"` + strings.Repeat("the quick brown fox ", 1<<16) + `"`,
		"escaped":   `"` + escaped + `"`,
		"structure": `[` + strings.Repeat(`{"id":12345,"name":"x","on":true,"at":[1.5,2,3]},`, 1<<15) + `0]`,
	} {
		b.Run(name, func(b *testing.B) {
			text := []byte(`{"jsonrpc":"2.0","id":7,"result":{"content":` + value + `}}`)
			b.SetBytes(int64(len(text)))
			var r Reader
			var m Message
			for b.Loop() {
				if r.Message(text, &m) != Single {
					b.Fatal("not read")
				}
			}
		})
	}
}

// A message costs no memory of its own: the engine reads every one of them this way.
func TestReadingAllocatesNothing(t *testing.T) {
	text := []byte(`{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"hi"}],"isError":false}}`)
	var r Reader
	var m Message
	broken := []byte(`{"` + strings.Repeat("x", 1<<20) + `":x}`)
	r.Message(text, &m) // the first makes the room for the places
	for name, f := range map[string]func(){
		"message": func() { r.Message(text, &m) },
		"broken":  func() { r.Message(broken, &m) }, // a server that sends such costs no more than the line that it fills
		"valid":   func() { Valid(text) },
		"member":  func() { Get(text, "id") },
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
