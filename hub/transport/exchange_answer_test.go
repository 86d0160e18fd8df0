package transport

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/hub/jsontext"
)

var deepAnswer = `{"jsonrpc":"2.0","id":1,"result":` + strings.Repeat("[", 10001) + strings.Repeat("]", 10001) + `}`

// TestStatusBodies: what a status means is read from the body where there is one (2026-07-28
// basic/transports/streamable-http).
func TestStatusBodies(t *testing.T) {
	const (
		own    = `{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"version"}}`
		null   = `{"jsonrpc":"2.0","id":null,"error":{"code":-32020,"message":"header"}}`
		absent = ` {"jsonrpc":"2.0","error":{"code":-32021,"message":"capability"}}`
	)
	for name, c := range map[string]struct {
		status    int
		body      string
		want      string // received; "" for a failure
		delivery  Delivery
		text      string
		unlabeled bool
	}{
		"400 own id": {status: 400, body: own, want: own},
		"400 id null": {status: 400, body: null,
			want: `{"jsonrpc":"2.0","id":1,"error":{"code":-32020,"message":"header"}}`},
		"400 no id": {status: 400, body: absent,
			want: `{"jsonrpc":"2.0","id":1,"error":{"code":-32021,"message":"capability"}}`},
		"404 own id":             {status: 404, body: own, want: own},
		"500 own id":             {status: 500, body: own, want: own},
		"400 own id, text/plain": {status: 400, body: own, want: own, unlabeled: true},
		"400 empty":              {status: 400, text: "HTTP status 400", delivery: MayHaveRun},
		"400 text": {status: 400, body: "Bad session\x1b[31m\n", text: "Bad session [31m",
			delivery: MayHaveRun},
		"400 JSON": {status: 400, body: `{"error":"nope"}`, text: `{"error":"nope"}`, delivery: MayHaveRun},
		"400 another's id": {status: 400, body: `{"jsonrpc":"2.0","id":2,"error":{"code":1,"message":"other"}}`,
			text: "other", delivery: MayHaveRun},
		"400 broken JSON-RPC": {status: 400, body: `{"jsonrpc":"2.0","id":1,"error":{"code":1,"mess`,
			text: "HTTP status 400", delivery: MayHaveRun},
		"404 empty":        {status: 404, text: "HTTP status 404", delivery: NotSent},
		"405":              {status: 405, text: "HTTP status 405", delivery: NotSent},
		"415":              {status: 415, body: "<b>media</b> type", text: "media type", delivery: NotSent},
		"500 HTML":         {status: 500, body: "<html><h1>Oops</h1></html>", text: "Oops", delivery: MayHaveRun},
		"502":              {status: 502, text: "HTTP status 502", delivery: MayHaveRun},
		"503":              {status: 503, text: "HTTP status 503", delivery: MayHaveRun},
		"401":              {status: 401, body: own, text: "headers", delivery: NotSent},
		"403":              {status: 403, body: null, text: "header", delivery: NotSent},
		"202 to a request": {status: 202, text: "empty", delivery: MayHaveRun, unlabeled: true},
		"200 empty":        {status: 200, text: "empty", delivery: MayHaveRun},
		"200 id null": {status: 200, body: null,
			want: `{"jsonrpc":"2.0","id":1,"error":{"code":-32020,"message":"header"}}`},
		"200 byte order mark": {status: 200, body: "\ufeff" + own, want: "\ufeff" + own}, // finding B10
		// finding A8: its reader fails the call
		"200 nested too deeply": {status: 200, body: deepAnswer, want: deepAnswer},
		"200 not JSON": {status: 200, body: `{"jsonrpc":"2.0","id":1,"result":`, text: "not the answer",
			delivery: MayHaveRun},
		"200 another's id": {status: 200, body: `{"jsonrpc":"2.0","id":"1","result":1}`, text: "not the answer",
			delivery: MayHaveRun},
		"200 no JSON-RPC": {status: 200, body: `{"id":1,"result":{}}`, text: "not the answer", delivery: MayHaveRun},
		"200 an array": {status: 200, body: `[{"jsonrpc":"2.0","id":1,"result":{}}]`, text: "not the answer",
			delivery: MayHaveRun},
		"200 without a type": {status: 200, body: own, text: "not JSON and not an event stream", delivery: MayHaveRun,
			unlabeled: true},
		"404 text, long and wide": {status: 404, body: strings.Repeat("ä", 5000), text: strings.Repeat("ä", 100) +
			"…", delivery: NotSent},
	} {
		t.Run(name, func(t *testing.T) {
			on := map[string]func(*exchangeSeen){"x": func(x *exchangeSeen) {
				if c.unlabeled {
					x.w.Header().Set("Content-Type", "text/plain")
					x.w.WriteHeader(c.status)
					_, _ = io.WriteString(x.w, c.body)
					return
				}
				x.json(c.status, c.body)
			}}
			inWebWorld(t, on, func(w *webWorld) {
				w.modern()
				w.send("1", "x")
				if c.want != "" {
					w.wantBody("1", c.want)
				} else {
					// A body that is not the answer is received, too: it may be something else.
					if c.status == 200 && c.body != "" && !c.unlabeled {
						w.wantBody("1", c.body)
					}
					e := w.wantFailed("1", c.delivery, c.text)
					if len(e.Text) > 2*excerptBytes+100 {
						w.Errorf("the text has %d bytes", len(e.Text))
					}
				}
				w.wantNothing()
				w.wantOpen(0)
				w.send("2", "ping")
				w.wantBody("2", `{"jsonrpc":"2.0","id":2,"result":{}}`)
			})
		})
	}
}

