package matrix

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mcphub-go/mcphub/internal/fakeserver"
	"github.com/mcphub-go/mcphub/internal/faketime"
)

// served is the server's part of a cell: the requests that it keeps until a step says what becomes of them, its own
// questions, and what it answers by itself.
type served struct {
	c *cell

	mu      sync.Mutex // guards what follows
	changed chan struct{}
	kept    []*kept
	came    map[string]int    // requests whose handler has begun, by name
	replies map[string]string // by method: see reply; "" keeps the request
	tools   []string
	ending  bool // nothing is kept any more
}

// kept is a request that waits for its answer. It stays also when it is cancelled.
type kept struct {
	name  string // of the tool, or of the method
	call  *fakeserver.CallContext
	ended bool // guarded by served.mu
	over  chan struct{}
}

func newServed(c *cell) *served {
	s := &served{c: c, changed: make(chan struct{}), came: map[string]int{}, replies: map[string]string{
		"tasks/get": "working", "tasks/update": "ok", "tasks/cancel": "cancelled", "tasks/result": ""}}
	for method := range s.replies {
		s.c.fake.Handle(method, func(call *fakeserver.CallContext) {
			s.mu.Lock()
			text := s.replies[method]
			if text != "" {
				s.noteCame(method)
			}
			s.mu.Unlock()
			if text == "" {
				s.keeping(method)(call)
				return
			}
			s.reply(call, text)
		})
	}
	return s
}

// prepare says what becomes of later requests of a method. It is not a step.
func (s *served) prepare(text string) bool {
	word, rest, _ := strings.Cut(text, " ")
	method, reply, _ := strings.Cut(rest, " ")
	switch {
	case word == "pauses":
		s.c.release = s.c.fake.PauseReading()
	case word == "keeps" && !strings.HasPrefix(method, "tasks/"):
		s.c.fake.Handle(method, s.keeping(method))
	case word == "keeps", word == "replies":
		s.mu.Lock()
		s.replies[method] = reply
		s.mu.Unlock()
	default:
		return false
	}
	return true
}

