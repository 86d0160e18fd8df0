package hub_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// inBothEras runs a test with servers of both eras that have resources and prompt templates.
func inBothEras(t *testing.T, f func(t *testing.T, s *offer)) {
	for _, modern := range []bool{false, true} {
		t.Run(fmt.Sprintf("modern %v", modern), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				if modern {
					s := offering(fakeserver.WithModern())
					s.modern = true
					f(t, s)
				} else {
					f(t, offering())
				}
			})
		})
	}
}

// aside runs do, a request of the hub, in the background.
func aside(do func() (*hub.CallResult, error)) *pendingCall {
	p := &pendingCall{done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.result, p.err = do()
	}()
	return p
}

func (w *world) read(c hub.CallRequest) *pendingCall {
	return aside(func() (*hub.CallResult, error) { return w.hub.ReadResource(context.Background(), c) })
}

func (w *world) getPrompt(c hub.CallRequest) *pendingCall {
	return aside(func() (*hub.CallResult, error) { return w.hub.GetMcpPrompt(context.Background(), c) })
}

// Lists give what the server listed, each definition with its JSON text as it came.
func TestResourceAndPromptLists(t *testing.T) {
	inBothEras(t, func(t *testing.T, s *offer) {
		w := newWorld(t, serversOf("s", s.Server))
		ctx := context.Background()
		resources, err := w.hub.Resources(ctx, "s")
		if err != nil || len(resources) != 2 {
			t.Fatal(resources, err)
		}
		size := int64(0) // a size of 0 is a size
		want := event.ResourceInfo{
			Server: "s", URI: "file:///a", Name: "a", Title: "A", Description: "d", MIMEType: "text/plain", Size: &size,
			Definition: `{"uri":"file:///a","name":"a","title":"A","description":"d","mimeType":"text/plain","size":0,"icons":[]}`,
		}
		if diff := cmp.Diff(want, resources[0]); diff != "" || resources[1].Size != nil {
			t.Errorf("%s, size of b %v", diff, resources[1].Size)
		}
		templates, err := w.hub.ResourceTemplates(ctx, "s")
		if err != nil || len(templates) != 1 || templates[0].URITemplate != "file:///{x}" || templates[0].Server != "s" ||
			!strings.Contains(templates[0].Definition, `"title":"X"`) {
			t.Errorf("%+v, %v", templates, err)
		}
		prompts, err := w.hub.McpPrompts(ctx, "s")
		if err != nil || len(prompts) != 1 || prompts[0].Title != "Greet" {
			t.Fatalf("%+v, %v", prompts, err)
		}
		if diff := cmp.Diff([]event.McpPromptArgument{{Name: "who", Title: "Who", Description: "w", Required: true}},
			prompts[0].Arguments); diff != "" {
			t.Error(diff)
		}
		_, err = w.hub.Resources(ctx, "nobody")
		wantReason(t, err, event.ReasonServerNotFound)
		w.nothingLeft()
	})
}

// Reading is a request like a tool call: shown with its subject, with a terminal event of its own; an error of the
// server is its result.
func TestReadResource(t *testing.T) {
	inBothEras(t, func(t *testing.T, s *offer) {
		w := newWorld(t, serversOf("s", s.Server))
		v := w.everything()
		r := w.read(hub.CallRequest{ID: "r1", Server: "s", URI: "file:///a", Meta: `{"x/y":1}`}).ok(t)
		if r.RequestID != "r1" || !strings.Contains(string(r.Result), `"text":"abc"`) || r.Rounds != 1 {
			t.Errorf("%+v", r)
		}
		if end, ok := v.terminalOf("r1").(*event.RequestFinished); !ok || end.Method != "resources/read" ||
			end.Subject != "file:///a" || end.Tool != "" || end.State != event.StateDone {
			t.Errorf("the end is %+v", end)
		}
		if n := s.Count(func(m fakeserver.Message) bool {
			return m.Method == "resources/read" && strings.Contains(m.Raw, `"x/y":1`)
		}); n != 1 {
			t.Errorf("%d reads with the meta of the host", n)
		}
		if r := w.read(hub.CallRequest{ID: "r2", Server: "s", URI: "file:///none"}).ok(t); r.Error == nil ||
			r.Error.Code != -32002 || r.Error.Data != `{"uri":"x"}` {
			t.Errorf("%+v", r)
		}
		if end := v.terminalOf("r2").(*event.RequestFinished); end.State != event.StateFailed || end.McpError == nil {
			t.Errorf("%+v", end)
		}
		w.nothingLeft()
	})
}

