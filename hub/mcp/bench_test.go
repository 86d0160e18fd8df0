package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"testing"
)

// BenchmarkCallTool makes one call after the other over in-memory pipes, with a server that does next to nothing: it
// measures what a session adds to its peer.
func BenchmarkCallTool(b *testing.B) {
	link, fromClient, toClient := wire()
	go func() {
		in := bufio.NewReader(fromClient)
		var out []byte
		for {
			line, err := in.ReadSlice('\n')
			if err != nil {
				return
			}
			id := member(line, "id")
			if id == nil {
				continue
			}
			out = append(append(append(out[:0], `{"jsonrpc":"2.0","id":`...), id...), `,"result":`...)
			if bytes.Contains(line, []byte(`"initialize"`)) {
				out = append(out, `{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"x","version":"1"}}`...)
			} else {
				out = append(out, `{"content":[{"type":"text","text":"ok"}]}`...)
			}
			out = append(out, '}', '\n')
			toClient.Write(out)
		}
	}()
	s, err := Connect(context.Background(), Options{
		Server: "bench", Era: EraLegacy, Handler: &recorder{}, Open: func(context.Context) (*Link, error) {
			return link, nil
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close(nil)
	call := &CallRequest{Name: "echo", Arguments: json.RawMessage(`{"text":"hello"}`), OnProgress: func(Progress) {}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.CallTool(context.Background(), call); err != nil {
			b.Fatal(err)
		}
	}
}
