// Echoserver is the MCP server on stdio that every subject of the benchmarks talks to. It does almost nothing for a
// call of the tool echo: it finds the id by a search for bytes, and answers with a constant text. So the benchmark
// measures the client.
//
// What must not live here: any MCP library, any package of this module's parent, and any work for echo that is not
// needed.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"sync"
)

func main() {
	s := newServer(os.Stdin, os.Stdout)
	if err := s.serve(); err != nil {
		fmt.Fprintln(os.Stderr, "echoserver:", err)
		os.Exit(1)
	}
}

// server answers one client.
type server struct {
	in *bufio.Reader

	running sync.WaitGroup // the tools that take time
	stop    chan struct{}  // closed when the input has ended

	mu  sync.Mutex // guards out
	out *bufio.Writer
}

func newServer(r io.Reader, w io.Writer) *server {
	return &server{
		in:   bufio.NewReaderSize(r, 64<<10),
		out:  bufio.NewWriterSize(w, 64<<10),
		stop: make(chan struct{}),
	}
}

const (
	head       = `{"jsonrpc":"2.0","id":`
	echoResult = `,"result":{"content":[{"type":"text","text":"the quick brown fox jumps over the lazy dog"}],"isError":false}}` + "\n"
)

var (
	idKey    = []byte(`"id":`)
	callEcho = []byte(`"name":"echo"`)
)

// serve answers until the input ends. It flushes the output when it has handled everything that was read.
func (s *server) serve() error {
	defer s.running.Wait()
	defer close(s.stop)
	for {
		line, err := s.in.ReadSlice('\n')
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		id := idOf(line)
		s.mu.Lock()
		if bytes.Contains(line, callEcho) && id != nil {
			s.out.WriteString(head)
			s.out.Write(id)
			s.out.WriteString(echoResult)
		} else {
			s.other(id, line)
		}
		if s.in.Buffered() == 0 {
			err = s.out.Flush()
		}
		s.mu.Unlock()
		if err != nil {
			return err
		}
	}
}

// idOf returns the JSON text of the member id, or nil if there is none. It expects an id that is a plain number or a
// short string.
func idOf(line []byte) []byte {
	_, rest, ok := bytes.Cut(line, idKey)
	if !ok {
		return nil
	}
	end := bytes.IndexAny(rest, ",}")
	if end < 0 {
		return nil
	}
	return bytes.TrimSpace(rest[:end])
}

// send writes one message. It is for goroutines other than that of serve.
func (s *server) send(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.out, format+"\n", args...)
	s.out.Flush() // serve reports the error
}