// A prompt template is filled with its arguments; without any the member is left out.
func TestGetMcpPrompt(t *testing.T) {
	inBothEras(t, func(t *testing.T, s *offer) {
		w := newWorld(t, serversOf("s", s.Server))
		v := w.everything()
		r := w.getPrompt(hub.CallRequest{ID: "r1", Server: "s", McpPrompt: "greet",
			PromptArguments: map[string]string{"who": "Ada"}}).ok(t)
		if !strings.Contains(string(r.Result), `"text":{"who":"Ada"}`) {
			t.Errorf("%s", r.Result)
		}
		if end, ok := v.terminalOf("r1").(*event.RequestFinished); !ok || end.Method != "prompts/get" ||
			end.Subject != "greet" {
			t.Errorf("%+v", end)
		}
		c := w.getPrompt(hub.CallRequest{ID: "r2", Server: "s", McpPrompt: "hang"})
		if got := w.request("r2"); got.Subject != "hang" || got.Method != "prompts/get" {
			t.Errorf("%+v", got)
		}
		if _, err := v.win.Cancel("r2", "no"); err != nil {
			t.Fatal(err)
		}
		if e := c.want(t, event.CodeCancelled, event.ReasonCancelled); !strings.Contains(e.Message,
			`prompt template "hang"`) {
			t.Error(e)
		}
		if n := s.Count(func(m fakeserver.Message) bool {
			return m.Method == "prompts/get" && m.Param("arguments") != nil
		}); n != 1 {
			t.Errorf("%d requests with arguments", n)
		}
		w.nothingLeft()
	})
}

// A read is listed and can be cancelled by its task label, with the reason on the wire.
func TestCancelRead(t *testing.T) {
	inBothEras(t, func(t *testing.T, s *offer) {
		w := newWorld(t, serversOf("s", s.Server))
		v := w.everything()
		c := w.read(hub.CallRequest{ID: "r1", Server: "s", URI: "file:///hang", TaskLabel: "label"})
		r := w.request("r1")
		if r.State != event.StateRunning || r.Subject != "file:///hang" || r.Method != "resources/read" ||
			r.TaskLabel != "label" || r.Progress == nil || r.Progress.Message != "half" {
			t.Errorf("%+v", r)
		}
		if ids := w.hub.CancelRequests(hub.CancelScope{TaskLabel: "label"}, "enough", event.OriginUser); !slices.Equal(ids,
			[]string{"r1"}) {
			t.Errorf("%v", ids)
		}
		if e := c.want(t, event.CodeCancelled, event.ReasonCancelled); !strings.Contains(e.Message,
			`resource "file:///hang"`) {
			t.Error(e)
		}
		end, ok := v.terminalOf("r1").(*event.RequestCancelled)
		if !ok || !end.ServerNotified() || end.Subject != "file:///hang" || !end.ServerMayContinue {
			t.Errorf("the end is %+v", end)
		}
		if got := cancels(s.Server); len(got) != 1 || !strings.Contains(got[0], "enough") {
			t.Errorf("cancels %v", got)
		}
		w.nothingLeft()
	})
}

// The error of a read that times out names the resource.
func TestReadTimeouts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := offering()
		w := newWorld(t, serversOf("s", s.Server))
		c := w.read(hub.CallRequest{Server: "s", URI: "file:///hang", Timeouts: hub.Timeouts{Idle: ptr(time.Minute)}})
		pass(time.Minute)
		if e := c.want(t, event.CodeDeadlineExceeded, event.ReasonIdleTimeout); !strings.Contains(e.Message,
			`resource "file:///hang" of server "s"`) {
			t.Error(e)
		}
		c = w.read(hub.CallRequest{Server: "s", URI: "file:///hang", Timeouts: hub.Timeouts{Idle: ptr(0),
			Total: ptr(time.Hour)}})
		pass(time.Hour)
		c.want(t, event.CodeDeadlineExceeded, event.ReasonTotalTimeout)
	})
}

