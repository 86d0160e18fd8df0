package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/protocol"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// gate answers questions by their InputKey when the test says so. An answer after the end of its question must be lost.
type gate struct {
	open  map[string]chan Answer
	ended chan error // causes of the questions that were not answered
}

func newGate(keys ...string) *gate {
	g := &gate{open: map[string]chan Answer{}, ended: make(chan error, 10)}
	for _, key := range keys {
		g.open[key] = make(chan Answer, 1)
	}
	return g
}

func (g *gate) ask(ctx context.Context, q *Question) (Answer, error) {
	select {
	case a := <-g.open[q.InputKey]:
		return a, nil
	case <-ctx.Done():
		g.ended <- context.Cause(ctx)
		return Answer{Action: Accept, Content: json.RawMessage(`{"leaked":true}`)}, nil
	}
}

func (g *gate) accept(key, content string) {
	g.open[key] <- Answer{Action: Accept, Content: json.RawMessage(content)}
	synctest.Wait()
}

// askingTaskInput returns the members of an answer to a poll that asks these questions.
func askingTaskInput(entries ...string) string {
	return `"status":"input_required","pollIntervalMs":100,"inputRequests":{` + strings.Join(entries, ",") + `}`
}

// updates returns the task ids and the answers of all tasks/update.
func updates(f *taskServer) (out []string) {
	for _, m := range lines(f.Server, protocol.MethodTaskUpdate) {
		out = append(out, stringOf(m.Param("taskId"))+" "+string(m.Param("inputResponses")))
	}
	return out
}

// TestTaskLegacyInputRequired: tasks/result is sent at once, a question of the server belongs to the call whose task it
// names, and polling goes on.
func TestTaskLegacyInputRequired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTaskServer(taskCapabilities, `"status":"input_required","pollInterval":1000`, `"status":"input_required"`,
			`"status":"working","statusMessage":" on"`)
		var answer, foreign string
		f.Handle(protocol.MethodTaskResult, func(c *fakeserver.CallContext) {
			related := func(id string) string {
				return strings.TrimSuffix(formParams, "}") + `,"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"` + id +
					`"}}}`
			}
			m := <-c.Request(protocol.MethodElicitation, related("T-1")).Response()
			answer = m.Raw
			m = <-c.Request(protocol.MethodElicitation, related("T-2")).Response()
			foreign = m.Raw
			<-time.After(3500 * time.Millisecond)
			c.Result(taskResult)
		})
		f.Tool("other", func(c *fakeserver.CallContext) { c.Hang() })
		h := &recorder{ask: accepting(`{"a":1}`)}
		s := connect(t, f.Server, h)
		octx, endOther := context.WithCancelCause(background)
		other := begin(octx, s, &CallRequest{Name: "other"}) // so that "the only call on the wire" cannot be the answer
		heard := &told{}
		c := heard.request()
		out := begin(background, s, c)
		pass(time.Second)
		synctest.Wait()
		if qs := h.questions(); len(qs) != 2 || qs[0].Call != c || qs[1].Call != nil ||
			!strings.Contains(answer, `"accept"`) || !strings.Contains(foreign, `"accept"`) {
			t.Fatalf("questions %+v, answers %s %s", qs, answer, foreign)
		}
		pass(3500 * time.Millisecond)
		o := finished(t, out)
		if o.err != nil || string(o.result.Raw) != taskResult {
			t.Errorf("got %s, %v", rawOf(o.result), o.err)
		}
		if diff := cmp.Diff([]string{"working", "input_required", "working on"}, heard.statuses()); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
		if n := len(lines(f.Server, protocol.MethodTaskResult)); n != 1 || len(lines(f.Server, protocol.MethodTaskGet)) != 4 {
			t.Errorf("%d tasks/result, %d tasks/get", n, len(lines(f.Server, protocol.MethodTaskGet)))
		}
		endOther(&stopped{"done"})
		finished(t, other)
		nothingLeft(t, s)
	})
}

