package mcpserver_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcpserver"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
	"github.com/mcphub-go/mcphub/internal/faketime"
)

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}`

// site is a server over HTTP whose handler reports on told what it sees.
type site struct {
	*handler
	server *mcpserver.Server
	url    string
	client *http.Client
}

func newSite(t *testing.T, g mcpserver.Guard, b mcpserver.Bounds) *site {
	t.Helper()
	h := &handler{stop: map[string]context.CancelCauseFunc{}, told: make(chan string, 100)}
	s := newServer(h, b)
	memory := fakeserver.NewMemory()
	web := &httptest.Server{Listener: memory, Config: &http.Server{Handler: s.HTTP(g)}}
	web.Start()
	client := &http.Client{Transport: memory.RoundTripper()}
	t.Cleanup(func() {
		s.Close(errors.New("the test is over"))
		web.CloseClientConnections()
		web.Close()
		client.CloseIdleConnections()
	})
	return &site{handler: h, server: s, url: web.URL, client: client}
}

func (s *site) do(t *testing.T, ctx context.Context, method, body string, header ...string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, s.url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := s.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

func body(t *testing.T, r *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(b))
}

func (s *site) initialize(t *testing.T) string {
	t.Helper()
	return s.begins(t, "2025-11-25")
}

// begins starts a session in a legacy revision, and returns its id.
func (s *site) begins(t *testing.T, revision string) string {
	t.Helper()
	r := s.do(t, t.Context(), "POST", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"`+
		revision+`","capabilities":{"elicitation":{}}}}`)
	if !strings.Contains(body(t, r), `"serverInfo"`) {
		t.Fatal("no answer to initialize")
	}
	return r.Header.Get("Mcp-Session-Id")
}

// hears waits until the handler reports something that contains want.
func (s *site) hears(t *testing.T, want string) {
	t.Helper()
	var got []string
	for {
		select {
		case text := <-s.told:
			if strings.Contains(text, want) {
				return
			}
			got = append(got, text)
		case <-time.After(faketime.Long):
			t.Fatalf("the handler reported %q, want %q", got, want)
		}
	}
}

