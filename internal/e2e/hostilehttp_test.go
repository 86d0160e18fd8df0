//go:build unix

package e2e

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mcphub-go/mcphub/internal/fakeserver"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

const tricky = "two\nlines\r\n\ttab \u2028 \ufeff é 中 data: id: \x00"

// eraOptions returns the options of a scriptable server of one era.
func eraOptions(era string) []fakeserver.Option {
	if era == "modern" {
		return []fakeserver.Option{fakeserver.WithModern()}
	}
	return nil
}

// echoTricky calls echo with text that looks like the framing.
func echoTricky(t *testing.T, d *door) {
	t.Helper()
	argument, err := json.Marshal(map[string]string{"text": tricky})
	if err != nil {
		t.Fatal(err)
	}
	if got := d.call("web", "echo", string(argument)).text(); got != tricky {
		t.Errorf("echo gave %q", got)
	}
}

// TestHTTPOddEvents: however a stream is cut into lines, events and reads, the messages are the same.
func TestHTTPOddEvents(t *testing.T) {
	acts := map[string]fakeserver.Act{
		"byte by byte":       {Chunk: 1},
		"cut in the fields":  {Split: []int{1, 7, 20, 21, 22, 23, 50, 51}},
		"several data lines": {MultiLine: true},
		"comments":           {Comment: "keep alive"},
		"CRLF":               {LineEnd: "\r\n"},
		"CRLF, byte by byte": {LineEnd: "\r\n", Chunk: 1},
		"CR":                 {LineEnd: "\r"},
		"BOM":                {BOM: true},
		"all of it":          {BOM: true, Comment: "x", LineEnd: "\r\n", MultiLine: true, Chunk: 3},
		"JSON":               {JSON: true},
	}
	eras(t, func(t *testing.T, era string) {
		b := newWeb(t, fakeserver.HTTPOptions{}, eraOptions(era)...)
		d, _, undisturbed := openWeb(t, b, era)
		defer undisturbed()
		d.start("web")
		for name, act := range acts {
			b.http.On("POST tools/call", 0, act)
			b.http.On("POST tools/list", 0, act)
			echoTricky(t, d)
			if t.Failed() {
				t.Fatalf("it was the stream with %s", name)
			}
		}
		if n := b.exchanges(isPost("tools/call", "echo")); n != len(acts) {
			t.Errorf("%d calls came, not %d", n, len(acts))
		}
	})
}

// TestHTTPOddIDs: the ids of a server's questions are echoed as they came, and those of its events come back in
// Last-Event-ID.
func TestHTTPOddIDs(t *testing.T) {
	t.Parallel()
	const mark = `odd ☃ é;,%00"' `
	b := newWebWith(t, fakeserver.HTTPOptions{Resumable: true}, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if last, ok := strings.CutPrefix(r.Header.Get("Last-Event-Id"), mark); ok {
				r.Header.Set("Last-Event-Id", last)
			} else if last != "" {
				http.Error(w, "unknown event", http.StatusBadRequest)
				return
			}
			next.ServeHTTP(oddWriter{w, mark}, r)
		})
	})
	ids := []string{`"a\n☃ \u0000\/"`, `-7`, `1e3`, `9007199254740993`, `""`}
	b.Tool("ask_odd", func(c *fakeserver.CallContext) {
		var got []string
		for _, id := range ids {
			q, err := b.RequestWithID(id, "elicitation/create", nameQuestion)
			if err != nil {
				return
			}
			if a, ok := <-q.Response(); ok {
				got = append(got, string(a.ID))
			}
		}
		c.Text(strings.Join(got, " "))
	})
	d, w, undisturbed := openWeb(t, b, "legacy")
	defer undisturbed()
	b.http.On("POST tools/call", 1, fakeserver.Act{EndAfter: 1})
	c := d.call("web", "ask_odd", "")
	for range ids {
		p := w.WaitPrompt(form)
		takes(t, w.Accept(p.GetPromptId(), `{"name":"x"}`)) // after several declines the server would have to wait
		w.WaitClosed(p.GetPromptId())
	}
	if got := c.text(); got != strings.Join(ids, " ") {
		t.Errorf("ids %s came back as %s", strings.Join(ids, " "), got)
	}

	// A stream that ends before its answer is resumed after its last event.
	b.Tool("halves", func(c *fakeserver.CallContext) {
		c.Progress(1, 2, "half")
		c.Text("whole")
	})
	b.http.On("POST tools/call", 1, fakeserver.Act{EndAfter: 1})
	if got := d.call("web", "halves", "").text(); got != "whole" {
		t.Errorf("result %q", got)
	}
	if n := b.exchanges(func(x fakeserver.Exchange) bool { return x.Header.Get("Last-Event-Id") != "" }); n == 0 {
		t.Error("nothing was resumed")
	}
}

