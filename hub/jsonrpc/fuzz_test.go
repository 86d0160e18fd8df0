package jsonrpc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
)

// lineSeeds are inputs of FuzzLines: what a server may write.
var lineSeeds = []string{
	"", "\n", "\r\n\r\n", "\ufeff\n{}\r\n", strings.Repeat("x", 500) + "\n1",
	`{"jsonrpc":"2.0","id":1,"result":{"a":1}}` + "\n" + `{"jsonrpc":"2.0","id":2,"error":{"code":1,"message":"x"}}` +
		"\n",
	ask("1", "ping") + "\n" + ask("1", "ping") + "\n" + withdraw("1", "x") + "\n" + ask(`"1"`, "ping"),
	`[` + ask("7", "ping") + `,` + answered("1", "{}") + `]` + "\n[]\n[1,{}]",
	`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}` + "\n" +
		note("notifications/progress", `{"progressToken":1}`),
	`{"jsonrpc":"2.0","id":1,"result":"` + strings.Repeat("y", 400) + `"}` + "\n" + `{"result":"` +
		strings.Repeat("y", 400) + `","id":2}`,
	`{"jsonrpc":"2.0","id":3,"method":"m","params":"` + strings.Repeat("y", 400) + `"}`,
}

// FuzzLines feeds a Peer arbitrary input. The Peer must end with its input, settle both of its calls, and write nothing
// but valid JSON.
func FuzzLines(f *testing.F) {
	for _, s := range lineSeeds {
		f.Add([]byte(s), true)
		f.Add([]byte(s), false)
	}
	f.Fuzz(func(t *testing.T, input []byte, batches bool) {
		var out bytes.Buffer
		begun := make(chan struct{})
		conn := jsonrpc.NewLineConn(io.MultiReader(gate{begun}, iotest.HalfReader(bytes.NewReader(input))), &out,
			jsonrpc.LineConnOptions{MaxLine: 300})
		p := jsonrpc.NewPeer(conn, jsonrpc.Options{
			HandleRequest: func(_ context.Context, r *jsonrpc.Request) (json.RawMessage, error) {
				if len(r.Params) > 0 && !json.Valid(r.Params) {
					t.Errorf("params %q", r.Params)
				}
				return r.Params, nil
			},
			HandleNotification:  func(*jsonrpc.Notification) {},
			Classify:            func(n *jsonrpc.Notification) (jsonrpc.Class, string) { return jsonrpc.Coalesce, n.Method },
			OnOutgoingCancelled: func(jsonrpc.ID, string) bool { return true },
			Batches:             func() bool { return batches },
		})
		first, err := p.Begin("a", nil)
		if err != nil {
			t.Fatal(err)
		}
		second, err := p.Begin("b", nil)
		if err != nil {
			t.Fatal(err)
		}
		close(begun)
		for _, c := range []*jsonrpc.Call{first, second} {
			if result, err := c.Wait(context.Background()); err == nil && !json.Valid(result) {
				t.Errorf("result %q", result)
			}
		}
		<-p.Done()
		if !errors.Is(p.Err(), io.EOF) {
			t.Errorf("ended with %v", p.Err())
		}
		for line := range bytes.Lines(out.Bytes()) {
			if !json.Valid(line) {
				t.Errorf("written %q", line)
			}
		}
	})
}

// gate is a reader without content: it returns io.EOF once its channel is closed.
type gate struct{ open chan struct{} }

func (g gate) Read([]byte) (int, error) {
	<-g.open
	return 0, io.EOF
}
