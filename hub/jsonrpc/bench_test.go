package jsonrpc_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
)

// echoChild makes the test binary a server on its own stdio, for the benchmarks over a real process.
const echoChild = "MCPHUB_JSONRPC_ECHO"

func TestMain(m *testing.M) {
	if os.Getenv(echoChild) != "" {
		echo(os.Stdin, os.Stdout)
		return
	}
	os.Exit(m.Run())
}

// echo answers every request at once, without parsing it, and flushes when its read buffer is empty.
func echo(r io.Reader, w io.Writer) {
	in := bufio.NewReaderSize(r, 64<<10)
	out := bufio.NewWriterSize(w, 64<<10)
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return
		}
		_, rest, ok := bytes.Cut(line, []byte(`"id":`))
		if !ok {
			continue
		}
		id, _, _ := bytes.Cut(rest, []byte{','})
		out.WriteString(`{"jsonrpc":"2.0","id":`)
		out.Write(id)
		out.WriteString(
			`,"result":{"content":[{"type":"text","text":"the quick brown fox jumps over the lazy dog"}],"isError":false}}` +
				"\n")
		if in.Buffered() == 0 && out.Flush() != nil {
			return
		}
	}
}

var benchParams = json.RawMessage(
	`{"name":"echo","arguments":{"text":"the quick brown fox jumps over the lazy dog"},"_meta":{"progressToken":17}}`)

func BenchmarkCallSequential(b *testing.B) { benchCalls(b, pipePeer(b), 0) }

func BenchmarkCall64(b *testing.B) { benchCalls(b, pipePeer(b), 64) }

func BenchmarkChildSequential(b *testing.B) { benchCalls(b, childPeer(b), 0) }

func BenchmarkChild64(b *testing.B) { benchCalls(b, childPeer(b), 64) }

func benchCalls(b *testing.B, p *jsonrpc.Peer, parallel int) {
	ctx, cancel := context.WithCancelCause(b.Context())
	defer cancel(errors.New("benchmark over"))
	b.ReportAllocs()
	b.ResetTimer()
	if parallel == 0 {
		for range b.N {
			if _, err := p.Call(ctx, "tools/call", benchParams); err != nil {
				b.Fatal(err)
			}
		}
		return
	}
	b.SetParallelism((parallel + 1) / 2) // times GOMAXPROCS
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := p.Call(ctx, "tools/call", benchParams); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// pipePeer is a Peer whose other side is an echo goroutine behind two real pipes.
func pipePeer(b *testing.B) *jsonrpc.Peer {
	ourR, theirW, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	theirR, ourW, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		echo(theirR, theirW)
	}()
	p := jsonrpc.NewPeer(jsonrpc.NewLineConn(ourR, ourW, jsonrpc.LineConnOptions{}), jsonrpc.Options{})
	b.Cleanup(func() {
		p.Close(errors.New("benchmark over"))
		<-ended
		theirR.Close()
		theirW.Close()
	})
	return p
}

// childPeer is a Peer whose other side is a process.
func childPeer(b *testing.B) *jsonrpc.Peer {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), echoChild+"=1")
	w, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	r, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	p := jsonrpc.NewPeer(jsonrpc.NewLineConn(r, w, jsonrpc.LineConnOptions{}), jsonrpc.Options{})
	b.Cleanup(func() {
		p.Close(errors.New("benchmark over"))
		cmd.Wait()
	})
	return p
}