// oddWriter gives the ids of events an odd beginning.
type oddWriter struct {
	http.ResponseWriter
	mark string
}

func (o oddWriter) Unwrap() http.ResponseWriter { return o.ResponseWriter }

func (o oddWriter) Write(p []byte) (int, error) {
	out := p
	if rest, ok := bytes.CutPrefix(p, []byte("id: ")); ok {
		out = append([]byte("id: "+o.mark), rest...)
	} else {
		out = bytes.Replace(p, []byte("\nid: "), []byte("\nid: "+o.mark), 1)
	}
	if _, err := o.ResponseWriter.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// TestHTTPStreamEndsEarly: when a stream ends before its answer, the call fails, may go on at the server, and is not
// repeated.
func TestHTTPStreamEndsEarly(t *testing.T) {
	acts := map[string]fakeserver.Act{
		"a clean end":                {EndAfter: 1},
		"a break after an event":     {CutAfter: 1},
		"a break within an event":    {CutBytes: 25},
		"a break before the headers": {Break: true},
		"an end after the headers": {Status: 200, Header: map[string]string{"Content-Type": "text/event-stream"},
			Handle: true},
		"half a JSON body": {Status: 200, Header: map[string]string{"Content-Type": "application/json"},
			Body: `{"jsonrpc":"2.0","id":`, Handle: true},
	}
	eras(t, func(t *testing.T, era string) {
		b := newWeb(t, fakeserver.HTTPOptions{}, eraOptions(era)...)
		d, w, undisturbed := openWeb(t, b, era)
		defer undisturbed()
		d.start("web")
		calls := 0
		for name, act := range acts {
			b.http.On("POST tools/call", 1, act)
			c := d.call("web", "slow", "")
			f := c.fails("UNAVAILABLE", "EXCHANGE_FAILED")
			if f.Meta["server_may_continue"] != "true" || !strings.Contains(f.Message, "was not repeated") {
				t.Errorf("%s: the caller was told %+v", name, f)
			}
			if end := w.WaitTerminal(c.id).GetMcpRequestFinished(); !end.GetServerMayContinue() ||
				end.GetHubError().GetReason() != "EXCHANGE_FAILED" {
				t.Errorf("%s: the window was told %v", name, end)
			}
			if calls++; b.exchanges(isPost("tools/call", "slow")) != calls {
				t.Errorf("%s: %d calls came, not %d", name, b.exchanges(isPost("tools/call", "slow")), calls)
			}
			d.echoes("web", "still there")
		}
	})
}

// TestHTTPBigEvent: an event of nearly 64 MiB passes; a longer one fails its call with an error that names the setting,
// and other calls go on.
func TestHTTPBigEvent(t *testing.T) {
	t.Parallel()
	b := newWeb(t, fakeserver.HTTPOptions{})
	digits := strings.Repeat("0123456789abcdef", 4<<20)
	b.Tool("big", func(c *fakeserver.CallContext) {
		var a struct{ Bytes int }
		_ = json.Unmarshal(c.Arguments(), &a)
		c.Result(`{"content":[{"type":"text","text":"` + digits[:a.Bytes] + `"}]}`)
	})
	d, w, undisturbed := openWeb(t, b, "legacy")
	defer undisturbed()
	hanging := d.call("web", "hang", "")
	w.WaitRequest(hanging.id, running)
	for _, form := range []fakeserver.Act{{SSE: true}, {JSON: true}} {
		b.http.On("POST tools/call", 0, form)
		if text := d.call("web", "big", fmt.Sprintf(`{"bytes":%d}`, 60<<20)).text(); len(text) != 60<<20 {
			t.Errorf("%d bytes came", len(text))
		}
		f := d.call("web", "big", fmt.Sprintf(`{"bytes":%d}`, 64<<20)).fails("RESOURCE_EXHAUSTED", "RESULT_TOO_LARGE")
		if f.Meta["setting"] != "maxMessageBytes" {
			t.Errorf("the caller was told %+v", f)
		}
		d.echoes("web", "still there")
	}
	if state := w.Requests()[hanging.id].GetState(); state != running {
		t.Errorf("the other call is %v", state)
	}
}

// TestHTTPGzip: compressed bodies are decompressed, streams as they come; an encoding that was not asked for is an
// error.
func TestHTTPGzip(t *testing.T) {
	eras(t, func(t *testing.T, era string) {
		var encoding atomic.Value
		encoding.Store("gzip")
		b := newWebWith(t, fakeserver.HTTPOptions{}, func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodPost || !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
					next.ServeHTTP(w, r)
					return
				}
				z := &packer{ResponseWriter: w, z: gzip.NewWriter(w), name: encoding.Load().(string)}
				next.ServeHTTP(z, r)
				z.end()
			})
		}, eraOptions(era)...)
		d, w, undisturbed := openWeb(t, b, era)
		defer undisturbed()
		echoTricky(t, d)
		b.http.On("POST tools/call", 1, fakeserver.Act{JSON: true})
		echoTricky(t, d)
		c := d.call("web", "slow", "") // its progress comes while the stream is open
		progressed(w, c.id)
		cancels(t, w, c.id, "enough")
		c.fails("CANCELLED", "CANCELLED")
		encoding.Store("br")
		if f := d.call("web", "echo", `{"text":"x"}`).fails("UNAVAILABLE", "EXCHANGE_FAILED"); !strings.Contains(f.Message,
			"br") {
			t.Errorf("the caller was told %+v", f)
		}
		encoding.Store("gzip")
		d.echoes("web", "still there")
	})
}