func TestHTTPRefusals(t *testing.T) {
	s := newSite(t, mcpserver.Guard{Token: "secret"}, mcpserver.Bounds{Message: 1000})
	auth := []string{"Authorization", "Bearer secret"}
	ping, long := `{"jsonrpc":"2.0","id":1,"method":"ping"}`, strings.Repeat("m", 511)
	for name, c := range map[string]struct {
		method, body string
		header       []string
		status       int
	}{
		"no token":        {"POST", ping, nil, 401},
		"wrong token":     {"POST", ping, []string{"Authorization", "Bearer secreT"}, 401},
		"not a bearer":    {"POST", ping, []string{"Authorization", "Basic secret"}, 401},
		"foreign host":    {"POST", ping, append([]string{"Host", "evil.example"}, auth...), 403},
		"foreign origin":  {"POST", ping, append([]string{"Origin", "https://evil.example"}, auth...), 403},
		"null origin":     {"POST", ping, append([]string{"Origin", "null"}, auth...), 403},
		"other method":    {"PUT", ping, auth, 405},
		"content type":    {"POST", ping, append([]string{"Content-Type", "text/plain"}, auth...), 415},
		"accept":          {"POST", ping, append([]string{"Accept", "text/html"}, auth...), 406},
		"too long":        {"POST", ping + strings.Repeat(" ", 1000), auth, 413},
		"garbage":         {"POST", "{", auth, 400},
		"no session":      {"POST", ping, auth, 400},
		"unknown session": {"POST", ping, append([]string{"Mcp-Session-Id", "x"}, auth...), 404},
		"get without":     {"GET", "", auth, 405},
		"header mismatch": {"POST", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + modernMeta + `}}`,
			append([]string{"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call"}, auth...), 400},
		"long method": {"POST", `{"jsonrpc":"2.0","id":1,"method":"` + long + `","params":{` + modernMeta + `}}`,
			append([]string{"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", long}, auth...), 400},
		"unknown method": {"POST", `{"jsonrpc":"2.0","id":1,"method":"no/such","params":{` + modernMeta + `}}`,
			append([]string{"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "no/such"}, auth...), 404},
		"no metadata": {"POST", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`,
			append([]string{"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/list"}, auth...), 400},
		"initialize of 2026-07-28": {"POST", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{` + modernMeta + `}}`,
			append([]string{"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "initialize"}, auth...), 404},
	} {
		got := s.do(t, t.Context(), c.method, c.body, c.header...)
		if got.StatusCode != c.status {
			t.Errorf("%s: %d %s, want %d", name, got.StatusCode, body(t, got), c.status)
		}
		// A 401 says what is missing (RFC 9110, section 15.5.2), and nothing else does.
		if scheme, _, _ := strings.Cut(got.Header.Get("WWW-Authenticate"), " "); (scheme == "Bearer") != (c.status == 401) {
			t.Errorf("%s: %d asks for the credentials %q", name, c.status, got.Header.Get("WWW-Authenticate"))
		}
	}
}

// A modern request without metadata has invalid params (-32602); metadata that contradicts a header is a header
// mismatch (-32020).
func TestModernRefusalCodes(t *testing.T) {
	s := newSite(t, mcpserver.Guard{}, mcpserver.Bounds{})
	for params, code := range map[string]string{
		``: `"code":-32602`,
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"1999-01-01",` +
			`"io.modelcontextprotocol/clientCapabilities":{}}`: `"code":-32020`,
	} {
		r := s.do(t, t.Context(), "POST", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{`+params+`}}`,
			"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/list")
		if got := body(t, r); !strings.Contains(got, code) {
			t.Errorf("params %s: %s, want %s", params, got, code)
		}
	}
}

// A legacy client that closes a stream does not cancel: it gets the answer when it resumes the stream after the last
// event that it saw.
func TestLegacyStreamResumes(t *testing.T) {
	s := newSite(t, mcpserver.Guard{}, mcpserver.Bounds{})
	id := s.initialize(t)
	ctx, leave := context.WithCancelCause(t.Context())
	r := s.do(t, ctx, "POST", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"one"}}`,
		"Mcp-Session-Id", id)
	lines := bufio.NewScanner(r.Body)
	last := ""
	for lines.Scan() && !strings.Contains(lines.Text(), "elicitation/create") {
		if at, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
			last = at
		}
	}
	leave(nil)
	answer := s.do(t, t.Context(), "POST", `{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}`, "Mcp-Session-Id", id)
	if answer.StatusCode != http.StatusAccepted {
		t.Fatal(answer.StatusCode)
	}
	again := s.do(t, t.Context(), "GET", "", "Mcp-Session-Id", id, "Last-Event-ID", last)
	if got := body(t, again); !strings.Contains(got,
		`{"jsonrpc":"2.0","id":2,"result":{"answers":[{"action":"accept"}]}}`) {
		t.Fatalf("resumed: %s", got)
	}
}

// The stream of a call that was cancelled ends without an answer, and a client that comes back to it is refused: the
// TypeScript SDK comes back to an empty stream once a second, for ever.
func TestStreamOfACancelledCallIsOver(t *testing.T) {
	s := newSite(t, mcpserver.Guard{}, mcpserver.Bounds{})
	id := s.initialize(t)
	r := s.do(t, t.Context(), "POST", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"one"}}`,
		"Mcp-Session-Id", id)
	lines := bufio.NewReader(r.Body)
	for line := ""; !strings.Contains(line, "elicitation/create"); {
		var err error
		if line, err = lines.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	s.do(t, t.Context(), "POST", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`,
		"Mcp-Session-Id", id)
	rest, err := io.ReadAll(lines)
	if err != nil {
		t.Fatal(err)
	}
	last := regexp.MustCompile(`(?m)^id: (\S+)`).FindAllSubmatch(rest, -1)
	if len(last) == 0 {
		t.Fatalf("the question was not withdrawn: %s", rest)
	}
	again := s.do(t, t.Context(), "GET", "", "Mcp-Session-Id", id, "Last-Event-ID", string(last[len(last)-1][1]))
	if again.StatusCode != http.StatusBadRequest {
		t.Errorf("a stream that is over, and has nothing more: %s", again.Status)
	}
}

// Each GET without the id of an event is a stream of its own. The older ones stay open, and one that is more than a
// client needs is refused: a TypeScript SDK that loses streams again and again opens one more each time, for as long as
// it lives, and gives up what is refused.
func TestManyStreams(t *testing.T) {
	s := newSite(t, mcpserver.Guard{}, mcpserver.Bounds{})
	id := s.initialize(t)
	get := func() *http.Response { return s.do(t, t.Context(), "GET", "", "Mcp-Session-Id", id) }
	for range 9 {
		if r := get(); r.StatusCode != http.StatusOK {
			t.Fatalf("one more stream: %s", r.Status)
		}
	}
	if r := get(); r.StatusCode != http.StatusConflict {
		t.Errorf("the tenth stream: %s", r.Status)
	}
}

// An event without data primes a client of 2025-11-25 to resume the stream. Earlier revisions do not have it, and VS
// Code's client, which sends no MCP-Protocol-Version, logs it as a broken message and never resumes the stream of a
// POST.
func TestStreamIsPrimed(t *testing.T) {
	for name, c := range map[string]struct {
		revision string
		header   []string
		first    string
	}{
		"2025-11-25":                          {"2025-11-25", []string{"MCP-Protocol-Version", "2025-11-25"}, "data:"},
		"2025-11-25, said by initialize only": {"2025-11-25", nil, "data: {"},
		"2025-06-18":                          {"2025-06-18", []string{"MCP-Protocol-Version", "2025-06-18"}, "data: {"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, mcpserver.Guard{}, mcpserver.Bounds{})
			id := s.begins(t, c.revision)
			r := s.do(t, t.Context(), "POST", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"one"}}`,
				append(c.header, "Mcp-Session-Id", id)...)
			lines := bufio.NewScanner(r.Body)
			for lines.Scan() {
				if line := lines.Text(); strings.HasPrefix(line, "data:") {
					if !strings.HasPrefix(line, c.first) || c.first == "data:" && line != c.first {
						t.Fatalf("the first event has %q, want %q", line, c.first)
					}
					return
				}
			}
			t.Fatal("the stream has no event")
		})
	}
}

