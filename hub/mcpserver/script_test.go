package mcpserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/mcpserver"
	"github.com/mcphub-go/mcphub/internal/faketime"
	"github.com/mcphub-go/mcphub/internal/script"
)

// handler does what the name of the called tool says, and records what it sees.
type handler struct {
	mu   sync.Mutex
	seen []string
	stop map[string]context.CancelCauseFunc // of the open questions, by their message
	told chan string                        // gets each line that is added to seen; may be nil
	last string                             // the revision and the answers of the last call that asked
	call *mcpserver.Call                    // the last one
}

func (h *handler) saw(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seen = append(h.seen, "   "+fmt.Sprintf(format, args...)+"\n")
	if h.told != nil {
		h.told <- fmt.Sprintf(format, args...)
	}
}

type withdrawn string

func (w withdrawn) Error() string        { return string(w) }
func (w withdrawn) CancelReason() string { return string(w) }

func (h *handler) Request(ctx context.Context, c *mcpserver.Call) (json.RawMessage, error) {
	switch c.Method {
	case "tools/call":
	case "tools/list", "resources/subscribe", "resources/unsubscribe", "logging/setLevel":
		h.saw("%s %s", c.Method, c.Params)
		return json.RawMessage(`{"n":1.0}`), nil
	default:
		return nil, mcpserver.ErrUnknownMethod
	}
	name := jsontext.String(jsontext.Get(c.Params, "name"))
	h.saw("begins %s meta=%s", name, c.Meta)
	h.mu.Lock()
	h.call = c
	h.mu.Unlock()
	switch name {
	case "echo":
		return jsontext.Get(c.Params, "arguments"), nil
	case "fail":
		return nil, &jsonrpc.Error{Code: -5, Message: "no", Data: json.RawMessage(`{"k":1.0}`)}
	case "progress":
		c.Progress(json.RawMessage(`{"progressToken":"ours","progress":1.50,"total":2}`))
		c.Log("info", json.RawMessage(`{"level":"info","data":1.0}`))
		return json.RawMessage(`{}`), nil
	case "wait":
		<-ctx.Done()
		h.saw("%s ends: %v", name, context.Cause(ctx))
		return json.RawMessage(`{"late":true}`), nil
	}
	if name == "later" { // it asks once its client has stopped listening and listens again
		for want := range 2 {
			for c.Heard() == (want == 0) {
				faketime.Pass(time.Millisecond)
			}
			h.saw("heard: %v", c.Heard())
		}
	}
	if name == "hasty" || name == "leaves" { // it does not wait for the answer to its question
		base := ctx
		if name == "leaves" {
			base = context.WithoutCancel(ctx)
		}
		own, cancel := context.WithCancelCause(base)
		h.mu.Lock()
		h.stop[name] = cancel
		h.mu.Unlock()
		go func() { _, _ = c.Ask(own, "elicitation/create", json.RawMessage(`{"message":"`+name+`"}`)) }()
		faketime.Pass(time.Millisecond)
		if name == "hasty" {
			cancel(withdrawn("enough"))
		}
		return json.RawMessage(`{}`), nil
	}
	switch name {
	case "unread":
		faketime.Pass(5 * time.Millisecond)
	case "late":
		faketime.Pass(time.Second)
	}
	var asking sync.WaitGroup
	answers := make([]string, len(strings.Split(name, "+")))
	for i, message := range strings.Split(name, "+") {
		if i > 0 {
			faketime.Pass(time.Millisecond) // it keeps the questions in order
		}
		asking.Go(func() {
			own, cancel := context.WithCancelCause(ctx)
			h.mu.Lock()
			h.stop[message] = cancel
			h.mu.Unlock()
			method, params := "elicitation/create", `{"message":"`+message+`"}`
			if strings.HasPrefix(message, "roots") {
				method, params = "roots/list", `{}`
			}
			result, err := c.Ask(own, method, json.RawMessage(params))
			answers[i] = string(result)
			if err != nil {
				answers[i] = "null"
				h.saw("%s: %v", message, err)
			}
		})
	}
	asking.Wait()
	h.mu.Lock()
	h.last = c.Client.Revision + " " + strings.Join(answers, ",")
	h.mu.Unlock()
	if ctx.Err() != nil {
		h.saw("%s ends: %v", name, context.Cause(ctx))
	}
	return json.RawMessage(`{"answers":[` + strings.Join(answers, ",") + `]}`), nil
}

func (h *handler) Notified(_ *mcpserver.Session, method string, params json.RawMessage) {
	h.saw("%s %s", method, params)
}

func (h *handler) Ended(s *mcpserver.Session, cause error) { h.saw("session ended: %v", cause) }

func (h *handler) take() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	text := strings.Join(h.seen, "")
	h.seen = nil
	return text
}

