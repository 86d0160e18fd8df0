package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/protocol"
	"github.com/mcphub-go/mcphub/hub/transport"
)

const largeResult = 64 << 20

// largeTexts are results of nearly 64 MiB: a picture, a source file, rows.
func largeTexts() map[string]string {
	fill := func(part string) string { return strings.Repeat(part, (largeResult-4096)/len(part)) }
	return map[string]string{
		"picture": `{"content":[{"type":"image","mimeType":"image/png","data":"` + fill("iVBORw0KGgoAAAANSUhEUgAA") + `"}]}`,
		"source": `{"content":[{"type":"text","text":"` + fill(`func main() {\n\tfmt.Println(\"hello, world\")\n}\n\n`) +
			`"}],"isError":false}`,
		"rows": `{"structuredContent":{"rows":[` +
			strings.TrimSuffix(fill(`{"id":12345,"name":"Berlin","open":true,"at":[52.5,13.4]},`), ",") + `]},"content":[]}`,
	}
}

// BenchmarkLargeRead measures our own code alone, for stdio: the text is in memory and is read 64 KiB at a time, as
// from a pipe.
func BenchmarkLargeRead(b *testing.B) {
	for name, text := range largeTexts() {
		b.Run(name, func(b *testing.B) {
			line := `{"jsonrpc":"2.0","id":7,"result":` + text + "}\n"
			var r jsontext.Reader
			measured(b, len(line), func() {
				conn := jsonrpc.NewLineConn(pieces{strings.NewReader(line)}, io.Discard, jsonrpc.LineConnOptions{})
				msg, err := conn.ReadMessage(nil)
				var m jsontext.Message
				if err != nil || r.Message(msg.Text, &m) != jsontext.Single || string(m.ID) != "7" {
					b.Fatal(err)
				}
			})
		})
	}
}

// pieces reads at most as much as a pipe returns at once.
type pieces struct{ r io.Reader }

func (p pieces) Read(b []byte) (int, error) { return p.r.Read(b[:min(len(b), 64<<10)]) }

// measured runs f and reports its rate, by the clock and by the processor time of the process: other programs do not
// count in that.
func measured(b *testing.B, size int, f func()) {
	before := processorTime(b)
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		f()
	}
	b.ReportMetric(float64(size)*float64(b.N)/1e6/(processorTime(b)-before).Seconds(), "cpu-MB/s")
}

// BenchmarkLargeResult is a result of 64 MiB from the file descriptor to the caller of CallTool. Finding A15: our own
// code passes over it twice at most, to find its end and to read it, at 500 MB/s or more together; what the kernel
// takes for it over a pipe is measured beside it, as "floor".
func BenchmarkLargeResult(b *testing.B) {
	for name, text := range largeTexts() {
		b.Run("stdio/"+name, func(b *testing.B) { benchLarge(b, len(text), overPipe(text)) })
		b.Run("stdio/floor/"+name, func(b *testing.B) { benchFloor(b, text) })
		for _, stream := range []bool{false, true} {
			b.Run(fmt.Sprintf("http/stream=%v/%s", stream, name), func(b *testing.B) {
				benchLarge(b, len(text), overHTTP(b, text, stream))
			})
		}
	}
}

func benchLarge(b *testing.B, size int, open Opener) {
	s, err := Connect(context.Background(), Options{Era: EraLegacy, Open: open, Handler: &recorder{}})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close(nil)
	measured(b, size, func() {
		r, err := s.CallTool(context.Background(), &CallRequest{Name: "x"})
		if err != nil || len(r.Raw) != size {
			b.Fatalf("%v", err)
		}
	})
}

// benchFloor reads the same bytes from a pipe into one buffer, without parsing them.
func benchFloor(b *testing.B, text string) {
	r, w, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	next := make(chan struct{})
	defer close(next)
	go func() {
		for range next {
			_, _ = io.WriteString(w, text)
		}
	}()
	measured(b, len(text), func() {
		next <- struct{}{}
		if _, err := io.ReadFull(r, make([]byte, len(text))); err != nil {
			b.Fatal(err)
		}
	})
}

// idAndMethod returns the id and the method of a message from the client.
func idAndMethod(line []byte) (id json.RawMessage, method string) {
	id, method = member(line, "id"), stringOf(member(line, "method"))
	return id, method
}

func overPipe(text string) Opener {
	return func(context.Context) (*Link, error) {
		ourR, theirW, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		theirR, ourW, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		go func() {
			defer theirR.Close()
			defer theirW.Close()
			in := jsonrpc.NewLineConn(theirR, io.Discard, jsonrpc.LineConnOptions{})
			for {
				line, err := in.ReadMessage(nil)
				if err != nil {
					return
				}
				switch id, method := idAndMethod(line.Text); {
				case method == protocol.MethodInitialize:
					fmt.Fprintf(theirW, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id, legacyAnswer)
				case id != nil:
					fmt.Fprintf(theirW, `{"jsonrpc":"2.0","id":%s,"result":`, id)
					_, _ = io.WriteString(theirW, text)
					_, _ = io.WriteString(theirW, "}\n")
				}
			}
		}()
		return &Link{Conn: jsonrpc.NewLineConn(ourR, ourW, jsonrpc.LineConnOptions{})}, nil
	}
}

func overHTTP(b *testing.B, text string, stream bool) Opener {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		id, method := idAndMethod(body)
		switch {
		case r.Method != http.MethodPost:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case id == nil:
			w.WriteHeader(http.StatusAccepted)
		case method == protocol.MethodInitialize:
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, legacyAnswer)
		case stream:
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, `data: {"jsonrpc":"2.0","id":%s,"result":`, id)
			_, _ = io.WriteString(w, text)
			_, _ = io.WriteString(w, "}\n\n")
		default:
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":`, id)
			_, _ = io.WriteString(w, text)
			_, _ = io.WriteString(w, "}")
		}
	}))
	b.Cleanup(srv.Close)
	return HTTP(transport.HTTPOptions{URL: srv.URL})
}

// Finding A15. A large result, whose members are taken from the index that was made when it was read, has the right
// members and bytes.
func TestLargeResultIsReadOnce_amount(t *testing.T) {
	text := `{"content":[{"type":"text","text":"` + strings.Repeat(`a\n`, 1<<20) + `"}],"isError":true}`
	for name, open := range map[string]Opener{"stdio": overPipe(text)} {
		t.Run(name, func(t *testing.T) {
			s, err := Connect(context.Background(), Options{Era: EraLegacy, Open: open, Handler: &recorder{}})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close(nil)
			for range 3 {
				r, err := s.CallTool(context.Background(), &CallRequest{Name: "x"})
				if err != nil || !r.IsError || !bytes.Equal(r.Raw, []byte(text)) {
					t.Fatalf("%v", err)
				}
			}
		})
	}
}