// A server may ask a person before it gives a resource; then no clock runs.
func TestReadAsksAPerson(t *testing.T) {
	inBothEras(t, func(t *testing.T, s *offer) {
		w := newWorld(t, serversOf("s", s.Server))
		v := w.everything()
		c := w.read(hub.CallRequest{ID: "r1", Server: "s", URI: "file:///ask",
			Timeouts: hub.Timeouts{Total: ptr(time.Minute)}})
		p := v.prompt()
		pass(20 * time.Minute)
		if w.state("r1") == "" {
			t.Fatalf("ended: %v", c.err)
		}
		v.answer(event.PromptAnswer{PromptID: p.ID, Action: event.ActionAccept, Content: formYes})
		r := c.ok(t)
		if want := map[bool]int{false: 1, true: 2}[s.modern]; r.Rounds != want || r.Timings.Human < 20*time.Minute {
			t.Errorf("%+v", r)
		}
		w.nothingLeft()
	})
}

// A resource that is still fresh is read without a request on the wire, and the read has a terminal event like any
// other.
func TestReadWhatIsFresh(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := offering(fakeserver.WithModern())
		s.Handle("resources/read", func(c *fakeserver.CallContext) {
			c.Result(`{"resultType":"complete","ttlMs":60000,"cacheScope":"private","contents":[]}`)
		})
		w := newWorld(t, serversOf("s", s.Server))
		v := w.everything()
		w.read(hub.CallRequest{ID: "r1", Server: "s", URI: "file:///a"}).ok(t)
		if r := w.read(hub.CallRequest{ID: "r2", Server: "s", URI: "file:///a"}).ok(t); r.Rounds != 0 {
			t.Errorf("%+v", r)
		}
		v.terminalOf("r2")
		if n := s.Count(fakeserver.Method("resources/read")); n != 1 {
			t.Errorf("%d reads", n)
		}
	})
}

// Completion gives what the server answers, errors included.
func TestComplete(t *testing.T) {
	inBothEras(t, func(t *testing.T, s *offer) {
		w := newWorld(t, serversOf("s", s.Server))
		r, err := w.hub.Complete(context.Background(), hub.Completion{Server: "s", McpPrompt: "greet", Argument: "who",
			Value: "A", Context: map[string]string{"b": "c"}})
		if err != nil || !strings.Contains(string(r.Result), `"values":["Ada"]`) {
			t.Errorf("%+v, %v", r, err)
		}
		r, err = w.hub.Complete(context.Background(), hub.Completion{Server: "s", URITemplate: "file:///{none}",
			Argument: "none"})
		if err != nil || r.Error == nil || r.Error.Code != -32602 {
			t.Errorf("%+v, %v", r, err)
		}
		asked := 0
		for _, m := range s.Received() {
			if m.Method == "completion/complete" {
				asked++
				if want := `{"type":"ref/prompt","name":"greet"}`; asked == 1 &&
					(object(t, string(m.Param("ref")))["name"] != "greet" ||
						!strings.Contains(string(m.Param("context")), `"b":"c"`)) {
					t.Errorf("%s, want ref %s", m.Params, want)
				}
			}
		}
		if asked != 2 {
			t.Errorf("asked %d times", asked)
		}
		w.nothingLeft()
	})
}

// What a server has not declared is not asked for; the error names it.
func TestNotOffered(t *testing.T) {
	for _, modern := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			s := hanging()
			if modern {
				s = hanging(fakeserver.WithModern())
			}
			w := newWorld(t, serversOf("s", s))
			ctx := context.Background()
			for what, do := range map[string]func() error{
				"resources": func() error {
					_, err := w.hub.ReadResource(ctx, hub.CallRequest{Server: "s", URI: "a:b"})
					return err
				},
				"prompts": func() error {
					_, err := w.hub.GetMcpPrompt(ctx, hub.CallRequest{Server: "s", McpPrompt: "p"})
					return err
				},
				"completions": func() error {
					_, err := w.hub.Complete(ctx, hub.Completion{Server: "s", McpPrompt: "p", Argument: "a"})
					return err
				},
				"subscribe": func() error { return w.hub.SubscribeResource(ctx, "s", "a:b") },
			} {
				e := event.AsError(do())
				if e == nil || e.Code != event.CodeFailedPrecondition || e.Reason != event.ReasonNotOffered ||
					e.Meta["capability"] == "" {
					t.Errorf("%s: %v", what, e)
				}
			}
			if list, err := w.hub.Resources(ctx, "s"); err != nil || len(list) != 0 {
				t.Errorf("%v, %v", list, err)
			}
			for _, m := range s.Received() {
				if strings.HasPrefix(m.Method, "resources/") || strings.HasPrefix(m.Method, "prompts/") ||
					strings.HasPrefix(m.Method, "completion/") {
					t.Errorf("sent %s", m.Method)
				}
			}
		})
	}
}