// TestForgedEventTakesNoStream: a GET with the id of an event that was never sent is refused, and the stream in that id
// stays with its reader.
func TestForgedEventTakesNoStream(t *testing.T) {
	s := newSite(t, mcpserver.Guard{}, mcpserver.Bounds{})
	id := s.initialize(t)
	r := s.do(t, t.Context(), "POST", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"one"}}`,
		"Mcp-Session-Id", id)
	for _, last := range []string{"3-999", "3-2", "2-2", "3-0-1", "1-0", "1-0-1", "3", "3-0-0-0"} {
		if forged := s.do(t, t.Context(), "GET", "", "Mcp-Session-Id", id, "Last-Event-ID",
			last); forged.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %d", last, forged.StatusCode)
		}
	}
	lines := bufio.NewReader(r.Body)
	for line := ""; !strings.Contains(line, "elicitation/create"); { // nobody takes an answer before its question
		var err error
		if line, err = lines.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	s.do(t, t.Context(), "POST", `{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}`, "Mcp-Session-Id", id)
	if got, err := io.ReadAll(lines); err != nil || !strings.Contains(string(got), `"answers":[{"action":"accept"}]`) {
		t.Errorf("the stream ended with %s, %v", got, err)
	}
}

// TestQuestionOfAnAbandonedCall: a client that has closed the stream of a call, which is no cancel, is asked on the
// common stream, and the question is withdrawn there.
func TestQuestionOfAnAbandonedCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, mcpserver.Guard{}, mcpserver.Bounds{})
		id := s.initialize(t)
		ctx, leave := context.WithCancelCause(t.Context())
		s.do(t, ctx, "POST", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"later"}}`, "Mcp-Session-Id", id)
		s.hears(t, "begins later")
		leave(nil)
		s.hears(t, "heard: false")
		common := s.do(t, t.Context(), "GET", "", "Mcp-Session-Id", id)
		s.hears(t, "heard: true")
		lines := bufio.NewScanner(common.Body)
		for lines.Scan() && !strings.Contains(lines.Text(), `"method":"elicitation/create"`) {
		}
		s.mu.Lock()
		stop := s.stop["later"]
		s.mu.Unlock()
		stop(errors.New("not needed"))
		for lines.Scan() {
			if strings.Contains(lines.Text(), `"method":"notifications/cancelled"`) {
				return
			}
		}
		t.Errorf("the withdrawal is not on the common stream: %v", lines.Err())
	})
}

