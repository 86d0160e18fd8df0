package hostile_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcpserver"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
	"github.com/mcphub-go/mcphub/ipc/gateway"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// entrance is a stage with a gateway. The hostile clients connect to it, and one honest client.
type entrance struct {
	*stage
	at     *gateway.Endpoint
	client *http.Client
	honest string // the session of the honest client
	heard  chan string
	calls  int
}

func newEntrance(t *testing.T) *entrance {
	t.Helper()
	e := &entrance{stage: bare(t), heard: make(chan string, 1), client: &http.Client{Transport: &http.Transport{
		MaxConnsPerHost: 64, MaxIdleConnsPerHost: 64}}}
	e.good.Tool("reasons", func(c *fakeserver.CallContext) {
		c.Progress(1, 2, "at work")
		e.heard <- <-c.Cancelled()
	})
	e.load(&mcphubv1.ConfigSource{Path: "/user/mcp.json", Scope: "user",
		Json: `{"servers":{"good":{"command":"good","alwaysAllow":["*"]}}}`})
	var err error
	if e.at, err = gateway.Listen(e.gateway(mcpserver.Bounds{Message: 4 << 20}), "127.0.0.1:0", ""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		e.client.CloseIdleConnections()
		e.at.Close(nil)
	})
	if e.honest = e.sessionOf("an honest client"); e.honest == "" {
		t.Fatal("the honest client got no session")
	}
	return e
}

// gateway returns a gateway to the hub of the stage.
func (e *entrance) gateway(b mcpserver.Bounds) *gateway.Gateway {
	e.t.Helper()
	b.Stall = cmp.Or(b.Stall, bound) // a client on a busy machine may not get to read
	g, err := gateway.New(e.hub, gateway.Options{Bounds: b})
	if err != nil {
		e.t.Fatal(err)
	}
	return g
}

const greeting = `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25",` +
	`"capabilities":{},"clientInfo":{"name":"a client","version":"1"}}}`

// post sends a message and returns the status and the beginning of the answer.
func (e *entrance) post(session, body string) (int, string) {
	status, text, _ := e.send(http.MethodPost, session, "Bearer "+e.at.Token, strings.NewReader(body))
	return status, text
}

