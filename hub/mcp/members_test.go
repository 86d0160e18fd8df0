package mcp

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// FuzzMembers compares eachMember, and the writing of strings, with encoding/json.
func FuzzMembers(f *testing.F) {
	for _, seed := range []string{
		`{}`, ` { "a" : 1 , "b":[{"c":"}"}], "\u0061":"\\\"", "" :null}`, `[]`, `"x"`, `{"a":{"a":{}},"d":-1.0E5,"e":true}`,
		`{"a":[[],[]] }`, "{\"\xbd\":1}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		text := string(raw)
		plain, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := stringOf(jsontext.AppendString(nil, text)), stringOf(plain); got != want {
			t.Errorf("string %q became %q, want %q", text, got, want)
		}
		if !json.Valid(raw) {
			return
		}
		var want map[string]json.RawMessage
		isMap := json.Unmarshal(raw, &want) == nil && want != nil
		got := map[string]json.RawMessage{}
		if object := eachMember(raw, func(name []byte, v json.RawMessage) bool {
			got[string(name)] = v
			return true
		}); object != isMap {
			t.Fatalf("%q: object %t, want %t", raw, object, isMap)
		}
		if isMap && !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %q, want %q", raw, got, want)
		}
		if isMap != isObject(raw) {
			t.Errorf("%q: isObject %t", raw, isObject(raw))
		}
	})
}
