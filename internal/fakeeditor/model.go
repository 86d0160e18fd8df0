package fakeeditor

import (
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// model is the state that a window shows, built only from the stream. It is guarded by the window's lock.
type model struct {
	allKinds          bool // the window shows all kinds: a prompt that closes must have been opened
	hubID, windowID   string
	welcomed, started bool
	back              bool // the window was attached before, and has asked for the history
	servers           map[string]*mcphubv1.Server
	requests          map[string]*mcphubv1.Request // open ones
	terminal          map[string]*mcphubv1.AttachResponse
	prompts           map[string]*mcphubv1.Prompt // open ones
	order             []string                    // ids of prompts in the order of opening
	closed            map[string]*mcphubv1.PromptClosed
}

func newModel(allKinds bool) model {
	return model{
		allKinds: allKinds,
		servers:  map[string]*mcphubv1.Server{}, requests: map[string]*mcphubv1.Request{},
		terminal: map[string]*mcphubv1.AttachResponse{},
		prompts:  map[string]*mcphubv1.Prompt{}, closed: map[string]*mcphubv1.PromptClosed{},
	}
}

func (m *model) clone() model {
	c := *m
	c.servers, c.requests, c.terminal = maps.Clone(m.servers), maps.Clone(m.requests), maps.Clone(m.terminal)
	c.prompts, c.closed, c.order = maps.Clone(m.prompts), maps.Clone(m.closed), slices.Clone(m.order)
	return c
}

// apply applies one message and returns its faults.
func (m *model) apply(r *mcphubv1.AttachResponse) (faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if w := r.GetWelcome(); w != nil {
		if m.welcomed {
			fault("a second welcome")
		}
		m.back = m.hubID == w.GetHubId()
		m.welcomed, m.hubID, m.windowID = true, w.GetHubId(), w.GetWindowId()
		return faults
	}
	if !m.welcomed {
		fault("came before welcome")
	}
	if s := r.GetSnapshot(); s != nil {
		if m.started {
			fault("a snapshot that is not the start")
		}
		return append(faults, m.show(s)...)
	}
	if !m.started {
		fault("came before the start")
	}
	return append(faults, m.change(r)...)
}

// show replaces the whole state. At the same hub the snapshot must say how each request ended that was open before, and
// hold no prompt that was closed.
func (m *model) show(s *mcphubv1.Snapshot) (faults []string) {
	m.started = true
	before := *m
	fresh := newModel(m.allKinds)
	m.servers, m.requests, m.prompts, m.order = fresh.servers, fresh.requests, fresh.prompts, nil
	for _, x := range s.GetServers() {
		m.servers[x.GetName()] = x
	}
	for _, x := range s.GetRequests() {
		m.requests[x.GetRequestId()] = x
	}
	for _, x := range s.GetPrompts() {
		if m.closed[x.GetPromptId()] != nil {
			faults = append(faults, fmt.Sprintf("prompt %s is open again", x.GetPromptId()))
		}
		m.prompts[x.GetPromptId()] = x
		m.order = append(m.order, x.GetPromptId())
	}
	if !m.back {
		return faults
	}
	for _, x := range s.GetHistory() {
		if c := x.GetCancelled(); c != nil {
			m.terminal[c.GetRequestId()] = &mcphubv1.AttachResponse{Time: x.GetEndTime(),
				Event: &mcphubv1.AttachResponse_McpRequestCancelled{McpRequestCancelled: c}}
		}
		if f := x.GetFinished(); f != nil {
			m.terminal[f.GetRequestId()] = &mcphubv1.AttachResponse{Time: x.GetEndTime(),
				Event: &mcphubv1.AttachResponse_McpRequestFinished{McpRequestFinished: f}}
		}
	}
	for id := range before.requests {
		if m.requests[id] == nil && m.terminal[id] == nil {
			faults = append(faults, fmt.Sprintf("the snapshot says nothing of request %s", id))
		}
	}
	for id := range m.requests {
		delete(m.terminal, id) // the id is used again
	}
	for id := range before.prompts {
		if m.prompts[id] == nil {
			m.closed[id] = &mcphubv1.PromptClosed{PromptId: id}
		}
	}
	return faults
}

// change applies one event after the start.
func (m *model) change(r *mcphubv1.AttachResponse) (faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	switch e := r.GetEvent().(type) {
	case *mcphubv1.AttachResponse_ServerChanged:
		if e.ServerChanged.GetRemoved() {
			delete(m.servers, e.ServerChanged.GetServer().GetName())
		} else {
			m.servers[e.ServerChanged.GetServer().GetName()] = e.ServerChanged.GetServer()
		}
	case *mcphubv1.AttachResponse_McpRequestStarted:
		id := e.McpRequestStarted.GetRequest().GetRequestId()
		if m.requests[id] != nil {
			fault("request %s started twice", id)
		}
		delete(m.terminal, id) // an id may be used again when its request has ended
		m.requests[id] = e.McpRequestStarted.GetRequest()
	case *mcphubv1.AttachResponse_McpRequestProgressed:
		p := e.McpRequestProgressed
		if q := m.open(p.GetRequestId(), fault); q != nil {
			q.State, q.Progress, q.WireIdJson = p.GetState(), p.GetProgress(), p.GetWireIdJson()
		}
	case *mcphubv1.AttachResponse_McpRequestCancelling:
		if q := m.open(e.McpRequestCancelling.GetRequestId(), fault); q != nil {
			q.State, q.Cancellation = mcphubv1.RequestState_REQUEST_STATE_CANCELLING, e.McpRequestCancelling.GetCancellation()
		}
	case *mcphubv1.AttachResponse_McpRequestCancelled:
		m.end(e.McpRequestCancelled.GetRequestId(), r, fault)
	case *mcphubv1.AttachResponse_McpRequestFinished:
		m.end(e.McpRequestFinished.GetRequestId(), r, fault)
	case *mcphubv1.AttachResponse_PromptOpened:
		p := e.PromptOpened.GetPrompt()
		if m.prompts[p.GetPromptId()] != nil || m.closed[p.GetPromptId()] != nil {
			fault("prompt %s opened twice", p.GetPromptId())
		}
		if KindOf(p) == mcphubv1.PromptKind_PROMPT_KIND_UNSPECIFIED {
			fault("prompt %s asks nothing", p.GetPromptId())
		}
		m.prompts[p.GetPromptId()] = p
		m.order = append(m.order, p.GetPromptId())
	case *mcphubv1.AttachResponse_PromptClosed:
		id := e.PromptClosed.GetPromptId()
		if m.closed[id] != nil {
			fault("prompt %s closed twice", id)
		} else if m.allKinds && m.prompts[id] == nil {
			fault("prompt %s closed and was never opened", id)
		}
		delete(m.prompts, id)
		m.order = slices.DeleteFunc(m.order, func(s string) bool { return s == id })
		m.closed[id] = e.PromptClosed
	}
	return faults
}

// open replaces an open request by a copy, which may be changed, and returns it.
func (m *model) open(id string, fault func(string, ...any)) *mcphubv1.Request {
	q := m.requests[id]
	if q == nil {
		fault("about request %s, which is not open", id)
		return nil
	}
	q = proto.Clone(q).(*mcphubv1.Request)
	m.requests[id] = q
	return q
}

func (m *model) end(id string, r *mcphubv1.AttachResponse, fault func(string, ...any)) {
	switch {
	case m.terminal[id] != nil:
		fault("request %s ended twice", id)
	case m.requests[id] == nil:
		fault("request %s ended and was never started", id)
	}
	delete(m.requests, id)
	m.terminal[id] = r
}
