package jsonrpc

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// scanSeeds are texts at the edges of JSON.
var scanSeeds = []string{
	``, ` `, `{`, `}`, `{}`, ` { } `, `[]`, `[ ]`, `[1,]`, `[,1]`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{,}`, `{"a":1 "b":2}`, `{"a":1}}`, `[[[[]]]]`, `[{}]`, `{"a":[}`,
	`0`, `-0`, `-`, `01`, `1.`, `.1`, `1.0`, `1e`, `1e+`, `1E+5`, `1e5.0`, `-1.5e-7`, `--1`, `+1`, `0x1`, `1 2`,
	`"`, `""`, `"a`, `"\"`, `"\\"`, `"\u12"`, `"\u12g4"`, `"\u00e9\ud800"`, `"\x"`, "\"\x1f\"", "\"\x7f\xff\xfe\"", "\"12345678\"", "\"1234567\\n12345678\"", "\"\x00\"",
	`true`, `tru`, `truex`, `false`, `null`, `nul`, `None`, `NaN`, "\ufeff{}", "{}\n", "\t{}\r",
	`{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":[1,{"y":null}]},"result":"r","error":{"code":1}}`,
	`{"id":1,"id":2,"\u0069d":3,"ID":4,"i\/d":5}`, `{"":1,"id":"é` + "\xff" + `"}`, `{"id":1}{"id":2}`,
}

func FuzzScan(f *testing.F) {
	for _, s := range scanSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(checkScan)
}

// checkScan compares the scanner with encoding/json.
func checkScan(t *testing.T, text []byte) {
	valid := json.Valid(text)
	if got := validJSON(text); got != valid {
		t.Fatalf("validJSON(%.200q) = %v", text, got)
	}
	var s scanner
	var env envelope
	kind := s.message(text, &env)
	var members map[string]json.RawMessage
	if valid && bytes.HasPrefix(bytes.TrimSpace(text), []byte{'{'}) {
		if err := json.Unmarshal(text, &members); err != nil {
			t.Fatal(err)
		}
		if kind != kindObject {
			t.Fatalf("kind %v of %.200q", kind, text)
		}
	} else if kind == kindObject {
		t.Fatalf("%.200q is taken for an object", text)
	}
	if wantArray := valid && bytes.HasPrefix(bytes.TrimSpace(text), []byte{'['}); (kind == kindArray) != wantArray {
		t.Fatalf("kind %v of %.200q", kind, text)
	}
	if kind == kindObject {
		for name, got := range map[string][]byte{
			"jsonrpc": env.version, "id": env.id, "method": env.method, "params": env.params, "result": env.result, "error": env.err,
		} {
			if want := members[name]; (want == nil) != (got == nil) || !bytes.Equal(want, got) {
				t.Fatalf("%s of %.200q: %q, want %q", name, text, got, want)
			}
		}
		if end := s.object(text, 0, func(name, value []byte) {
			if !json.Valid(value) {
				t.Fatalf("member %q of %.200q: %q", name, text, value)
			}
		}); end < 0 {
			t.Fatalf("object(%.200q) failed", text)
		}
	}
	if kind == kindArray {
		var want []json.RawMessage
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		var got [][]byte
		s.elements(text, func(value []byte) { got = append(got, value) })
		if len(got) != len(want) {
			t.Fatalf("%d elements of %.200q, want %d", len(got), text, len(want))
		}
		for i := range got {
			if !bytes.Equal(got[i], want[i]) {
				t.Fatalf("element %d of %.200q: %q, want %q", i, text, got[i], want[i])
			}
		}
	}
	if isIDToken(text) != (valid && len(text) > 0 && (text[0] == '"' || text[0] == '-' || text[0] >= '0' && text[0] <= '9') && len(bytes.TrimSpace(text)) == len(text)) {
		t.Fatalf("isIDToken(%.200q) = %v", text, isIDToken(text))
	}
}

func TestScanDepth(t *testing.T) {
	for _, depth := range []int{9998, 9999, 10000, 10001} {
		for _, pair := range []string{`[]`, `{}`} {
			inner := strings.Repeat("[", depth-1) + pair + strings.Repeat("]", depth-1)
			checkScan(t, []byte(inner))
			checkScan(t, []byte(`{"params":`+inner+`}`))
			checkScan(t, []byte(strings.Repeat(`{"a":`, depth)+`1`+strings.Repeat(`}`, depth)))
		}
	}
}

// Every byte, in every position of the eight that are looked at together, and after an escape.
func TestScanStringBytes(t *testing.T) {
	for c := range 256 {
		for at := range 17 {
			text := []byte(`"` + strings.Repeat("x", at) + string([]byte{byte(c)}) + strings.Repeat("\xf0", 16-at) + `"`)
			checkScan(t, text)
			checkScan(t, append([]byte(`"\n`), text[1:]...))
		}
		checkScan(t, []byte{'"', '\\', byte(c), '"'})
		checkScan(t, []byte{'"', '\\', 'u', '0', byte(c), 'a', 'F', '"'})
	}
}