// packer compresses a body with gzip, and names the encoding as the test says.
type packer struct {
	http.ResponseWriter
	z    *gzip.Writer
	name string
	on   bool
}

func (p *packer) WriteHeader(status int) {
	if p.on = p.Header().Get("Content-Type") != ""; p.on {
		p.Header().Set("Content-Encoding", p.name)
		p.Header().Del("Content-Length")
	}
	p.ResponseWriter.WriteHeader(status)
}

func (p *packer) Write(b []byte) (int, error) {
	if !p.on {
		return p.ResponseWriter.Write(b)
	}
	return p.z.Write(b)
}

func (p *packer) FlushError() error {
	if p.on {
		if err := p.z.Flush(); err != nil {
			return err
		}
	}
	return http.NewResponseController(p.ResponseWriter).Flush()
}

func (p *packer) end() {
	if p.on {
		_ = p.z.Close() // the client may be gone
	}
}

// TestHTTPTooManyRequests: after a short Retry-After the call is sent again and runs once; a long one, and refusals
// without end, fail the call with an error that says that it has not run.
func TestHTTPTooManyRequests(t *testing.T) {
	eras(t, func(t *testing.T, era string) {
		b := newWeb(t, fakeserver.HTTPOptions{}, eraOptions(era)...)
		d, _, undisturbed := openWeb(t, b, era)
		defer undisturbed()
		d.start("web")
		refusal := func(after string) fakeserver.Act {
			return fakeserver.Act{Status: http.StatusTooManyRequests, Header: map[string]string{"Retry-After": after},
				Body: "slow down"}
		}
		b.http.On("POST tools/call", 1, refusal("0"))
		d.echoes("web", "after a wait")
		if n := b.exchanges(isPost("tools/call", "echo")); n != 2 {
			t.Errorf("%d calls came, not 2", n)
		}
		b.http.On("POST tools/call", 1, refusal("3600"))
		f := d.call("web", "echo", `{"text":"x"}`).fails("UNAVAILABLE", "EXCHANGE_FAILED")
		if f.Meta["http_status"] != "429" || f.Meta["server_may_continue"] != "false" || !strings.Contains(f.Message, "1h") {
			t.Errorf("the caller was told %+v", f)
		}
		b.http.On("POST tools/call", 0, refusal("0"))
		f = d.call("web", "echo", `{"text":"x"}`).fails("UNAVAILABLE", "EXCHANGE_FAILED")
		if n := b.exchanges(isPost("tools/call", "echo")); n != 2+1+4 || f.Meta["server_may_continue"] != "false" {
			t.Errorf("%d calls came; the caller was told %+v", n, f)
		}
		b.http.On("POST tools/call", 0, fakeserver.Act{})
		d.echoes("web", "still there")
	})
}