func TestHTMLAnswer(t *testing.T) {
	const page = "<!DOCTYPE html><html><head><title>Sign in</title></head><body>\n<p>to the proxy</p></body></html>"
	on := map[string]func(*exchangeSeen){"x": func(x *exchangeSeen) {
		x.w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(x.w, page+strings.Repeat(" ", 1<<20))
	}}
	inWebWorld(t, on, func(w *webWorld) {
		w.legacy("2025-11-25")
		w.send("1", "x")
		e := w.wantFailed("1", MayHaveRun, "text/html", "Sign in to the proxy")
		if e.Status != 200 || strings.Contains(e.Text, "<") {
			w.Errorf("%d: %s", e.Status, e.Text)
		}
	})
}

func TestBatchAnswers(t *testing.T) {
	const batch = `[{"jsonrpc":"2.0","method":"n"}, {"jsonrpc":"2.0","id":1,"result":"]}"}]`
	on := map[string]func(*exchangeSeen){
		"json": func(x *exchangeSeen) { x.json(200, batch) },
		"sse":  func(x *exchangeSeen) { x.events("data: " + batch + "\n\n") },
	}
	for key := range on {
		t.Run(key, func(t *testing.T) {
			inWebWorld(t, on, func(w *webWorld) {
				w.legacy("2025-03-26")
				w.send("1", key)
				w.wantBody("1", batch)
				w.wantNothing()
				w.wantOpen(0)
			})
		})
	}
}

func TestOddIDs(t *testing.T) {
	for _, id := range []string{`0`, `-1`, `9007199254740993`, `1.0`, `"1"`, `""`, `"a\"b"`, `"{,}:\\"`, `"日本"`,
		`"\u0000"`, `"id"`, `"null"`} {
		t.Run(id, func(t *testing.T) {
			on := map[string]func(*exchangeSeen){
				"first":  func(x *exchangeSeen) { x.result(`{"id":7,"error":"\\"}`) },
				"last":   func(x *exchangeSeen) { x.json(200, `{"result":{"id":7},"jsonrpc":"2.0","id": `+x.ID+` }`) },
				"stream": func(x *exchangeSeen) { x.events("data: " + x.answer(`[{"id":7}]`) + "\n\n") },
			}
			inWebWorld(t, on, func(w *webWorld) {
				w.modern()
				for method := range on {
					w.send(id, method)
					if r := w.next(); r.Stream != id || r.FailedID != "" {
						w.Errorf("%s: received %s of %q, failed %q: %v", method, r.Body, r.Stream, r.FailedID, r.Err)
					}
				}
				w.wantNothing()
				w.wantOpen(0)
			})
		})
	}
}

func TestGzip(t *testing.T) {
	on := map[string]func(*exchangeSeen){
		"json": func(x *exchangeSeen) {
			x.w.Header().Set("Content-Encoding", "gzip")
			x.w.Header().Set("Content-Type", "application/json")
			z := gzip.NewWriter(x.w)
			_, _ = io.WriteString(z, x.answer(`"zipped"`))
			_ = z.Close()
		},
		"sse": func(x *exchangeSeen) {
			x.w.Header().Set("Content-Encoding", "gzip")
			x.w.Header().Set("Content-Type", "text/event-stream")
			z := gzip.NewWriter(x.w)
			_, _ = io.WriteString(z, "data: "+hello+"\n\n")
			_ = z.Flush()
			_ = http.NewResponseController(x.w).Flush()
			elapse(time.Minute) // what was flushed has to arrive before the end
			_, _ = io.WriteString(z, "data: "+x.answer(`"zipped"`)+"\n\n")
			_ = z.Close()
		},
		"bomb": func(x *exchangeSeen) {
			x.w.Header().Set("Content-Encoding", "gzip")
			x.w.Header().Set("Content-Type", "application/json")
			z := gzip.NewWriter(x.w)
			for range 1 << 10 {
				_, _ = io.WriteString(z, strings.Repeat(" ", 1<<10))
			}
			_ = z.Close()
		},
		"br": func(x *exchangeSeen) { x.w.Header().Set("Content-Encoding", "br"); x.json(200, "\x0b\x02") },
	}
	inWebWorld(t, on, func(w *webWorld) {
		w.modern()
		w.send("1", "json")
		w.wantBody("1", `{"jsonrpc":"2.0","id":1,"result":"zipped"}`)
		w.send("2", "sse")
		from := time.Now()
		w.wantBody("2", hello)
		if time.Since(from) != 0 {
			w.Error("a flushed event was kept back")
		}
		w.wantBody("2", `{"jsonrpc":"2.0","id":2,"result":"zipped"}`)
		w.send("3", "bomb")
		w.wantFailed("3", MayHaveRun, "maxMessageBytes")
		w.send("4", "br")
		w.wantFailed("4", MayHaveRun, "encoding")
	}, func(_ *webWorld, o *HTTPOptions) { o.MaxMessageBytes = 1 << 16 })
}