func newServer(h mcpserver.Handler, b mcpserver.Bounds) *mcpserver.Server {
	return mcpserver.New(mcpserver.Options{Handler: h, Bounds: b, Instructions: "be kind",
		Info:         json.RawMessage(`{"name":"s","version":"1.0"}`),
		Capabilities: json.RawMessage(`{"tools":{"listChanged":true}}`)})
}

// TestStdioScripts plays the conversations under testdata/stdio. Each file of an archive but "want" is a step, and
// after each step the test waits until every goroutine is blocked. STATE stands for the last requestState.
//
//	send  its lines are what the client sends
//	do    its lines are commands:
//	      withdraw MESSAGE REASON   end the context of that question
//	      changed METHOD            tell of a changed list
//	      updated URI               tell of a changed resource
//	      log LEVEL                 say something that belongs to no call
//	      progress N                report progress of the last call
//	      wait DURATION
//	      close REASON              close the server
//	      eof                       the client closes its side
//
// "want" has, for each step, what was written ("<- ...") and what the handler saw ("   ...").
func TestStdioScripts(t *testing.T) {
	script.Play(t, "testdata/stdio/*.txtar", playStdio)
}

var stateOf = regexp.MustCompile(`"requestState":"([A-Z2-7]{26})"`)

// wire is one client over a pipe. A goroutine reads what the server sends, until the pipe is closed.
type wire struct {
	in    *io.PipeWriter
	ended chan error
	mu    sync.Mutex
	lines []string
}

func connect(s *mcpserver.Server) *wire {
	toServer, in := io.Pipe()
	out, fromServer := io.Pipe()
	w := &wire{in: in, ended: make(chan error, 1)}
	go func() {
		w.ended <- s.Serve(context.Background(), jsonrpc.NewLineConn(toServer, fromServer, jsonrpc.LineConnOptions{}))
	}()
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			w.mu.Lock()
			w.lines = append(w.lines, lines.Text())
			w.mu.Unlock()
		}
	}()
	return w
}

func (w *wire) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	lines := w.lines
	w.lines = nil
	return lines
}

func playStdio(t *testing.T, steps []txtar.File) string {
	h := &handler{stop: map[string]context.CancelCauseFunc{}}
	s := newServer(h, mcpserver.Bounds{})
	w := connect(s)
	var got strings.Builder
	state := ""
	for _, step := range steps {
		fmt.Fprintf(&got, "# %s\n", step.Name)
		for line := range strings.Lines(string(step.Data)) {
			line = strings.TrimSuffix(line, "\n")
			if strings.HasPrefix(step.Name, "send") {
				_, _ = io.WriteString(w.in, strings.ReplaceAll(line, "STATE", state)+"\n")
				synctest.Wait() // requests run concurrently: this keeps the order of a script fixed
			} else {
				act(t, s, h, w, line)
			}
		}
		synctest.Wait()
		<-time.After(50 * time.Millisecond) // the server collects questions for a moment before it sends a round
		synctest.Wait()
		for _, line := range w.take() {
			if m := stateOf.FindStringSubmatch(line); m != nil {
				state = m[1]
			}
			got.WriteString("<- " + stateOf.ReplaceAllString(line, `"requestState":"STATE"`) + "\n")
		}
		got.WriteString(h.take())
	}
	_ = w.in.Close()
	s.Close(errors.New("the script is over"))
	<-w.ended
	return got.String()
}

func act(t *testing.T, s *mcpserver.Server, h *handler, w *wire, line string) {
	verb, rest, _ := strings.Cut(line, " ")
	first, second, _ := strings.Cut(rest, " ")
	each := func(f func(*mcpserver.Session)) {
		for _, session := range s.Sessions() {
			f(session)
		}
	}
	switch verb {
	case "withdraw":
		h.mu.Lock()
		cancel := h.stop[first]
		h.mu.Unlock()
		cancel(withdrawn(second))
	case "changed":
		each(func(session *mcpserver.Session) { session.ListChanged(first) })
	case "updated":
		each(func(session *mcpserver.Session) {
			session.ResourceUpdated(first, json.RawMessage(`{"uri":"`+first+`"}`))
		})
	case "log":
		each(func(session *mcpserver.Session) {
			session.Log(first, json.RawMessage(`{"level":"`+first+`","data":1.0}`))
		})
	case "progress":
		h.mu.Lock()
		call := h.call
		h.mu.Unlock()
		call.Progress(json.RawMessage(`{"progress":` + first + `}`))
	case "wait":
		d, err := time.ParseDuration(first)
		if err != nil {
			t.Fatal(err)
		}
		faketime.Pass(d)
	case "close":
		s.Close(errors.New(rest))
	case "eof":
		_ = w.in.Close()
	default:
		t.Fatalf("unknown command %q", line)
	}
}