func TestLegacyCancelOverHTTP(t *testing.T) {
	s := newSite(t, mcpserver.Guard{}, mcpserver.Bounds{})
	id := s.initialize(t)
	r := s.do(t, t.Context(), "POST", `{"jsonrpc":"2.0","id":"w","method":"tools/call","params":{"name":"wait"}}`,
		"Mcp-Session-Id", id)
	s.do(t, t.Context(), "POST",
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"w","reason":"too slow"}}`,
		"Mcp-Session-Id", id)
	s.hears(t, "wait ends: jsonrpc: withdrawn by the peer: too slow")
	if got := body(t, r); strings.Contains(got, "jsonrpc") || r.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("a cancelled request was answered as %q: %s", r.Header.Get("Content-Type"), got)
	}
	if r := s.do(t, t.Context(), "DELETE", "", "Mcp-Session-Id", id); r.StatusCode != http.StatusNoContent {
		t.Fatal(r.StatusCode)
	}
	s.hears(t, "session ended: EOF")
	if r := s.do(t, t.Context(), "POST", `{"jsonrpc":"2.0","id":1,"method":"ping"}`,
		"Mcp-Session-Id", id); r.StatusCode != http.StatusNotFound {
		t.Fatal(r.StatusCode)
	}
}

func (s *site) modern(t *testing.T, ctx context.Context, name, more string) *http.Response {
	return s.do(t, ctx, "POST", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+name+`",`+modernMeta+
		more+`}}`, "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", name)
}

// Since 2026-07-28 a closed stream is the cancel.
func TestModernClosedStreamCancels(t *testing.T) {
	s := newSite(t, mcpserver.Guard{}, mcpserver.Bounds{})
	ctx, leave := context.WithCancelCause(t.Context())
	s.modern(t, ctx, "wait", "")
	leave(nil)
	s.hears(t, "wait ends: jsonrpc: withdrawn by the peer: the client closed the stream")
}

// door is the HTTP binding without a socket, for tests in fake time.
type door struct {
	http.Handler
	server *mcpserver.Server
	*handler
}

func newDoor(b mcpserver.Bounds) *door {
	h := &handler{stop: map[string]context.CancelCauseFunc{}}
	s := newServer(h, b)
	return &door{s.HTTP(mcpserver.Guard{}), s, h}
}

// post returns the status and the body of the answer; a stream is read to its end.
func (d *door) post(ctx context.Context, body string, header ...string) (int, string) {
	r := httptest.NewRequestWithContext(ctx, "POST", "http://127.0.0.1/", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// initialize begins a legacy session of a revision, for a client with this name.
func (d *door) initialize(t *testing.T, revision string, name ...string) (id string) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), "POST", "http://127.0.0.1/", strings.NewReader(
		`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"`+revision+`","capabilities":{"elicitation":{}},"clientInfo":{"name":"`+
			strings.Join(name, "")+`"}}}`))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	return w.Header().Get("Mcp-Session-Id")
}

// modern calls a tool; info is the clientInfo, "" for none.
func (d *door) modern(t *testing.T, name, info, more string) string {
	t.Helper()
	meta := modernMeta
	if info != "" {
		meta = strings.TrimSuffix(meta, "}") + `,"io.modelcontextprotocol/clientInfo":{"name":"` + info + `"}}`
	}
	_, text := d.post(t.Context(), `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+name+`",`+meta+
		more+`}}`, "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", name)
	return strings.TrimSpace(text)
}

// retry returns the params that a client adds to retry a call with answers to both questions of a round.
func retry(t *testing.T, round string) string {
	t.Helper()
	m := stateOf.FindStringSubmatch(round)
	if m == nil || !strings.Contains(round, `"q2"`) {
		t.Fatalf("no round of two questions: %s", round)
	}
	return `,"requestState":"` + m[1] + `","inputResponses":{"q1":{"a":1.0},"q2":{"b":2}}`
}