func (e *entrance) send(method, session, authorization string, body io.Reader) (int, string, http.Header) {
	ctx, stop := context.WithTimeoutCause(e.t.Context(), bound, errBound)
	defer stop()
	r, err := http.NewRequestWithContext(ctx, method, e.at.URL, body)
	if err != nil {
		e.t.Error(err)
		return 0, "", nil
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	response, err := e.client.Do(r)
	if err != nil {
		return 0, err.Error(), nil
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	return response.StatusCode, string(text), response.Header
}

// session opens a session and returns its id, or "" if it was refused.
func (e *entrance) session() string { return e.sessionOf("a client") }

func (e *entrance) sessionOf(client string) string {
	status, _, header := e.send(http.MethodPost, "", "Bearer "+e.at.Token,
		strings.NewReader(strings.Replace(greeting, "a client", client, 1)))
	if status != http.StatusOK {
		return ""
	}
	return header.Get("Mcp-Session-Id")
}

// atOnce calls do for each i below n, on 32 goroutines, and waits for all of them.
func atOnce(n int, do func(i int)) {
	var all sync.WaitGroup
	next := make(chan int)
	for range 32 {
		all.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	all.Wait()
}

// passerby checks that the honest client, and a bystander of the stage, are not affected: a call ends, and a cancel
// reaches the server.
func (e *entrance) passerby() {
	e.t.Helper()
	e.bystander()
	e.calls++
	status, text := e.post(e.honest, fmt.Sprintf(
		`{"jsonrpc":"2.0","id":"e%d","method":"tools/call","params":{"name":"good__echo"}}`, e.calls))
	if status != http.StatusOK || !strings.Contains(text, "hello") {
		e.t.Errorf("an honest call: %d %s", status, text)
	}
	ended := make(chan struct{})
	id := fmt.Sprintf(`"r%d"`, e.calls)
	r, err := http.NewRequestWithContext(e.t.Context(), http.MethodPost, e.at.URL, strings.NewReader(
		`{"jsonrpc":"2.0","id":`+id+`,"method":"tools/call","params":{"name":"good__reasons","_meta":{"progressToken":1}}}`))
	if err != nil {
		e.t.Fatal(err)
	}
	r.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + e.at.Token},
		"Accept": {"application/json, text/event-stream"}, "Mcp-Session-Id": {e.honest}}
	response, err := e.client.Do(r)
	if err != nil {
		e.t.Fatal(err)
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	go func() {
		defer close(ended)
		for lines.Scan() {
			if strings.Contains(lines.Text(), "progress") {
				e.post(e.honest, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+id+
					`,"reason":"seen enough"}}`)
			}
		}
	}()
	select {
	case reason := <-e.heard:
		if reason != "seen enough" {
			e.t.Errorf("the server heard %q", reason)
		}
	case <-time.After(bound):
		e.t.Fatal("the server did not hear of an honest cancel")
	}
	e.in("the end of a cancelled call", ended)
}

// TestHostileClients: what clients of a gateway do wrong is refused or limited with an error that says why. Other
// clients are not affected, and nothing of it is left.
func TestHostileClients(t *testing.T) {
	e := newEntrance(t)
	e.passerby()
	e.attacked(t)
	if n := e.at.Gateway.Clients(); n != 1 {
		t.Errorf("%d clients are left, want the honest one", n)
	}
}

// TestHostileClientsLeaveNothing_nightly: not even a goroutine is left of them.
func TestHostileClientsLeaveNothing_nightly(t *testing.T) {
	e := newEntrance(t)
	e.passerby()
	before := runtime.NumGoroutine()
	e.attacked(t)
	e.client.CloseIdleConnections()
	e.settles(before + 20) // the honest client keeps some connections open
}

// attacked plays all hostile clients one after the other.
func (e *entrance) attacked(t *testing.T) {
	for _, a := range []struct {
		name   string
		attack func(t *testing.T, e *entrance)
	}{
		{"no token, or a wrong one", guesses},
		{"garbage", garbage},
		{"10,000 calls at once, on a pipe", crowd},
		{"cancels everything", cancels},
		{"one id for all", oneID},
		{"never reads", deaf},
		{"lies about its protocol", liar},
		{"1,100 sessions", sessions},
		{"answers what nobody asked", answers},
		{"wants another level of logs all the time", flips},
		{"says all the time that its roots change", roots},
		{"subscribes to everything", subscribes},
		{"batches", batches},
	} {
		t.Run(a.name, func(t *testing.T) {
			a.attack(t, e)
			e.passerby()
		})
	}
	left, err := e.stage.calls.ListRequests(t.Context(), &mcphubv1.ListRequestsRequest{})
	if err != nil || len(left.GetRequests()) != 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

func guesses(t *testing.T, e *entrance) {
	atOnce(150, func(i int) {
		for _, authorization := range []string{"", "Bearer ", "Bearer " + strings.Repeat("A", 1+i), "Basic " + e.at.Token} {
			if status, text, _ := e.send(http.MethodPost, "", authorization, strings.NewReader(greeting)); status !=
				http.StatusUnauthorized || !strings.Contains(text, "token") {
				t.Errorf("%.40q was answered %d %.100s", authorization, status, text)
			}
		}
	})
}

func garbage(t *testing.T, e *entrance) {
	session := e.session()
	for name, body := range map[string]string{
		"nothing": "", "no end": `{`, "null": `null`, "a number": `7`, "bytes": strings.Repeat("\xff\x00", 1<<19),
		"depth": strings.Repeat("[", 200_000), "no method": `{"jsonrpc":"2.0","id":1}`, "no version": `{"id":1,"method":"ping"}`,
		"an id": `{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}`,
		"depth in params": `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"good__echo","arguments":` +
			strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000) + `}}`,
		"a long name": `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + strings.Repeat("n", 1<<20) + `"}}`,
	} {
		status, text := e.post(session, body)
		if status == http.StatusOK && !strings.Contains(text, `"error"`) || status >= 500 || status == 0 || len(text) > 2000 {
			t.Errorf("%s was answered %d %.300s", name, status, text)
		}
	}
	long := io.MultiReader(strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"`), &endless{n: 5 << 20})
	if status, text, _ := e.send(http.MethodPost, session, "Bearer "+e.at.Token, long); status !=
		http.StatusRequestEntityTooLarge && status != 0 {
		t.Errorf("5 MiB were answered %d %.100s", status, text)
	}
	if status, text := e.post(session, `{"jsonrpc":"2.0","id":9,"method":"ping"}`); status != http.StatusOK ||
		!strings.Contains(text, `"result":{}`) {
		t.Errorf("the session is gone after it: %d %s", status, text)
	}
	e.send(http.MethodDelete, session, "Bearer "+e.at.Token, http.NoBody)
}

// endless is a reader that returns n bytes of text.
type endless struct{ n int }

func (e *endless) Read(p []byte) (int, error) {
	if e.n <= 0 {
		return 0, io.EOF
	}
	n := copy(p, bytes.Repeat([]byte("x"), min(len(p), e.n)))
	e.n -= n
	return n, nil
}

// pipe is a client of the gateway over in-memory pipes.
type pipe struct {
	in    io.WriteCloser
	lines chan string // the lines from the gateway; closed at the end
	ended chan struct{}
}

func (e *entrance) pipe(reads bool) *pipe { return e.pipeTo(e.at.Gateway, reads) }

func (e *entrance) pipeTo(g *gateway.Gateway, reads bool) *pipe {
	toGateway, in := io.Pipe()
	out, fromGateway := io.Pipe()
	p := &pipe{in: in, lines: make(chan string, 100_000), ended: make(chan struct{})}
	go func() {
		defer close(p.ended)
		_ = g.Serve(context.Background(), jsonrpc.NewLineConn(toGateway, fromGateway, jsonrpc.LineConnOptions{
			Close: func() error {
				_ = toGateway.Close()
				return fromGateway.Close()
			}}))
	}()
	if reads {
		go func() {
			defer close(p.lines)
			lines := bufio.NewScanner(out)
			for lines.Scan() {
				p.lines <- lines.Text()
			}
		}()
	}
	p.say(greeting)
	if reads {
		e.next(p)
	}
	return p
}

// next returns the next line from the gateway. It fails the test if the session ends first.
func (e *entrance) next(p *pipe) string {
	e.t.Helper()
	select {
	case line, more := <-p.lines:
		if !more {
			e.t.Fatal("the session of a client ended")
		}
		return line
	case <-time.After(bound):
		e.t.Fatal("a client waited too long for an answer")
	}
	return ""
}

func (p *pipe) say(line string) bool {
	_, err := io.WriteString(p.in, line+"\n")
	return err == nil
}

// leave closes the input and waits for the end of the session.
func (e *entrance) leave(p *pipe) {
	_ = p.in.Close()
	e.in("the end of a client's session", p.ended)
}

func crowd(t *testing.T, e *entrance) {
	p := e.pipe(true)
	for i := range 10_000 {
		p.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"good__hang"}}`, i))
	}
	for range 10_000 - 64 {
		if line := e.next(p); !strings.Contains(line, "-32000") || !strings.Contains(line, "wait until one ends") {
			t.Fatalf("the client got %.300s, want the error -32000", line)
		}
	}
	e.passerby() // while 64 calls of the client hang
	e.leave(p)
}

func cancels(t *testing.T, e *entrance) {
	hang := e.call("good", "hang") // a call of the other window
	e.other.WaitRequest(hang.id, mcphubv1.RequestState_REQUEST_STATE_RUNNING)
	p := e.pipe(true)
	for i := range 20_000 {
		id := fmt.Sprint(i)
		switch i % 4 {
		case 1:
			id = fmt.Sprintf(`"r%d"`, i)
		case 2:
			id = fmt.Sprintf("%q", hang.id)
		case 3:
			id = `null`
		}
		p.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `,"reason":"all"}}`)
	}
	p.say(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	if line := e.next(p); !strings.Contains(line, `"id":1,"result":{}`) {
		t.Errorf("behind the cancels came %s", line)
	}
	select {
	case <-hang.done:
		t.Errorf("somebody else's call ended: %v", hang.err)
	default:
	}
	e.leave(p)
	e.other.CancelRequest(hang.id, "enough")
	e.ends(hang, "a call")
}

func oneID(t *testing.T, e *entrance) {
	p := e.pipe(true)
	const n = 1000
	for range n {
		p.say(`{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"good__hang"}}`)
	}
	for range n - 1 {
		if line := e.next(p); !strings.Contains(line, `"error"`) {
			t.Fatalf("a second call of one id was answered %s", line)
		}
	}
	e.leave(p)
}

func deaf(_ *testing.T, e *entrance) {
	g := e.gateway(mcpserver.Bounds{Stall: 300 * time.Millisecond, Queue: 1 << 20})
	defer g.Close(nil)
	p := e.pipeTo(g, false)
	for i := 0; i < 100_000; i++ {
		if !p.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`, i)) {
			break // the gateway has ended the session
		}
	}
	e.in("the end of the session of a client that reads nothing", p.ended)
}