func TestAppendString(t *testing.T) {
	for _, s := range []string{"", "plain", `"\`, "\x00\x1f\n\t\r\x7f", "é€😀", "a\xffb\xc3", "\u2028</script>"} {
		var got string
		if err := json.Unmarshal(appendString(nil, s), &got); err != nil || got != strings.ToValidUTF8(s, "\ufffd") {
			t.Errorf("%q became %q, %v", s, got, err)
		}
	}
}

func TestBoundedReason(t *testing.T) {
	for s, want := range map[string]string{
		"":                               "",
		"user pressed stop é":            "user pressed stop é",
		"a\nb\x1b[31m\u202e\xff":         `a\u000ab\u001b[31m\u202e` + "\ufffd",
		"\U000e0001":                     `\U000e0001`,
		strings.Repeat("é", 256):         strings.Repeat("é", 256),
		strings.Repeat("é", 257):         strings.Repeat("é", 256) + "…",
		strings.Repeat("x", 1000) + "\n": strings.Repeat("x", 256) + "…",
	} {
		if got := boundedReason(s); got != want {
			t.Errorf("%.40q became %.40q", s, got)
		}
	}
}

// The ring forgets the oldest, and knows the newest.
func TestTombstones(t *testing.T) {
	var r tombstones
	for i := range int64(3 * maxTombstones) {
		r.add(IntID(i), grave{method: "m", quiet: i%2 == 0})
	}
	if len(r.known) != maxTombstones || len(r.ring) != maxTombstones {
		t.Errorf("%d known, %d in the ring", len(r.known), len(r.ring))
	}
	for i, want := range map[int64]bool{0: false, 2*maxTombstones - 1: false, 2 * maxTombstones: true, 3*maxTombstones - 1: true} {
		if g, known := r.has([]byte(IntID(i).raw)); known != want || g.quiet != (want && i%2 == 0) {
			t.Errorf("id %d: known %t, quiet %t", i, known, g.quiet)
		}
	}
}

func TestOversizeExcerpts(t *testing.T) {
	for head, want := range map[string]string{
		`{"jsonrpc":"2.0","id":7,"result":{"a`:      `7`,
		`{"result":{},"id":"x\"y","z":`:             `"x\"y"`,
		`{"id":12`:                                  ``, // may go on
		`{"id":7,"method":"m","params":"`:           `7 method`,
		`{"\u006dethod":"m","id":7,"params":"`:      `7 method`,
		"\ufeff {\"id\":7}":                         `7`,
		`{"result":{"id":7`:                         ``,
		`{"id":null,"result":`:                      ``,
		`[{"id":7,"result":`:                        ``,
		``:                                          ``,
		`{"params":{"method":1},"id":7,"result":{"`: `7`,
	} {
		id, method := headMembers([]byte(head))
		got := id.raw
		if method {
			got += " method"
		}
		if got != want {
			t.Errorf("head %q: %q, want %q", head, got, want)
		}
	}
	for tail, want := range map[string]string{
		`xx"}]},"id":7}`:                         `7`,
		`xx"}]},"id":7,"jsonrpc":"2.0"}` + " \r": `7`,
		`xx"}]}, "id" : "a" }`:                   `"a"`,
		`xx"}]},"a":{"id":7}}`:                   ``,
		`xx\"id\":7}`:                            ``,
		`"id":7}`:                                ``, // what was before it is unknown
		`x,"id":7`:                               ``,
		`x,"id":{}}`:                             ``,
		`x,"id":7,"a":1,"b":2}`:                  ``,
		`x,"id"`:                                 ``,
		`x`:                                      ``,
	} {
		if got := tailID([]byte(tail)).raw; got != want {
			t.Errorf("tail %q: %q, want %q", tail, got, want)
		}
	}
}

// A cancel that comes between the registration of a call and its queueing leaves no trace either.
func TestFrameRemovedBeforeItIsQueued(t *testing.T) {
	b := newOutbox(NewLineConn(nil, nil, LineConnOptions{}), Options{WriteQueueBytes: 100}, nil, nil, nil)
	f := newFrame([]byte("{}"))
	if !b.remove(f) {
		t.Error("not removed")
	}
	if err := b.push(f, bounded, OutgoingMessage{}); err != nil || b.owned || b.head != nil || f.state != frameDropped {
		t.Errorf("queued after all: %v", err)
	}
}

// The same where messages are handed over: nothing is sent for a request that is over.
func TestFrameRemovedBeforeItIsHandedOver(t *testing.T) {
	sent := 0
	b := newOutbox(countingSender{sent: &sent}, Options{}, nil, nil, nil)
	f := newFrame([]byte("{}"))
	if !b.remove(f) {
		t.Error("not removed")
	}
	if err := b.push(f, bounded, OutgoingMessage{}); err != nil || sent != 0 {
		t.Errorf("%d sent, %v", sent, err)
	}
	if err := b.push(newFrame([]byte("{}")), bounded, OutgoingMessage{}); err != nil || sent != 1 {
		t.Errorf("%d sent, %v", sent, err)
	}
}

// countingSender is a connection of which only Send is used.
type countingSender struct {
	Conn
	sent *int
}

func (c countingSender) Send(OutgoingMessage) error {
	*c.sent++
	return nil
}