// A round over HTTP has all questions that were asked at the same time, and its requestState is valid for one retry.
func TestModernRoundsOverHTTP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(mcpserver.Bounds{})
		defer d.server.Close(nil)
		again := retry(t, d.modern(t, "one+two", "", ""))
		if got := d.modern(t, "one+two", "", again); !strings.Contains(got, `"answers":[{"a":1.0},{"b":2}]`) {
			t.Error(got)
		}
		if got := d.modern(t, "one+two", "", again); !strings.Contains(got, "-32602") {
			t.Error(got)
		}
	})
}

// TestSessionsOfOneClientLeavePlaces (finding G11): however many sessions a client opens for its calls, half of all
// places stay for others.
func TestSessionsOfOneClientLeavePlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(mcpserver.Bounds{OpenPerSession: 2, OpenInAll: 8})
		defer d.server.Close(nil)
		for range 4 {
			id := d.initialize(t, "2025-11-25")
			d.call(t.Context(), id, "1", "wait")
			d.call(t.Context(), id, "2", "wait")
		}
		if open, _, _ := d.server.Left(); open != 4 {
			t.Errorf("a client has %d of 8 places", open)
		}
		if got := d.modern(t, "one", "other", ""); !strings.Contains(got, "requestState") {
			t.Errorf("another client: %s", got)
		}
	})
}

// unwritable is the response for a client that is gone while its request has not ended yet: every write fails.
type unwritable struct{ *httptest.ResponseRecorder }

func (unwritable) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

// TestRoundThatNobodyTook: a client that left before it received the round will not retry it: its call ends at once.
func TestRoundThatNobodyTook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(mcpserver.Bounds{})
		defer d.server.Close(nil)
		r := httptest.NewRequestWithContext(t.Context(), "POST", "http://127.0.0.1/", strings.NewReader(
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"one",`+modernMeta+`}}`))
		for name, value := range map[string]string{"Content-Type": "application/json", "Mcp-Method": "tools/call",
			"Mcp-Name": "one", "MCP-Protocol-Version": "2026-07-28"} {
			r.Header.Set(name, value)
		}
		d.ServeHTTP(unwritable{httptest.NewRecorder()}, r)
		synctest.Wait()
		if open, parked, _ := d.server.Left(); open != 0 || parked != 0 {
			t.Errorf("left: %d open, %d parked", open, parked)
		}
		if seen := d.take(); !strings.Contains(seen, "one ends: jsonrpc: withdrawn by the peer: the client closed the stream") {
			t.Error(seen)
		}
	})
}

// TestParkedCallsHoldNoPlaces: the parked calls of a modern client that never retries count neither as running requests
// nor as sessions. No more of them are parked than one client may have open: its own oldest give way to a new one, and
// the server is told why. Finding F3.
func TestParkedCallsHoldNoPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(mcpserver.Bounds{Sessions: 1, OpenInAll: 1, OpenPerSession: 2, ParkedBytes: 8000})
		defer d.server.Close(nil)
		other := d.modern(t, "one+two", "other", "")
		first, second := d.modern(t, "one+two", "greedy", ""), d.modern(t, "one+two", "greedy", "")
		d.take()
		third := d.modern(t, "one+two", "greedy", "")
		synctest.Wait()
		if seen := d.take(); !strings.Contains(seen, "one+two ends: "+mcpserver.ErrGaveWay.Error()) {
			t.Errorf("the oldest: %s", seen)
		}
		if large := d.modern(t, "one+two", "large", `,"arguments":"`+strings.Repeat("x", 2000)+`"`); !strings.Contains(large,
			`-32000,"message":"too many calls wait for the answers to questions`) {
			t.Errorf("more bytes than a client may have parked: %s", large)
		}
		if seen := d.take(); !strings.Contains(seen, "one+two ends: "+mcpserver.ErrNotParked.Error()) {
			t.Errorf("the large one: %s", seen)
		}
		if d.initialize(t, "2025-11-25") == "" {
			t.Error("no session is free")
		}
		for round, info := range map[string]string{second: "greedy", third: "greedy", other: "other"} {
			if got := d.modern(t, "one+two", info, retry(t, round)); !strings.Contains(got, `"answers":[`) {
				t.Errorf("the retry of %s: %s", info, got)
			}
		}
		if got := d.modern(t, "one+two", "greedy", retry(t, first)); !strings.Contains(got, "given up for newer calls") {
			t.Errorf("the first retry: %s", got)
		}
		if open, parked, _ := d.server.Left(); open != 0 || parked != 0 {
			t.Errorf("left: %d open, %d parked", open, parked)
		}
	})
}