func TestTooLong(t *testing.T) {
	long := strings.Repeat("x", 2000)
	on := map[string]func(*exchangeSeen){
		"known":   func(x *exchangeSeen) { x.w.Header().Set("Content-Length", "2100"); x.result(`"` + long + `"`) },
		"unknown": func(x *exchangeSeen) { x.result(`"` + long + long + `"`) },
		"event":   func(x *exchangeSeen) { x.events("data: " + x.answer(`"`+long+`"`) + "\n\n") },
		"late id": func(x *exchangeSeen) { x.events(`data: {"result":"` + long + `","jsonrpc":"2.0","id":4}` + "\n\n") },
		"fits":    func(x *exchangeSeen) { x.result(`"` + long[:1000-len(x.answer(`""`))] + `"`) },
		"fits, too": func(x *exchangeSeen) {
			x.events("data: " + x.answer(`"`+long[:1000-len(x.answer(`""`))]+`"`) + "\n\n")
		},
		"another": func(x *exchangeSeen) {
			x.events(`data: {"jsonrpc":"2.0","id":0,"method":"sampling/createMessage","params":"` + long + `"}` + "\n\n")
			x.events("data: " + x.answer("1") + "\n\n")
		},
		"params first": func(x *exchangeSeen) { // finding A9
			x.events(`data: {"jsonrpc":"2.0","params":"` + long + `","method":"notifications/message"}` + "\n\n")
			x.events("data: " + x.answer("1") + "\n\n")
		},
		"GET": func(x *exchangeSeen) {
			x.events("data: {\"jsonrpc\":\"2.0\",\"method\":\"" + long + "\"}\n\ndata: " + hello + "\n\n")
			x.left()
		},
	}
	inWebWorld(t, on, func(w *webWorld) {
		w.legacy("2025-11-25")
		// A long message that is not the answer is received as an error without an id, so that a long request of the
		// server can be refused.
		wantLong := func() {
			w.Helper()
			var long *jsontext.TooLongError
			if r := w.next(); !errors.As(r.Err, &long) || r.FailedID != "" || long.Limit != 1000 {
				w.Errorf("received %s, failed %q: %v, want a message that is too long", r.Body, r.FailedID, r.Err)
			}
		}
		wantLong()
		w.wantBody("", hello)
		for i, key := range []string{"known", "unknown", "event", "late id"} {
			id := fmt.Sprint(i + 1)
			w.send(id, key)
			if e := w.wantFailed(id, MayHaveRun, "maxMessageBytes allows 1000"); !errors.Is(e, ErrTooLong) {
				w.Errorf("%s: %v is not ErrTooLong", key, e)
			}
		}
		w.send("5", "another")
		wantLong()
		w.wantBody("5", `{"jsonrpc":"2.0","id":5,"result":1}`)
		w.send("5", "params first")
		wantLong()
		w.wantBody("5", `{"jsonrpc":"2.0","id":5,"result":1}`)
		for _, key := range []string{"fits", "fits, too"} {
			w.send("6", key)
			if r := w.next(); len(r.Body) != 1000 {
				w.Errorf("%s: %d bytes, failed %q: %v", key, len(r.Body), r.FailedID, r.Err)
			}
		}
	}, func(_ *webWorld, o *HTTPOptions) { o.MaxMessageBytes = 1000 })
}

func TestBrokenOff(t *testing.T) {
	on := map[string]func(*exchangeSeen){
		"body": func(x *exchangeSeen) { x.w.Header().Set("Content-Length", "100"); x.result("1") },
		"head": func(*exchangeSeen) { panic(http.ErrAbortHandler) },
	}
	inWebWorld(t, on, func(w *webWorld) {
		w.modern()
		w.send("1", "body")
		w.wantFailed("1", MayHaveRun, "broke off")
		w.send("2", "head")
		w.wantFailed("2", MayHaveRun, "broke off")
		if n := len(w.requests("head")); n != 1 {
			w.Errorf("a call that may have run was sent %d times", n)
		}
	})
}

func FuzzAnswerTo(f *testing.F) {
	for _, seed := range []string{`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"error":{},"id":null,"jsonrpc":"2.0"}`,
		`[{"id":1,"jsonrpc":"2.0","result":"\""}]`, `{"jsonrpc":"2.0","error":{"a":[1,2,{}]}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, message []byte) {
		r, answered := answerTo("1", message, true)
		if !answered {
			return
		}
		if again, still := answerTo("1", r.Body, true); !still || string(again.Body) != string(r.Body) {
			t.Errorf("%q became %q, which is no answer", message, r.Body)
		}
	})
}
