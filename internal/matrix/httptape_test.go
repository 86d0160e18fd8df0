package matrix

import (
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

const eventStream = "text/event-stream"

// taped records every exchange of the fake's handler: the request with its protocol headers, the answer, and who closed
// it. Who ends a stream after its answer is not recorded, because both sides do so, in either order.
func taped(t *tape, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client closed the request before its end
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		m := messageIn(body)
		x := &tapedExchange{ResponseWriter: w, tape: t, name: exchangeName(r, m), id: string(m.ID)}
		x.aside = r.URL.Path == fakeserver.PathMessages || m.Method == "" && m.ID != nil
		x.asked = t.line(x.name, "%s", strings.TrimSpace(r.Method+" "+r.URL.Path+protocolHeaders(r)+" "+string(body)))
		defer func() {
			broken := recover()
			x.over(broken != nil, r.Context().Err() != nil)
			if broken != nil {
				panic(broken)
			}
		}()
		next.ServeHTTP(x, r)
	})
}

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		RequestID json.RawMessage `json:"requestId"` // of a cancel
	} `json:"params"`
}

func messageIn(body []byte) (m message) {
	_ = json.Unmarshal(body, &m) // text that is not a message has no method
	return m
}

// exchangeName names an exchange after its content. Unlike a number, the name does not depend on the order in which
// independent exchanges arrive.
func exchangeName(r *http.Request, m message) string {
	switch {
	case m.Method != "" && m.ID != nil:
		return m.Method + " " + string(m.ID)
	case m.Method != "":
		return strings.TrimRight(m.Method+" "+string(m.Params.RequestID), " ")
	case m.ID != nil:
		return "answer to " + string(m.ID)
	}
	return r.Method
}

func protocolHeaders(r *http.Request) string {
	text := ""
	for _, name := range []string{"Mcp-Session-Id", "Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name", "Last-Event-Id"} {
		if v := r.Header.Get(name); v != "" {
			text += " " + name + "=" + v
		}
	}
	return text
}

type tapedExchange struct {
	http.ResponseWriter
	tape *tape
	name string
	id   string // of the request that is answered; "" if there is none

	asked *entry
	// aside is true for a POST of the older HTTP with SSE, and for a POST of an answer. The messages that such a POST
	// causes come on another stream, before or after its own status.
	aside bool

	mu       sync.Mutex // guards what follows: one goroutine writes, and another one may call over
	status   int
	stream   bool
	answered bool
	part     string
}

// Unwrap lets http.ResponseController find the flusher.
func (x *tapedExchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

func (x *tapedExchange) WriteHeader(status int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.head(status)
	x.ResponseWriter.WriteHeader(status)
}

func (x *tapedExchange) head(status int) { // called with mu held
	if x.status != 0 {
		return
	}
	x.status = status
	media, _, _ := mime.ParseMediaType(x.Header().Get("Content-Type"))
	x.stream = media == eventStream
	if x.aside {
		x.tape.amend(x.asked, ", status "+strconv.Itoa(status))
		return
	}
	x.tape.line(x.name, "%s", strings.TrimRight("status "+strconv.Itoa(status)+" "+media, " "))
}

var eventData = regexp.MustCompile(`(?m)^(event|data): ?(.*)$`)

func (x *tapedExchange) Write(b []byte) (int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.head(http.StatusOK)
	x.part += string(b)
	if !x.stream && !x.aside && len(b) > 0 {
		x.tape.line(x.name, "< %s", b)
	}
	for x.stream {
		event, rest, ok := strings.Cut(x.part, "\n\n")
		if !ok {
			break
		}
		x.part = rest
		x.event(event)
	}
	return x.ResponseWriter.Write(b)
}

func (x *tapedExchange) event(text string) { // called with mu held
	name, data := "", ""
	for _, f := range eventData.FindAllStringSubmatch(text, -1) {
		if f[1] == "event" {
			name = f[2]
		} else {
			data += f[2]
		}
	}
	switch {
	case name == "endpoint":
		x.tape.line(x.name, "< endpoint %s", data)
	case data != "":
		m := messageIn([]byte(data))
		x.answered = x.answered || x.id != "" && m.Method == "" && string(m.ID) == x.id
		x.tape.line(x.name, "< %s", data)
	}
}

// over records how the exchange ended.
func (x *tapedExchange) over(broken, left bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case broken:
		x.tape.line(x.name, "broken by the server")
	case x.status != 0 && !x.stream:
	case x.name == http.MethodGet && x.tape.finishing():
		x.tape.line(x.name, "over") // the hub closes the stream and deletes the session; either may come first
	case left && !x.answered:
		x.tape.line(x.name, "closed by the hub")
	case !x.answered:
		x.tape.line(x.name, "ended by the server")
	}
}
