package hub_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// related puts the id of a task into the params of a question, as a legacy server must (2025-11-25
// basic/utilities/tasks "Related Task Metadata").
func related(params, task string) string {
	return strings.TrimSuffix(params, "}") + `,"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"` + task + `"}}}`
}

// taskServer is a server of either era whose tool "work" becomes a task: T-1, T-2 and so on. Its tasks outlive its
// connections, and have the status that the test sets.
type taskServer struct {
	*fakeserver.Server
	modern bool

	mu       sync.Mutex // guards below
	tasks    map[string]*fakeTask
	made     int
	stubborn bool          // it takes tasks/cancel and goes on
	changed  chan struct{} // closed and replaced with each change of a task
}

// fakeTask is what polls are answered with. asks holds the input requests of the extension by key, or the params of a
// legacy question.
type fakeTask struct {
	status, message string
	asks            string
	answers         []string // what tasks/update brought, or a legacy question was answered with
	cancels         int
}

func newTaskServer(modern bool, opts ...fakeserver.Option) *taskServer {
	option := fakeserver.WithModern()
	capabilities := `{"tools":{}}`
	if !modern {
		option = fakeserver.WithRevision("2025-11-25")
		capabilities = `{"tools":{},"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}}`
	}
	s := &taskServer{
		Server: fakeserver.New(append([]fakeserver.Option{option, fakeserver.WithCapabilities(capabilities)}, opts...)...),
		modern: modern, tasks: map[string]*fakeTask{}, changed: make(chan struct{}),
	}
	s.ToolWith(`{"name":"work","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}`,
		func(c *fakeserver.CallContext) {
			c.Result(s.begin())
		})
	s.Handle("tasks/get", s.get)
	s.Handle("tasks/result", s.result)
	s.Handle("tasks/cancel", s.cancel)
	s.Handle("tasks/update", func(c *fakeserver.CallContext) {
		s.change(taskOf(c), func(t *fakeTask) {
			t.answers = append(t.answers, string(c.Param("inputResponses")))
			t.asks, t.status = "", "working"
		})
		c.Result(`{"resultType":"complete"}`)
	})
	return s
}

func taskOf(c *fakeserver.CallContext) string { return strings.Trim(string(c.Param("taskId")), `"`) }

// begin makes a task and the result that tells of it.
func (s *taskServer) begin() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made++
	id := fmt.Sprintf("T-%d", s.made)
	s.tasks[id] = &fakeTask{status: "working"}
	if s.modern {
		return `{"resultType":"task","taskId":"` + id + `","status":"working","pollIntervalMs":1000}`
	}
	return `{"task":{"taskId":"` + id + `","status":"working","pollInterval":1000}}`
}

func (s *taskServer) change(id string, do func(*fakeTask)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.tasks[id]; t != nil {
		do(t)
		close(s.changed)
		s.changed = make(chan struct{})
	}
}

// set gives a task another status; without one the task is forgotten.
func (s *taskServer) set(id, status, message string) {
	if status == "" {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.tasks, id)
		return
	}
	s.change(id, func(t *fakeTask) { t.status, t.message = status, message })
}

const (
	taskText   = `{"content":[{"type":"text","text":"done at last"}]}`
	taskFailed = `{"content":[{"type":"text","text":"no"}],"isError":true}`
)

func (s *taskServer) get(c *fakeserver.CallContext) {
	s.mu.Lock()
	t := s.tasks[taskOf(c)]
	if t == nil {
		s.mu.Unlock()
		c.Error(-32602, "no such task")
		return
	}
	message, err := json.Marshal(t.message)
	if err != nil {
		panic(err) // strings marshal
	}
	text := fmt.Sprintf(
		`{"resultType":"complete","taskId":%q,"status":%q,"statusMessage":%s,"pollInterval":1000,"pollIntervalMs":1000`,
		taskOf(c), t.status, message)
	if s.modern {
		switch t.status {
		case "completed":
			text += `,"result":` + taskText
		case "failed":
			text += `,"error":{"code":-32000,"message":"it broke"}`
		case "input_required":
			text += `,"inputRequests":` + t.asks
		}
	}
	s.mu.Unlock()
	c.Result(text + "}")
}

// result is tasks/result of 2025-11-25: it blocks until the task is over, and asks on its way what the task asks.
func (s *taskServer) result(c *fakeserver.CallContext) {
	id := taskOf(c)
	for asked := false; ; {
		s.mu.Lock()
		t, changed := s.tasks[id], s.changed
		status, asks := "", ""
		if t != nil {
			status, asks = t.status, t.asks
		}
		s.mu.Unlock()
		switch {
		case status == "completed":
			c.Result(taskText)
			return
		case status == "failed":
			c.Result(taskFailed)
			return
		case status == "cancelled", status == "":
			c.Error(-32602, "no result")
			return
		case status == "input_required" && !asked:
			asked = true
			q := c.Request(elicitation, related(asks, id))
			if q == nil {
				return
			}
			select {
			case m, ok := <-q.Response():
				if ok {
					s.change(id, func(t *fakeTask) { t.answers, t.status = append(t.answers, answerOf(m)), "working" })
				}
			case <-c.Context().Done():
				return
			}
			continue
		}
		select {
		case <-changed:
		case <-c.Context().Done():
			return
		}
	}
}

func (s *taskServer) cancel(c *fakeserver.CallContext) {
	s.mu.Lock()
	stubborn := s.stubborn
	s.mu.Unlock()
	s.change(taskOf(c), func(t *fakeTask) {
		t.cancels++
		if !stubborn {
			t.status = "cancelled"
		}
	})
	c.Result(`{"resultType":"complete"}`)
}

// ask makes a task ask for the answer to a form.
func (s *taskServer) ask(id string) {
	asks := formParams
	if s.modern {
		asks = `{"q":{"method":"elicitation/create","params":` + formParams + `}}`
	}
	s.change(id, func(t *fakeTask) { t.status, t.asks = "input_required", asks })
}

// taskWorld attaches a window to a world whose server s is a task server, and begins a call r1 whose task T-1 is
// working.
func taskWorld(w *world, c hub.CallRequest) (*view, *pendingCall) {
	w.t.Helper()
	v := w.everything()
	c.ID, c.Server, c.Tool = "r1", "s", "work"
	call := w.call(c)
	if got := w.state("r1"); got != "task_working" {
		w.t.Fatalf("the call is %q; want task_working", got)
	}
	return v, call
}

// down makes a server unreachable (nil), or reachable again.
func (w *world) down(name string, is *fakeserver.Server) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.servers[name] = is
}

// nothingLeft checks that nothing is kept of requests that are over, and that the hub's state does not contradict
// itself.
func (w *world) nothingLeft() {
	w.t.Helper()
	synctest.Wait()
	if left := w.hub.Leftovers(); left != "" {
		w.t.Errorf("left over: %s", left)
	}
	if bad := w.hub.Inconsistent(); bad != "" {
		w.t.Errorf("inconsistent: %s", bad)
	}
}

func ptr(d time.Duration) *time.Duration { return &d }

// eras runs a test with a task server of each era: with the tasks of 2025-11-25 and those of the extension.
func eras(t *testing.T, f func(t *testing.T, s *taskServer)) {
	for _, modern := range []bool{false, true} {
		subtest(t, fmt.Sprintf("modern %v", modern), func(t *testing.T) { f(t, newTaskServer(modern)) })
	}
}
