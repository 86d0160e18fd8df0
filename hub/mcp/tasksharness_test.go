package mcp

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub/protocol"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

const (
	taskCapabilities = `{"tools":{},"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}}`
	taskResult       = `{ "content":[{"type":"text","text":"done"}],"n":1.0 }`
)

// taskServer is a fake server whose tool t becomes task T-1, and whose answers to polls come from a list; the last one
// is repeated.
type taskServer struct {
	*fakeserver.Server
	era Era

	mu    sync.Mutex // guards what follows
	polls []string   // what is in the answers, beside taskId
	at    []time.Time
}

// newTaskServer returns a taskServer; capabilities are those of a legacy server, "" for a modern one. A call is
// answered at once with a task that is working.
func newTaskServer(capabilities string, polls ...string) *taskServer {
	option, era := fakeserver.WithModern(), Modern
	if capabilities != "" {
		option, era = fakeserver.WithRevision(Revision20251125), Legacy
	} else {
		capabilities = `{"tools":{}}`
	}
	f := &taskServer{Server: fakeserver.New(option, fakeserver.WithCapabilities(capabilities)), era: era, polls: polls}
	f.Tool("t", func(c *fakeserver.CallContext) { c.Result(f.made(`"status":"working"`)) })
	f.Handle(protocol.MethodTaskGet, func(c *fakeserver.CallContext) { c.Result(f.polled()) })
	f.Handle(protocol.MethodTaskCancel, func(c *fakeserver.CallContext) { c.Result(`{"resultType":"complete"}`) })
	f.Handle(protocol.MethodTaskUpdate, func(c *fakeserver.CallContext) { c.Result(`{"resultType":"complete"}`) })
	f.Handle(protocol.MethodTaskResult, func(c *fakeserver.CallContext) { c.Result(taskResult) })
	return f
}

// made returns the result by which a call becomes the task.
func (f *taskServer) made(members string) string {
	if f.era == Modern {
		return `{"resultType":"task","taskId":"T-1",` + members + `}`
	}
	return `{"task":{"taskId":"T-1",` + members + `}}`
}

func (f *taskServer) polled() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at = append(f.at, time.Now())
	members := f.polls[0]
	if len(f.polls) > 1 {
		f.polls = f.polls[1:]
	}
	return `{"taskId":"T-1",` + members + `}`
}

// gaps returns the times between the start and the polls.
func (f *taskServer) gaps(start time.Time) []time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []time.Duration
	for _, at := range f.at {
		out = append(out, at.Sub(start))
		start = at
	}
	return out
}

// told records what a call is told about its task.
type told struct {
	mu      sync.Mutex
	infos   []TaskInfo
	numbers []float64
}

// request returns a call of the tool t that records what it is told.
func (h *told) request() *CallRequest {
	return &CallRequest{
		Name: "t", TaskSupport: TaskRequired,
		OnTask: func(t TaskInfo) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.infos = append(h.infos, t)
		},
		OnProgress: func(p Progress) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.numbers = append(h.numbers, p.Progress)
		},
	}
}

func (h *told) statuses() (out []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, t := range h.infos {
		out = append(out, t.Status+t.Message)
	}
	return out
}

// nothingLeft checks that the session has no call, no progress token and no request left. A goroutine that is left
// shows at the end of the bubble.
func nothingLeft(t *testing.T, s *Session) {
	t.Helper()
	synctest.Wait()
	s.mu.Lock()
	calls, tokens := len(s.calls), len(s.progress)
	s.mu.Unlock()
	if pending := s.Pending(); calls != 0 || tokens != 0 || len(pending) != 0 {
		t.Errorf("left behind: %d calls, %d progress tokens, requests %v", calls, tokens, pending)
	}
}

// taskIDs returns the params.taskId of all messages of a method.
func taskIDs(f *taskServer, method string) (out []string) {
	for _, m := range lines(f.Server, method) {
		out = append(out, stringOf(m.Param("taskId")))
	}
	return out
}

// runningTask calls t and lets it become a task that is polled.
func runningTask(t *testing.T, f *taskServer, s *Session,
	h *told) (out <-chan outcome, cancel context.CancelCauseFunc) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(background)
	t.Cleanup(func() { cancel(errQuestionOver) })
	out = begin(ctx, s, h.request())
	synctest.Wait()
	if len(h.statuses()) == 0 {
		t.Fatal("the call has become no task")
	}
	return out, cancel
}

func rawOf(r *CallResult) string {
	if r == nil {
		return "(none)"
	}
	return string(r.Raw)
}