// tool adds a tool. Calls of echo are answered, and those of others kept. A tool whose name begins with job requires
// a task.
func (s *served) tool(name string) {
	if slices.Contains(s.tools, name) {
		return
	}
	s.tools = append(s.tools, name)
	switch {
	case name == "echo":
		s.c.fake.Tool(name, func(call *fakeserver.CallContext) { call.Text("hello") })
	case strings.HasPrefix(name, "job"):
		s.c.fake.ToolWith(fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}`,
			name), s.keeping(name))
	default:
		s.c.fake.Tool(name, s.keeping(name))
	}
}

func (s *served) keeping(name string) fakeserver.Handler {
	return func(call *fakeserver.CallContext) {
		k := &kept{name: name, call: call, over: make(chan struct{})}
		s.mu.Lock()
		if s.ending {
			s.mu.Unlock()
			return
		}
		s.kept = append(s.kept, k)
		s.noteCame(name)
		s.mu.Unlock()
		select {
		case <-k.over:
			return
		case <-call.Context().Done():
		}
		select {
		case <-call.Cancelled(): // and nothing is answered for that alone
			<-k.over
		default: // the connection has ended
		}
	}
}

// noteCame is called with mu held.
func (s *served) noteCame(name string) {
	s.came[name]++
	close(s.changed)
	s.changed = make(chan struct{})
}

// received returns the ids of the requests of a name that the server has read, in their order.
func (s *served) received(name string) (ids []string) {
	for _, m := range s.c.fake.Received() {
		if m.IsRequest() &&
			(m.Method == name || m.Method == "tools/call" && string(m.Param("name")) == strconv.Quote(name)) {
			ids = append(ids, string(m.ID))
		}
	}
	return ids
}

// find returns the newest request of a name, which is still open unless past is set, and waits for one. Handlers are
// goroutines: those of requests that were read are waited for, and which request is the newest is not theirs to say.
func (s *served) find(name string, past bool) *kept {
	ctx, cancel := context.WithTimeoutCause(s.c.t.Context(), faketime.Long, errNothingCame)
	defer cancel()
	received := s.received(name)
	place := func(k *kept) int {
		for i, id := range slices.Backward(received) {
			if id == string(k.call.ID) {
				return i
			}
		}
		return -1
	}
	for {
		s.mu.Lock()
		changed := s.changed
		var newest *kept
		for _, k := range s.kept {
			if k.name == name && (past || !k.ended) && (newest == nil || place(k) >= place(newest)) {
				newest = k
			}
		}
		if s.came[name] < len(received) {
			newest = nil
		}
		s.mu.Unlock()
		if newest != nil {
			return newest
		}
		select {
		case <-changed:
		case <-ctx.Done():
			s.c.t.Fatalf("no %s came", name)
		}
	}
}

// end lets the handler of a request return.
func (s *served) end(k *kept) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !k.ended {
		k.ended = true
		close(k.over)
	}
}

// endAll ends all requests, so that nothing keeps the server, or its connection, from ending.
func (s *served) endAll(ending bool) {
	s.mu.Lock()
	kept := slices.Clone(s.kept)
	s.ending = ending
	s.mu.Unlock()
	for _, k := range kept {
		s.end(k)
	}
}

// expand replaces "$NAME" by the id, or the progress token, of the newest request of that name.
func (s *served) expand(text string) string {
	for _, member := range []string{`"requestId":`, `"progressToken":`} {
		if before, after, found := strings.Cut(text, member+"$"); found {
			i := strings.IndexAny(after, ",}")
			k := s.find(after[:i], true)
			value := k.call.ID
			if member == `"progressToken":` {
				value = k.call.ProgressToken()
			}
			text = before + member + string(value) + after[i:]
		}
	}
	return text
}

// request does something in the course of a request that is kept.
func (s *served) request(name, text string) {
	s.c.t.Helper()
	k := s.find(name, strings.HasPrefix(text, "progresses"))
	word, rest, _ := strings.Cut(text, " ")
	switch word {
	case "progresses":
		numbers, message, _ := strings.Cut(rest, " ")
		progress, total, _ := strings.Cut(numbers, "/")
		p, _ := strconv.ParseFloat(progress, 64)
		of, _ := strconv.ParseFloat(total, 64)
		k.call.Progress(p, of, message)
	case "asks":
		if !s.c.binding.modern() {
			s.ask(k.call.Request, rest)
			return
		}
		k.call.InputRequired(s.inputs(rest), "state-1")
		s.end(k)
	case "notifies":
		method, params, _ := strings.Cut(rest, " ")
		k.call.Notify(method, params)
	case "withdraws":
		n, reason, _ := strings.Cut(rest, " ")
		k.call.Notify("notifications/cancelled", fmt.Sprintf(`{"requestId":%s,"reason":%q}`, n, reason))
	case "answers":
		k.call.Text(rest)
		s.end(k)
	case "gives":
		k.call.Result(rest)
		s.end(k)
	case "becomes":
		k.call.Result(s.made(rest))
		s.end(k)
	case "replies":
		s.reply(k.call, rest)
		s.end(k)
	default:
		s.c.t.Errorf("a request cannot do %q", text)
	}
}

// act does something that belongs to no request.
func (s *served) act(text string) {
	s.c.t.Helper()
	var err error
	word, rest, _ := strings.Cut(text, " ")
	switch word {
	case "asks":
		id, more, again := strings.Cut(rest, " again")
		if again {
			rest = more
		}
		s.ask(func(method, params string) (q *fakeserver.OutRequest) {
			if again {
				q, err = s.c.fake.RequestWithID(id, method, params)
			} else {
				q, err = s.c.fake.Request(method, params)
			}
			return q
		}, rest)
	case "notifies":
		method, params, _ := strings.Cut(rest, " ")
		err = s.c.fake.Notify(method, params)
	case "withdraws":
		n, reason, _ := strings.Cut(rest, " ")
		err = s.c.fake.Notify("notifications/cancelled", fmt.Sprintf(`{"requestId":%s,"reason":%q}`, n, reason))
	case "sends":
		err = s.c.fake.SendLine(rest)
	case "disconnects":
		s.endAll(false)
		s.c.ended = true
		s.c.fake.Disconnect()
	case "expires":
		s.c.ended = true
		s.c.http.Expire()
	case "listening":
		switch sub := s.c.subscribed(); rest {
		case "is answered":
			sub.EndWithResult()
		case "is cancelled":
			sub.EndWithCancel("restarting")
		case "fails":
			sub.EndWithError(-32603, "restarting")
		case "hears of tools":
			err = sub.Notify("notifications/tools/list_changed", "")
		}
	default:
		s.c.t.Errorf("a server cannot do %q", text)
	}
	if err != nil {
		s.c.t.Errorf("%s: %v", text, err)
	}
}