// TestTaskRelatedBeforeItsAnswer: a question that names a task which is not known yet belongs to the call that waits
// for its task, if there is just one.
func TestTaskRelatedBeforeItsAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTaskServer(taskCapabilities, `"status":"working"`)
		f.Tool("t", func(c *fakeserver.CallContext) { c.Hang() })
		f.Tool("plain", func(c *fakeserver.CallContext) { c.Hang() })
		h := &recorder{ask: accepting(`{}`)}
		s := connect(t, f.Server, h)
		ctx, cancel := context.WithCancelCause(background)
		defer cancel(errQuestionOver)
		question := strings.TrimSuffix(formParams, "}") +
			`,"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"T-1"}}}`
		task := &CallRequest{Name: "t", TaskSupport: TaskRequired}
		var want []*CallRequest
		for _, c := range []*CallRequest{{Name: "plain"}, task, {Name: "t", TaskSupport: TaskRequired}} {
			begin(ctx, s, c)
			synctest.Wait()
			ask(t, f.Server, protocol.MethodElicitation, question)
		}
		want = []*CallRequest{nil, task, nil}
		for i, q := range h.questions() {
			if q.Call != want[i] {
				t.Errorf("question %d belongs to %+v", i, q.Call)
			}
		}
	})
}

// TestTaskModernInput: questions within a task are asked like those within a result, and answered by tasks/update.
func TestTaskModernInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTaskServer("", askingTaskInput(`"who":`+formInput, `"r":`+inputEntry(protocol.MethodRoots, ""), `"llm":`+
			samplingInput), `"status":"working"`, `"status":"completed","result":`+taskResult)
		h := &recorder{roots: []Root{{URI: "file:///w"}}, ask: func(_ context.Context, q *Question) (Answer, error) {
			switch q.InputKey {
			case "who":
				return Answer{Action: Dismiss}, nil
			default:
				return Answer{Action: Accept, Content: json.RawMessage(`{"role":"assistant","n":1.0}`)}, nil
			}
		}}
		s := connect(t, f.Server, h)
		heard := &told{}
		c := heard.request()
		got, err := s.CallTool(background, c)
		if err != nil || string(got.Raw) != taskResult {
			t.Fatalf("got %s, %v", rawOf(got), err)
		}
		sent := map[string]bool{}
		for _, u := range updates(f) {
			sent[u] = true
		}
		want := map[string]bool{`T-1 {"who":{"action":"cancel"}}`: true, `T-1 {"r":{"roots":[{"uri":"file:///w"}]}}`: true,
			`T-1 {"llm":{"role":"assistant","n":1.0}}`: true}
		if diff := cmp.Diff(want, sent); diff != "" {
			t.Errorf("tasks/update (-want +got):\n%s", diff)
		}
		for _, q := range h.questions() {
			if q.Call != c || !q.WireID.IsZero() {
				t.Errorf("question %+v", q)
			}
		}
		if n := len(responses(f.Server)); n != 0 {
			t.Errorf("%d responses on the wire of a modern server", n)
		}
		nothingLeft(t, s)
	})
}

// TestTaskModernInputPartial: each answer is sent as it comes, without waiting for the others; polling goes on
// meanwhile.
func TestTaskModernInputPartial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTaskServer("", askingTaskInput(`"a":`+formInput, `"b":`+formInput))
		g := newGate("a", "b")
		s := connect(t, f.Server, &recorder{ask: g.ask})
		heard := &told{}
		out, _ := runningTask(t, f, s, heard)
		pass(1050 * time.Millisecond)
		g.accept("b", `{"n":2}`)
		if diff := cmp.Diff([]string{`T-1 {"b":{"action":"accept","content":{"n":2}}}`}, updates(f)); diff != "" {
			t.Errorf("after the first answer (-want +got):\n%s", diff)
		}
		polls := len(lines(f.Server, protocol.MethodTaskGet))
		pass(time.Second)
		if n := len(lines(f.Server, protocol.MethodTaskGet)) - polls; n != 10 {
			t.Errorf("%d polls in a second", n)
		}
		g.accept("a", `{"n":1}`)
		f.Handle(protocol.MethodTaskGet, func(c *fakeserver.CallContext) {
			c.Result(`{"taskId":"T-1","status":"completed","result":{}}`)
		})
		pass(time.Second)
		if o := finished(t, out); o.err != nil {
			t.Error(o.err)
		}
		if n := len(updates(f)); n != 2 {
			t.Errorf("%d updates", n)
		}
		nothingLeft(t, s)
	})
}