// hasty is the response for a client that leaves while it is sent a round: the first bytes are written, and then the
// request's context ends.
type hasty struct {
	*httptest.ResponseRecorder
	leave context.CancelCauseFunc
}

func (h hasty) Write(b []byte) (int, error) {
	h.leave(nil)
	return h.ResponseRecorder.Write(b)
}

// A client that closes while its round is being written has cancelled, although every write succeeds. Finding F3.
func TestClientThatLeavesWhileARoundIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(mcpserver.Bounds{})
		defer d.server.Close(nil)
		for n, name := range []string{"one", "late"} { // an ordinary response, and a stream
			ctx, leave := context.WithCancelCause(t.Context())
			r := httptest.NewRequestWithContext(ctx, "POST", "http://127.0.0.1/", strings.NewReader(
				`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+name+`",`+modernMeta+`}}`))
			for key, value := range map[string]string{"Content-Type": "application/json", "Mcp-Method": "tools/call",
				"Mcp-Name": name, "MCP-Protocol-Version": "2026-07-28"} {
				r.Header.Set(key, value)
			}
			w := hasty{httptest.NewRecorder(), leave}
			d.ServeHTTP(w, r)
			synctest.Wait()
			if stream := strings.Contains(w.Header().Get("Content-Type"), "event-stream"); stream != (n == 1) {
				t.Errorf("%s: a stream: %v", name, stream)
			}
			if open, parked, _ := d.server.Left(); open != 0 || parked != 0 {
				t.Errorf("%s: %d are open and %d parked", name, open, parked)
			}
			if seen := d.take(); !strings.Contains(seen, name+" ends: jsonrpc: withdrawn by the peer: the client closed the stream") {
				t.Errorf("%s: %s", name, seen)
			}
		}
	})
}

// TestOneModernClientTakesNoMoreThanItsShare: modern calls over HTTP have no session, and are bounded per client.
func TestOneModernClientTakesNoMoreThanItsShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(mcpserver.Bounds{OpenPerSession: 3})
		for range 3 {
			go d.modern(t, "wait", "greedy", "")
		}
		synctest.Wait()
		if got := d.modern(t, "echo", "greedy", `,"arguments":{}`); !strings.Contains(got, "-32000") {
			t.Errorf("beyond its share: %s", got)
		}
		if got := d.modern(t, "echo", "other", `,"arguments":{}`); !strings.Contains(got, `"result"`) {
			t.Errorf("a bystander: %s", got)
		}
		d.server.Close(nil)
		synctest.Wait()
	})
}

// TestEventsThatNobodyReads: what is held for a legacy client over HTTP is bounded, whether it reads or not, and a
// client that opens no stream for notifications, which it need not, keeps its session.
func TestEventsThatNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(mcpserver.Bounds{Events: 10, EventBytes: 10_000, Queue: 20_000})
		defer d.server.Close(nil)
		id := d.initialize(t, "2025-11-25")
		session := d.server.Sessions()[0]
		for range 100 {
			session.Log("info", json.RawMessage(`{"level":"info","data":"`+strings.Repeat("x", 1000)+`"}`))
			d.post(t.Context(), `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}`, "Mcp-Session-Id", id)
			ctx, leave := context.WithCancelCause(t.Context())
			go d.post(ctx, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"wait"}}`, "Mcp-Session-Id", id)
			synctest.Wait()
			leave(nil)
			d.post(t.Context(), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`,
				"Mcp-Session-Id", id)
			synctest.Wait()
		}
		if err := session.Err(); err != nil {
			t.Fatalf("the session has ended: %v", err)
		}
		streams, events, bytes := session.Held()
		if streams > 12 || events > 10 || bytes > 10_000 {
			t.Errorf("%d streams, %d events and %d bytes are held", streams, events, bytes)
		}
	})
}