// Doubled ids, ids that were cancelled before, invalid meta and the end of the host's context: as for tool calls.
func TestReadIsARequestLikeAnyOther(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := offering()
		w := newWorld(t, serversOf("s", s.Server))
		w.read(hub.CallRequest{ID: "r1", Server: "s", URI: "file:///hang"})
		w.state("r1")
		w.getPrompt(hub.CallRequest{ID: "r1", Server: "s", McpPrompt: "greet"}).want(t, event.CodeAlreadyExists,
			event.ReasonRequestIDInUse)
		if out, err := w.hub.CancelRequest("r2", "", "early", event.OriginUser); out != event.OutcomeUnknown || err != nil {
			t.Fatal(out, err)
		}
		w.read(hub.CallRequest{ID: "r2", Server: "s", URI: "file:///a"}).want(t, event.CodeCancelled,
			event.ReasonCancelled)
		w.read(hub.CallRequest{Server: "s", URI: "file:///a", Meta: `[]`}).want(t, event.CodeInvalidArgument,
			event.ReasonInvalidArguments)
		ctx, stop := context.WithCancelCause(context.Background())
		c := aside(func() (*hub.CallResult, error) {
			return w.hub.ReadResource(ctx, hub.CallRequest{Server: "s", URI: "file:///hang"})
		})
		synctest.Wait()
		stop(nil)
		if e := c.want(t, event.CodeCancelled, event.ReasonCancelled); e.Meta["origin"] != "host" {
			t.Errorf("%+v", e)
		}
		if n := s.Count(fakeserver.Method("resources/read")); n != 2 {
			t.Errorf("%d reads were sent", n)
		}
		if _, err := w.hub.CancelRequest("r1", "", "", event.OriginUser); err != nil {
			t.Error(err)
		}
		w.nothingLeft()
	})
}

// Changes of all three lists are told by events of their own.
func TestChangedEvents(t *testing.T) {
	inBothEras(t, func(t *testing.T, s *offer) {
		w := newWorld(t, serversOf("s", s.Server))
		v := w.everything()
		if _, err := w.hub.StartServer(context.Background(), "s"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		tell := []func(method, params string) error{s.Notify}
		if s.modern {
			tell = nil
			for _, sub := range s.Subscriptions() {
				tell = append(tell, sub.Notify)
			}
		}
		for _, tell := range tell {
			for _, n := range []string{"tools", "resources", "prompts"} {
				if err := tell("notifications/"+n+"/list_changed", ""); err != nil {
					t.Fatal(err)
				}
			}
		}
		if n := len(eventsOf[*event.ToolsChanged](v)); n != 1 {
			t.Errorf("got %d ToolsChanged, want 1", n)
		}
		if e := last[*event.ResourcesChanged](v); e.Server != "s" {
			t.Errorf("got ResourcesChanged of %q, want one of s", e.Server)
		}
		if e := last[*event.McpPromptsChanged](v); e.Server != "s" {
			t.Errorf("got McpPromptsChanged of %q, want one of s", e.Server)
		}
	})
}

// A client of a gateway may send a URI of any length. One that is too long is refused, reaches no server, and is kept
// nowhere.
func TestLongURIIsRefused(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging()
		w := newWorld(t, serversOf("s", s), "s:"+allow)
		_, err := w.hub.ReadResource(t.Context(), hub.CallRequest{ID: "r", Server: "s", Caller: client("c"),
			URI: "file:///" + strings.Repeat("x", bounds.SubjectBytes)})
		if e := event.AsError(err); e == nil || e.Reason != event.ReasonInvalidRequest || len(e.Message) > 500 {
			t.Errorf("got %v", err)
		}
		if n := s.Count(func(m fakeserver.Message) bool { return m.Method == "resources/read" }); n != 0 {
			t.Errorf("%d reads reached the server", n)
		}
		w.nothingLeft()
	})
}