// TestTaskModernInputDedupe: a key is asked once, however many polls have it, also after its answer; a new key is asked
// when it comes; one whose answer the server refuses is asked again.
func TestTaskModernInputDedupe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTaskServer("", askingTaskInput(`"a":`+formInput), askingTaskInput(`"a":`+formInput),
			askingTaskInput(`"a":`+formInput, `"b":`+formInput), askingTaskInput(`"a":`+formInput, `"b":`+formInput))
		refused := false
		f.Handle(protocol.MethodTaskUpdate, func(c *fakeserver.CallContext) {
			if member(c.Param("inputResponses"), "b") != nil && !refused {
				refused = true
				c.Error(-32602, "not that")
				return
			}
			c.Result(`{}`)
		})
		h := &recorder{ask: accepting(`{}`)}
		s := connect(t, f.Server, h)
		out, _ := runningTask(t, f, s, &told{})
		pass(10 * time.Second)
		f.Handle(protocol.MethodTaskGet, func(c *fakeserver.CallContext) {
			c.Result(`{"taskId":"T-1","status":"completed","result":{}}`)
		})
		pass(time.Second)
		if o := finished(t, out); o.err != nil {
			t.Error(o.err)
		}
		var keys []string
		for _, q := range h.questions() {
			keys = append(keys, q.InputKey)
		}
		if diff := cmp.Diff([]string{"a", "b", "b"}, keys); diff != "" {
			t.Errorf("asked (-want +got):\n%s", diff)
		}
		if n := len(updates(f)); n != 3 {
			t.Errorf("%d updates", n)
		}
		nothingLeft(t, s)
	})
}

// TestTaskModernInputRefused: sampling has no refusal on the wire, so the task is cancelled, and its other questions
// end.
func TestTaskModernInputRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTaskServer("", askingTaskInput(`"form":`+formInput, `"llm":`+samplingInput))
		g := newGate("form", "llm")
		s := connect(t, f.Server, &recorder{ask: g.ask})
		out, _ := runningTask(t, f, s, &told{})
		pass(time.Second)
		g.open["llm"] <- Answer{Action: Decline}
		o := finished(t, out)
		var declined *DeclinedError
		if !errors.As(o.err, &declined) || declined.Kind != Sampling || declined.Action != Decline {
			t.Errorf("got %v", o.err)
		}
		var sibling *SiblingError
		if cause := <-g.ended; !errors.As(cause, &sibling) {
			t.Errorf("the form ended with %v", cause)
		}
		nothingLeft(t, s)
		if ids := taskIDs(f, protocol.MethodTaskCancel); len(ids) != 1 || len(updates(f)) != 0 {
			t.Errorf("tasks/cancel %q, updates %q", ids, updates(f))
		}
	})
}

// TestTaskModernInputUndeclared: a call fails, and its task is cancelled, if it is asked for what it did not declare.
func TestTaskModernInputUndeclared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTaskServer("", askingTaskInput(`"llm":`+samplingInput))
		h := &recorder{}
		s := connect(t, f.Server, h, func(o *Options) {
			o.Capabilities = func() Capabilities { return Capabilities{ElicitationForm: true} }
		})
		if _, err := s.CallTool(background, (&told{}).request()); !isProtocolError(err) || len(h.questions()) != 0 {
			t.Errorf("got %v after %d questions", err, len(h.questions()))
		}
		synctest.Wait()
		if ids := taskIDs(f, protocol.MethodTaskCancel); len(ids) != 1 {
			t.Errorf("tasks/cancel %q", ids)
		}
	})
}

