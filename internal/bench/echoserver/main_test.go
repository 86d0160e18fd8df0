package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestEcho: an id comes back unchanged, wherever it stands in the request. A notification, and a call of hang, get no
// answer.
func TestEcho(t *testing.T) {
	var out bytes.Buffer
	in := strings.Join([]string{
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"text":"x"}}}`,
		`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo"},"id":"a"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`,
		`{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"hang"}}`,
		`{"jsonrpc":"2.0","id":9,"method":"server/discover"}`,
	}, "\n") + "\n"
	if err := newServer(strings.NewReader(in), &out).serve(); err != nil {
		t.Fatal(err)
	}
	want := head + "7" + echoResult + head + `"a"` + echoResult + head +
		`9,"error":{"code":-32601,"message":"method not found"}}` + "\n"
	if got := out.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
