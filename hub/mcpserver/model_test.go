package mcpserver_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/mcpserver"
	"github.com/mcphub-go/mcphub/internal/faketime"
)

// modelCall is what the client in the model knows about one of its requests.
type modelCall struct {
	params    string // without requestState
	cancelled bool   // the cancel was sent: it may cross an answer
	heard     bool   // the cancel was surely read before an answer was written
	answers   int
	state     string // of the round that it ended in
	question  string // the id of the open question, of a legacy call
}

// TestModel plays random orders of calls, cancels, questions, withdrawals, answers, retries and ends, in both eras. No
// id is answered twice, none after its cancel, every request that is not cancelled is answered before the end, and
// nothing is left.
func TestModel(t *testing.T) {
	for seed := range uint64(300) {
		synctest.Test(t, func(t *testing.T) { playModel(t, rand.New(rand.NewPCG(seed, 1)), seed%2 == 0) })
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func playModel(t *testing.T, random *rand.Rand, modern bool) {
	h := &handler{stop: map[string]context.CancelCauseFunc{}}
	s := newServer(h, mcpserver.Bounds{})
	w := connect(s)
	calls := map[string]*modelCall{}
	next := 0
	send := func(text string) { _, _ = io.WriteString(w.in, text+"\n") }
	call := func(name, more string) {
		next++
		params := `{"name":"` + name + `"`
		if modern {
			params += "," + modernMeta
		}
		calls[fmt.Sprint(next)] = &modelCall{params: name}
		send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s%s}}`, next, params, more))
	}
	listen := func() {
		synctest.Wait()
		for _, line := range w.take() {
			readModel(t, calls, line)
		}
	}
	if !modern {
		send(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25",` +
			`"capabilities":{"elicitation":{}}}}`)
	}
	for range 40 {
		id := fmt.Sprint(random.IntN(next+1) + 1)
		c := calls[id]
		switch random.IntN(8) {
		case 0:
			call("wait", "")
		case 1:
			call("echo", `,"arguments":{}`)
		case 2:
			call(fmt.Sprintf("m%d", next), "")
		case 3:
			if c != nil {
				listen() // what was answered by now was answered before the cancel
				c.cancelled = c.cancelled || c.answers == 0
				send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
				if random.IntN(2) == 0 {
					listen()
					c.heard = c.answers == 0
				}
			}
		case 4:
			h.mu.Lock()
			if c != nil && h.stop[c.params] != nil {
				h.stop[c.params](withdrawn("no longer needed"))
			}
			h.mu.Unlock()
		case 5:
			if c != nil && c.question != "" {
				send(`{"jsonrpc":"2.0","id":` + c.question + `,"result":{}}`)
			}
		case 6:
			if c != nil && c.state != "" {
				call(c.params, `,"requestState":"`+c.state+`","inputResponses":{"q1":{}}`)
			}
		case 7:
			faketime.Pass(time.Duration(random.IntN(20)) * time.Millisecond)
		}
		if random.IntN(3) > 0 {
			listen()
		}
	}
	// At the end all that wait are cancelled, and all questions withdrawn.
	listen()
	h.mu.Lock()
	for _, stop := range h.stop {
		stop(withdrawn("the end"))
	}
	h.mu.Unlock()
	<-time.After(time.Second)
	listen()
	for id, c := range calls {
		if c.params == "wait" && !c.cancelled {
			c.cancelled = true
			send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
		}
	}
	for id := range calls { // also those that were answered: a cancel between two rounds ends a parked call
		send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
	}
	listen()
	if _, parked, _ := s.Left(); parked != 0 {
		t.Errorf("%d calls are parked that were cancelled", parked)
	}
	<-time.After(time.Hour)
	listen()
	for id, c := range calls {
		if !c.cancelled && c.answers != 1 {
			t.Errorf("request %s (%s) has %d answers", id, c.params, c.answers)
		}
	}
	if open, parked, _ := s.Left(); open != 0 || parked != 0 {
		t.Errorf("left: %d open, %d parked", open, parked)
	}
	_ = w.in.Close()
	<-w.ended
	s.Close(nil)
	if _, _, sessions := s.Left(); sessions != 0 {
		t.Errorf("%d sessions are left", sessions)
	}
}