func liar(t *testing.T, e *entrance) {
	session := e.session()
	modern := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	for name, body := range map[string]string{
		"initialized twice": greeting,
		"another era":       `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + modern + `}}`,
		"no such revision": strings.Replace(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{`+modern+`}}`,
			"2026-07-28", "3026-01-01", 1),
	} {
		status, text := e.post(session, body)
		if !strings.Contains(text, `"error"`) && status < 400 {
			t.Errorf("%s was answered %d %.200s", name, status, text)
		}
	}
	for _, session := range []string{"another's", strings.Repeat("x", 10_000), session + "x"} {
		if status, text := e.post(session, `{"jsonrpc":"2.0","id":1,"method":"ping"}`); status != http.StatusNotFound {
			t.Errorf("the session %.20q was answered %d %.200s", session, status, text)
		}
	}
	e.send(http.MethodDelete, session, "Bearer "+e.at.Token, http.NoBody)
}

func sessions(t *testing.T, e *entrance) {
	const many = 1100
	ids := make([]string, many)
	atOnce(many, func(i int) {
		status, text, header := e.send(http.MethodPost, "", "Bearer "+e.at.Token, strings.NewReader(greeting))
		if ids[i] = header.Get("Mcp-Session-Id"); status != http.StatusOK {
			t.Errorf("a session was refused with %d %s", status, text)
		}
	})
	e.passerby() // its session has not given way
	var open atomic.Int32
	atOnce(many, func(i int) {
		if status, _ := e.post(ids[i], `{"jsonrpc":"2.0","id":1,"method":"ping"}`); status == http.StatusOK {
			open.Add(1)
		}
		e.send(http.MethodDelete, ids[i], "Bearer "+e.at.Token, http.NoBody)
	})
	if open.Load() < 900 || open.Load() > 1000 {
		t.Errorf("%d sessions are open", open.Load())
	}
}
