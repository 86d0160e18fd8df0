package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/protocol"
	"github.com/mcphub-go/mcphub/hub/transport"
)

// exchanges is Streamable HTTP and the server behind it, in memory. What the client does is kept as lines, in order.
type exchanges struct {
	serve func(f *exchanges, m transport.Message) // called for each request, like a server's read loop: it must not block

	in   chan transport.Received
	dead chan struct{}
	once sync.Once
	end  error // what Receive ends with; written before dead is closed

	mu  sync.Mutex // guards log
	log []string
}

func newExchanges(serve func(*exchanges, transport.Message)) *exchanges {
	return &exchanges{serve: serve, in: make(chan transport.Received, 1<<10), dead: make(chan struct{})}
}

func (f *exchanges) note(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.log = append(f.log, strings.TrimSpace(fmt.Sprintf(format, args...)))
}

// lines returns what the client did since the last call of lines.
func (f *exchanges) lines() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := f.log
	f.log = nil
	return out
}

func (f *exchanges) Speak(modern bool, revision string) {
	f.note("speak modern=%t %s", modern, revision)
}

func (f *exchanges) Send(m transport.Message) error {
	line := fmt.Sprintf("POST %s %s %s", m.ID, m.Method, m.Name)
	for _, k := range slices.Sorted(maps.Keys(m.Params)) {
		line += fmt.Sprintf(" %s=%q", k, m.Params[k])
	}
	if m.Method == "" {
		line += string(m.Body)
	}
	f.note("%s", line)
	if m.ID != "" {
		f.serve(f, m)
	}
	return nil
}

func (f *exchanges) Abort(id string) bool {
	f.note("abort %s", id)
	return true
}

func (f *exchanges) CancelAndAbort(id string, notification []byte, told func(error)) {
	f.note("cancel %s %s", id, notification)
	told(nil)
}

func (f *exchanges) Receive() (transport.Received, error) {
	select {
	case r := <-f.in:
		return r, nil
	default:
	}
	select {
	case r := <-f.in:
		return r, nil
	case <-f.dead:
		return transport.Received{}, f.end
	}
}

func (f *exchanges) Close() error {
	f.note("close")
	f.die(transport.ErrHTTPClosed)
	return nil
}

func (f *exchanges) die(err error) {
	f.once.Do(func() {
		f.end = err
		close(f.dead)
	})
}

// result answers a request.
func (f *exchanges) result(id, result string) {
	f.say(id, `{"jsonrpc":"2.0","id":`+id+`,"result":`+result+`}`)
}

// refuse answers a request with an error, as also the body of a 400 or 404 may have it.
func (f *exchanges) refuse(id string, code int, data string) {
	if data != "" {
		data = `,"data":` + data
	}
	f.say(id, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"no"%s}}`, id, code, data))
}

// say puts a message onto the stream of a request; "" is the standalone stream.
func (f *exchanges) say(stream, text string) {
	f.in <- transport.Received{Stream: stream, Body: []byte(text)}
}

// fail says that a request gets no answer.
func (f *exchanges) fail(id string, err *transport.HTTPError) {
	f.in <- transport.Received{FailedID: id, Err: err}
}

const (
	modernDiscover = `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"m","version":"1"}}}`
	legacyAnswer   = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"l","version":"1"}}`
)

// modernServer answers the probe; everything else goes to rest.
func modernServer(rest func(*exchanges, transport.Message)) func(*exchanges, transport.Message) {
	return func(f *exchanges, m transport.Message) {
		if m.Method == protocol.MethodDiscover {
			f.result(m.ID, modernDiscover)
			return
		}
		rest(f, m)
	}
}

// legacyServer refuses the probe with 400 and answers initialize; everything else goes to rest.
func legacyServer(rest func(*exchanges, transport.Message)) func(*exchanges, transport.Message) {
	return func(f *exchanges, m transport.Message) {
		switch m.Method {
		case protocol.MethodDiscover:
			f.fail(m.ID, &transport.HTTPError{Status: 400, Text: "no session"})
		case protocol.MethodInitialize:
			f.result(m.ID, legacyAnswer)
		default:
			rest(f, m)
		}
	}
}

// silent answers nothing.
func silent(*exchanges, transport.Message) {}

func (f *exchanges) open(context.Context) (*Link, error) { return streamableLink(f, nil), nil }

// dial connects to f. What the start did is left in f's lines.
func dial(t *testing.T, f *exchanges, h *recorder, change ...func(*Options)) (*Session, error) {
	t.Helper()
	o := Options{Server: "web", Open: f.open, Client: testClient, Handler: h, Capabilities: func() Capabilities {
		return everything
	}}
	for _, c := range change {
		c(&o)
	}
	s, err := Connect(context.Background(), o)
	if err == nil {
		t.Cleanup(func() { s.Close(nil) })
	}
	return s, err
}

// mustDial is dial for a start that must succeed; its lines are dropped.
func mustDial(t *testing.T, f *exchanges, h *recorder, change ...func(*Options)) *Session {
	t.Helper()
	s, err := dial(t, f, h, change...)
	if err != nil {
		t.Fatalf("Connect: %v", err)
	}
	f.lines()
	return s
}

var _ jsonrpc.Sender = (*streamableConn)(nil)

// argumentsOf returns the arguments of a tools/call.
func argumentsOf(m transport.Message) json.RawMessage {
	return member(member(m.Body, "params"), "arguments")
}

// logLines is the text of a log.
type logLines struct {
	mu  sync.Mutex // guards buf
	buf strings.Builder
}

func (l *logLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logLines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func (l *logLines) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }
