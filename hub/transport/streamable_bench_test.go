package transport

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
)

// echoTool answers any request with JSON, as cheaply as possible.
func echoTool(w http.ResponseWriter, r *http.Request) {
	var buf [512]byte
	n, _ := io.ReadFull(r.Body, buf[:])
	_, rest, _ := bytes.Cut(buf[:n], []byte(`"id":`))
	id, _, _ := bytes.Cut(rest, []byte{','})
	w.Header()["Content-Type"] = jsonType
	out := append(append([]byte(`{"jsonrpc":"2.0","id":`), id...),
		`,"result":{"content":[{"type":"text","text":"hello, world"}],"isError":false}}`...)
	w.Header()["Content-Length"] = []string{strconv.Itoa(len(out))}
	_, _ = w.Write(out)
}

func callBody(id string) []byte {
	return []byte(`{"jsonrpc":"2.0","id":` + id +
		`,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hello, world"}}}`)
}

// BenchmarkStreamable compares a call with what a bare net/http POST loop costs, one at a time and 64 at once.
func BenchmarkStreamable(b *testing.B) {
	srv := httptest.NewServer(http.HandlerFunc(echoTool))
	defer srv.Close()
	for _, width := range []int{1, 64} {
		b.Run("floor/"+strconv.Itoa(width), func(b *testing.B) {
			rt := newRoundTripper()
			defer rt.close()
			client := &http.Client{Transport: rt}
			b.ReportAllocs()
			var loops sync.WaitGroup
			ids := make(chan int, width)
			for range width {
				loops.Go(func() {
					for id := range ids {
						req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, srv.URL,
							bytes.NewReader(callBody(strconv.Itoa(id))))
						if err != nil {
							b.Error(err)
							return
						}
						req.Header.Set("Content-Type", "application/json")
						req.Header.Set("Accept", "application/json, text/event-stream")
						resp, err := client.Do(req)
						if err != nil {
							b.Error(err)
							return
						}
						_, _ = io.ReadAll(resp.Body)
						_ = resp.Body.Close()
					}
				})
			}
			for id := range b.N {
				ids <- id
			}
			close(ids)
			loops.Wait()
		})
		b.Run("engine/"+strconv.Itoa(width), func(b *testing.B) {
			s := NewStreamable(HTTPOptions{URL: srv.URL})
			defer func() { _ = s.Close() }()
			s.Speak(true, "2026-07-28")
			b.ReportAllocs()
			sent := 0
			send := func() {
				if sent < b.N {
					id := strconv.Itoa(sent)
					s.Send(Message{ID: id, Method: "tools/call", Name: "echo", Body: callBody(id)})
					sent++
				}
			}
			for range width {
				send()
			}
			for range b.N {
				if r, err := s.Receive(); err != nil || r.FailedID != "" {
					b.Fatal(r.Err, err)
				}
				send()
			}
		})
	}
}