func readModel(t *testing.T, calls map[string]*modelCall, line string) {
	raw := []byte(line)
	id := string(jsontext.Get(raw, "id"))
	switch method := jsontext.String(jsontext.Get(raw, "method")); method {
	case "":
	case "elicitation/create":
		name := jsontext.String(jsontext.Get(jsontext.Get(raw, "params"), "message"))
		for _, c := range calls {
			if c.params == name {
				c.question = id
			}
		}
		return
	default:
		return
	}
	c := calls[id]
	if c == nil {
		return // the answer to initialize
	}
	if c.answers++; c.answers > 1 || c.heard {
		t.Errorf("answered after its end: %s", line)
	}
	if m := stateOf.FindStringSubmatch(line); m != nil {
		c.state = m[1]
	}
}

// Beyond a bound a new session or request is refused, and the open ones go on.
func TestBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &handler{stop: map[string]context.CancelCauseFunc{}}
		s := newServer(h, mcpserver.Bounds{Sessions: 1, OpenInAll: 1})
		w := connect(s)
		synctest.Wait()
		if err := <-connect(s).ended; !errors.Is(err, mcpserver.ErrTooManySessions) {
			t.Errorf("a second session: %v", err)
		}
		for _, line := range []string{
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05"}}`,
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"wait"}}`,
			`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"wait"}}`} {
			_, _ = io.WriteString(w.in, line+"\n")
			synctest.Wait()
		}
		if got := strings.Join(w.take(), "\n"); !strings.Contains(got, `"id":3,"error":{"code":-32000`) {
			t.Error(got)
		}
		cause := errors.New("going home")
		s.Close(cause)
		if err := <-w.ended; !errors.Is(err, cause) {
			t.Errorf("ended by %v", err)
		}
		_ = w.in.Close()
	})
}

// FuzzHTTP: the HTTP handler returns whatever request comes, and after Close nothing is left.
func FuzzHTTP(f *testing.F) {
	for _, seed := range []string{`{`, `[]`, `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`,
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`,
		`{"jsonrpc":"2.0","id":null,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":1,"result":{}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + modernMeta + `}}`,
		`{"jsonrpc":"1.0","id":1,"method":"initialize"}`, `{"id":1,"method":"initialize"}`} {
		f.Add(seed, "application/json", "2026-07-28", "tools/list", "1-1")
	}
	f.Fuzz(func(t *testing.T, text, contentType, version, method, last string) {
		synctest.Test(t, func(t *testing.T) {
			h := &handler{stop: map[string]context.CancelCauseFunc{}}
			s := newServer(h, mcpserver.Bounds{})
			door := s.HTTP(mcpserver.Guard{})
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			stop := time.AfterFunc(time.Minute, func() { cancel(errors.New("the client has had enough")) })
			defer stop.Stop()
			session := ""
			for _, verb := range []string{"POST", "POST", "GET", "DELETE"} {
				r := httptest.NewRequestWithContext(ctx, verb, "http://127.0.0.1/", strings.NewReader(text))
				r.Header.Set("Content-Type", contentType)
				r.Header.Set("Accept", "application/json, text/event-stream")
				r.Header.Set("MCP-Protocol-Version", version)
				r.Header.Set("Mcp-Method", method)
				if session != "" {
					r.Header.Set("Mcp-Session-Id", session)
					r.Header.Set("Last-Event-ID", last)
					r.Header.Del("MCP-Protocol-Version")
				}
				w := httptest.NewRecorder()
				door.ServeHTTP(w, r)
				if session == "" {
					session = w.Header().Get("Mcp-Session-Id")
				}
			}
			s.Close(nil)
			if open, parked, sessions := s.Left(); open+parked+sessions != 0 {
				t.Errorf("left: %d open, %d parked, %d sessions", open, parked, sessions)
			}
		})
	})
}
