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
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
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

// message holds the members of a message that other reads.
type message struct {
	Method string `json:"method"`
	Params struct {
		Name      string `json:"name"`
		Arguments struct {
			Count     int `json:"count"`
			PerSecond int `json:"perSecond"`
		} `json:"arguments"`
		Meta struct {
			ProgressToken json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	} `json:"params"`
}

const toolList = `{"tools":[` +
	`{"name":"echo","description":"Answers at once.","inputSchema":{"type":"object"}},` +
	`{"name":"large","description":"Answers count bytes of text.","inputSchema":{"type":"object"}},` +
	`{"name":"hang","description":"Never answers.","inputSchema":{"type":"object"}},` +
	`{"name":"storm","description":"Sends progress.","inputSchema":{"type":"object"}}]}`

// other answers every message that is not a call of echo. s.mu is held.
func (s *server) other(id, line []byte) {
	var m message
	if json.Unmarshal(line, &m) != nil {
		return
	}
	switch m.Method {
	case "": // an answer, or what is no message
	case "initialize":
		s.result(id,
			`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"echoserver","version":"1"}}`)
	case "ping":
		s.result(id, `{}`)
	case "tools/list":
		s.result(id, toolList)
	case "tools/call":
		id := string(id)
		switch m.Params.Name {
		case "hang":
		case "large":
			s.result([]byte(id), `{"content":[{"type":"text","text":"`+strings.Repeat("x", m.Params.Arguments.Count)+
				`"}],"isError":false}`)
		case "storm":
			s.running.Go(func() { s.storm(id, m) })
		}
	default:
		if id != nil {
			fmt.Fprintf(s.out, `%s%s,"error":{"code":-32601,"message":"method not found"}}`+"\n", head, id)
		}
	}
}

func (s *server) result(id []byte, result string) {
	fmt.Fprintf(s.out, `%s%s,"result":%s}`+"\n", head, id, result)
}

// storm sends count progress notifications, perSecond of them in a second, and then answers. After a late tick it sends
// the missed ones as well.
func (s *server) storm(id string, m message) {
	a := m.Params.Arguments
	tick := time.NewTicker(max(time.Second/time.Duration(max(a.PerSecond, 1)), time.Millisecond))
	defer tick.Stop()
	start := time.Now()
	for sent := 0; sent < a.Count; {
		select {
		case <-s.stop:
			return
		case <-tick.C:
		}
		due := min(a.Count, int(time.Since(start).Seconds()*float64(a.PerSecond)))
		for ; sent < due; sent++ {
			s.send(
				`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d,"total":%d,"message":"step %d of the storm"}}`,
				m.Params.Meta.ProgressToken, sent+1, a.Count, sent+1)
		}
	}
	s.send(head+`%s,"result":{"content":[],"isError":false}}`, id)
}