// TestTaskModernInputUpdateRefused: a task whose answers the server does not accept would wait for ever, so the call
// fails and the task is cancelled.
func TestTaskModernInputUpdateRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTaskServer("", askingTaskInput(`"a":`+formInput))
		f.Handle(protocol.MethodTaskUpdate, func(c *fakeserver.CallContext) { c.Error(-32601, "no such method") })
		s := connect(t, f.Server, &recorder{ask: accepting(`{}`)})
		if _, err := s.CallTool(background, (&told{}).request()); rpcError(err) == nil || rpcError(err).Code != -32601 {
			t.Errorf("got %v", err)
		}
		nothingLeft(t, s)
		if ids := taskIDs(f, protocol.MethodTaskCancel); len(ids) != 1 {
			t.Errorf("tasks/cancel %q", ids)
		}
	})
}

// TestTaskModernInputWithdrawn: a question is withdrawn when the server no longer asks it, or the task is over; its
// answer is not sent.
func TestTaskModernInputWithdrawn(t *testing.T) {
	for name, next := range map[string]string{
		"another asked": askingTaskInput(`"b":` + formInput),
		"working again": `"status":"working"`,
		"over":          `"status":"completed","result":{}`,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newTaskServer("", askingTaskInput(`"a":`+formInput), next)
				g := newGate("a", "b")
				s := connect(t, f.Server, &recorder{ask: g.ask})
				heard := &told{}
				out, cancel := runningTask(t, f, s, heard)
				pass(1500 * time.Millisecond)
				synctest.Wait()
				var withdrawn *jsonrpc.WithdrawnError
				select {
				case cause := <-g.ended:
					if !errors.As(cause, &withdrawn) {
						t.Errorf("the question ended with %v", cause)
					}
				default:
					t.Error("the question is still open")
				}
				cancel(&stopped{"enough"})
				finished(t, out)
				nothingLeft(t, s)
				if u := updates(f); len(u) != 0 {
					t.Errorf("updates %q", u)
				}
			})
		})
	}
}

// TestTaskModernInputCancelled: a cancel while a user is asked ends the question, with the same cause, and the task.
func TestTaskModernInputCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTaskServer("", askingTaskInput(`"a":`+formInput))
		g := newGate("a")
		s := connect(t, f.Server, &recorder{ask: g.ask})
		out, cancel := runningTask(t, f, s, &told{})
		pass(1050 * time.Millisecond)
		why := &stopped{"enough"}
		cancel(why)
		givenUp(t, finished(t, out).err, why, "T-1", true)
		if cause := <-g.ended; cause != error(why) {
			t.Errorf("the question ended with %v", cause)
		}
		nothingLeft(t, s)
		if ids := taskIDs(f, protocol.MethodTaskCancel); len(ids) != 1 || len(updates(f)) != 0 {
			t.Errorf("tasks/cancel %q, updates %q", ids, updates(f))
		}
	})
}

// TestTaskModernInputTrouble: an error of the Handler ends the call, and the task with it.
func TestTaskModernInputTrouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTaskServer("", askingTaskInput(`"a":`+formInput))
		trouble := errors.New("the page is gone")
		s := connect(t, f.Server, &recorder{ask: func(context.Context, *Question) (Answer, error) {
			return Answer{}, trouble
		}})
		if _, err := s.CallTool(background, (&told{}).request()); !errors.Is(err, trouble) {
			t.Errorf("got %v", err)
		}
		nothingLeft(t, s)
		if ids := taskIDs(f, protocol.MethodTaskCancel); len(ids) != 1 {
			t.Errorf("tasks/cancel %q", ids)
		}
	})
}