// TestMessagesThatGetNoAnswer: a message that the peer would not answer is refused at once: its POST does not wait.
func TestMessagesThatGetNoAnswer(t *testing.T) {
	for name, c := range map[string]struct{ revision, body string }{
		"version":       {"2025-11-25", `{"jsonrpc":"1.0","id":1,"method":"ping"}`},
		"method":        {"2025-11-25", `{"jsonrpc":"2.0","id":1,"method":5}`},
		"id":            {"2025-11-25", `{"jsonrpc":"2.0","id":{},"method":"ping"}`},
		"batch":         {"2025-11-25", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`},
		"batch element": {"2025-03-26", `[{"jsonrpc":"2.0","id":1,"method":"ping"},5]`},
		"twice in a batch": {"2025-03-26",
			`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":1,"method":"ping"}]`},
		"large batch": {"2025-03-26", `[` + strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"ping"},`, 65) + `{}]`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDoor(mcpserver.Bounds{})
				defer d.server.Close(nil)
				id := d.initialize(t, c.revision)
				begun := time.Now()
				ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errors.New("no answer"))
				defer cancel()
				if _, got := d.post(ctx, c.body, "Mcp-Session-Id", id); !strings.Contains(got, "-32600") || time.Since(begun) > 0 {
					t.Errorf("after %v: %s", time.Since(begun), got)
				}
			})
		})
	}
}

// A batch of 2025-03-26 is answered on one stream, which ends with the last answer.
func TestBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(mcpserver.Bounds{})
		defer d.server.Close(nil)
		id := d.initialize(t, "2025-03-26")
		_,
			got := d.post(t.Context(), `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"},`+
			`{"jsonrpc":"2.0","id":"2","method":"tools/call","params":{"name":"echo","arguments":{"x":1.0}}}]`,
			"Mcp-Session-Id", id)
		for _, want := range []string{`{"jsonrpc":"2.0","id":1,"result":{}}`,
			`{"jsonrpc":"2.0","id":"2","result":{"x":1.0}}`} {
			if strings.Count(got, want) != 1 {
				t.Errorf("no %s in %s", want, got)
			}
		}
	})
}

// A session that was ended before it had its peer ends as soon as it is opened.
func TestSessionEndedBeforeItIsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(&handler{}, mcpserver.Bounds{})
		begun := time.Now()
		in, _ := io.Pipe()
		cause := errors.New("going home")
		conn := jsonrpc.NewLineConn(in, io.Discard, jsonrpc.LineConnOptions{})
		if err := s.OpenEnded(conn, cause); !errors.Is(err, cause) || time.Since(begun) > 0 {
			t.Errorf("after %v: %v", time.Since(begun), err)
		}
		s.Close(nil)
	})
}

// The Go SDK's client, over both bindings, makes a call and answers a question, in the modern era.
func TestGoSDKClient(t *testing.T) {
	s := newSite(t, mcpserver.Guard{}, mcpserver.Bounds{})
	toServer, in := io.Pipe()
	out, fromServer := io.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- s.server.Serve(t.Context(), jsonrpc.NewLineConn(toServer, fromServer, jsonrpc.LineConnOptions{}))
	}()
	for name, transport := range map[string]mcp.Transport{
		"http":  &mcp.StreamableClientTransport{Endpoint: s.url, HTTPClient: s.client},
		"stdio": &mcp.IOTransport{Reader: out, Writer: in},
	} {
		client := mcp.NewClient(&mcp.Implementation{Name: "sdk", Version: "1"}, &mcp.ClientOptions{
			ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				return &mcp.ElicitResult{Action: "decline"}, nil
			}})
		session, err := client.Connect(t.Context(), transport, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "echo",
			Arguments: map[string]any{"content": []any{}}}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "one"}); err != nil {
			t.Errorf("%s: asked: %v", name, err)
		}
		s.mu.Lock()
		last := s.last
		s.mu.Unlock()
		if want := `2026-07-28 {"action":"decline"}`; last != want {
			t.Errorf("%s: the question had %s, want %s", name, last, want)
		}
		if err := session.Close(); err != nil {
			t.Errorf("%s: close: %v", name, err)
		}
		if !bytes.Contains([]byte(s.take()), []byte("begins one")) {
			t.Errorf("%s: the tool was not called", name)
		}
	}
	_ = in.Close()
	<-served
}