// TestHTTPNotMCP: a page, a refusal and a redirect to another place each fail the call with a bounded text, and neither
// the message nor its headers go to that place.
func TestHTTPNotMCP(t *testing.T) {
	var visits atomic.Int64
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { visits.Add(1) }))
	t.Cleanup(elsewhere.Close)
	t.Cleanup(func() {
		if n := visits.Load(); n != 0 {
			t.Errorf("the place that a server pointed to was visited %d times", n)
		}
	})
	page := "<html>\x1b[31m" + strings.Repeat("<p>Please log in</p>", 10_000)
	acts := map[string]struct {
		act    fakeserver.Act
		status string
		says   string
	}{
		"a page": {fakeserver.Act{Status: 200, Header: map[string]string{"Content-Type": "text/html"}, Body: page},
			"200", "text/html"},
		"nothing":  {fakeserver.Act{Status: 200}, "200", "empty"},
		"accepted": {fakeserver.Act{Status: 202}, "202", "empty"},
		"401":      {fakeserver.Act{Status: 401, Body: page}, "401", "401"},
		"403":      {fakeserver.Act{Status: 403, Body: page}, "403", "403"},
		"500": {fakeserver.Act{Status: 500, Header: map[string]string{"Content-Type": "text/html"}, Body: page},
			"500", "500"},
		"elsewhere": {fakeserver.Act{Status: 307, Header: map[string]string{"Location": elsewhere.URL + "/mcp"}}, "307",
			"redirects to another place"},
		"elsewhere, 302": {fakeserver.Act{Status: 302, Header: map[string]string{"Location": elsewhere.URL + "/login?to=x"}},
			"302", "redirects to another place"},
		"in a circle": {fakeserver.Act{Status: 307, Header: map[string]string{"Location": "/mcp"}}, "307",
			"redirects without end"},
		"another message": {fakeserver.Act{Status: 200, Header: map[string]string{"Content-Type": "application/json"},
			Body: `{"jsonrpc":"2.0","id":"other","result":{}}`}, "200", "not the answer"},
	}
	eras(t, func(t *testing.T, era string) {
		b := newWeb(t, fakeserver.HTTPOptions{}, eraOptions(era)...)
		p := newPlace(t)
		e := b.entry(era)
		e.Headers = map[string]string{"Authorization": "Bearer s3cret"} // so there is no sign-in
		d := p.open(servers{"web": e, "bystander": p.fake()})
		w := d.window("side bar")
		d.start("web")
		d.echoes("bystander", "before")
		for name, test := range acts {
			b.http.On("POST tools/call", 0, test.act)
			c := d.call("web", "echo", `{"text":"x"}`)
			f := c.fails("UNAVAILABLE", "EXCHANGE_FAILED")
			if f.Meta["http_status"] != test.status || !strings.Contains(f.Message, test.says) || len(f.Message) > 2000 ||
				strings.ContainsAny(f.Message, "\x1b\x00\r") {
				t.Errorf("%s: the caller was told %+v", name, f)
			}
			if strings.Contains(f.Message, "s3cret") {
				t.Errorf("%s: the error shows a header: %s", name, f.Message)
			}
			if end := w.WaitTerminal(
				c.id).GetMcpRequestFinished(); end.GetState() != mcphubv1.RequestState_REQUEST_STATE_FAILED {
				t.Errorf("%s: the window was told %v", name, end)
			}
			b.http.On("POST tools/call", 0, fakeserver.Act{})
			d.echoes("web", "still there")
		}
		d.echoes("bystander", "after")
	})
}
