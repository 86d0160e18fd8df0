package jsontext

import "testing"

// Finding A9. What cannot be told from the two ends of a message is not guessed.
func TestExcerpt(t *testing.T) {
	for _, test := range []struct{ head, tail, id string }{
		{`{"jsonrpc":"2.0","id":7,"result":{"a`, `x"}}`, `7`},
		{`{"jsonrpc":"2.0","result":{},"id":"x\"y","z":`, `x"}`, `"x\"y"`},
		{"\ufeff {\"id\":7,\"jsonrpc\":\"2.0\",\"error\":{", `x"}}`, `7`},
		{`{"result":{"a`, `xx"}]},"id":7,"jsonrpc":"2.0"}` + " \r", `7`},
		{`{"result":{"a`, `xx"}]},"jsonrpc":"2.0", "id" : "a" }`, `"a"`},
		{`{"jsonrpc":"2.0","result":{"a`, `xx"}]},"id":7}`, `7`},
		{`{"result":"`, `","jsonrpc":"2.0","id":7}`, `7`},

		{`{"jsonrpc":"2.0","result":{"a`, `xx`, ``},
		{`{"jsonrpc":"2.0","id":12`, `3456`, ``}, // may go on
		{`{"jsonrpc":"2.0","id":7,"method":"m","params":"`, `x"}`, ``},
		{`{"jsonrpc":"2.0","id":7,"params":"`, `x","\u006dethod":"m"}`, ``},
		{`{"jsonrpc":"2.0","params":{"level":"info","data":"`, `x"},"method":"notifications/message"}`, ``},
		{`{"jsonrpc":"2.0","result":{"id":7`, `x"}}`, ``},
		{`{"jsonrpc":"2.0","id":null,"result":"`, `x"}`, ``},
		{`[{"jsonrpc":"2.0","id":7,"result":{"`, `x"}}]`, ``},
		{`{"level":"info","id":7,"message":"`, `x"}`, ``}, // a log line in JSON
		{`{"level":"info","result":"`, `x","id":7}`, ``},
		{`DEBUG {"jsonrpc":"2.0","id":7,"result":"`, `","id":7}`, ``},
		{`DEBUG xxx`, `,"jsonrpc":"2.0","id":7}`, ``},
		{`{"jsonrpc":"2.0","result":"`, `xx"}]},"a":{"id":7}}`, ``},
		{`{"jsonrpc":"2.0","result":"`, `xx\"id\":7}`, ``},
		{`{"jsonrpc":"2.0","result":"`, `"id":7}`, ``}, // what was before it is unknown
		{`{"jsonrpc":"2.0","result":"`, `x,"id":{}}`, ``},
		{`{"jsonrpc":"2.0","result":"`, `x,"id"`, ``},
		{`{"jsonrpc":"2.0","result":"`, `x,"kind":"id"}`, ``},
		{``, ``, ``},
	} {
		o := excerpt([]byte(test.head), []byte(test.tail))
		got := ""
		if o.Answers() {
			got = string(o.ID)
		}
		if got != test.id {
			t.Errorf("%s ... %s answers %q, want %q (%+v)", test.head, test.tail, got, test.id, o)
		}
	}
}
