package mcp

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/protocol"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// TestTaskAsked: whether a call asks for a task, by what the tool, the caller, the server and the revision say.
func TestTaskAsked(t *testing.T) {
	for name, c := range map[string]struct {
		support  string
		prefer   bool
		options  []fakeserver.Option
		wantTask bool
	}{
		"required":          {TaskRequired, false, nil, true},
		"optional, auto":    {TaskOptional, false, nil, false},
		"optional, prefer":  {TaskOptional, true, nil, true},
		"forbidden, prefer": {TaskForbidden, true, nil, false},
		"unknown, prefer":   {"", true, nil, false},
		"no capability": {TaskRequired, true,
			[]fakeserver.Option{fakeserver.WithCapabilities(`{"tools":{},"tasks":{"cancel":{},"requests":{}}}`)}, false},
		"older revision": {TaskRequired, true, []fakeserver.Option{fakeserver.WithRevision(Revision20250618)},
			false},
		"modern": {TaskRequired, true, []fakeserver.Option{fakeserver.WithModern()}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := fakeserver.New(append([]fakeserver.Option{fakeserver.WithRevision(Revision20251125),
					fakeserver.WithCapabilities(taskCapabilities)}, c.options...)...)
				// an ordinary result, unless a task was asked for
				const plain = `{"content":[],"task":{"taskId":"x","status":"working"}}`
				f.Tool("t", func(call *fakeserver.CallContext) {
					if call.Param("task") != nil {
						call.Result(`{"content":[]}`) // and a server may ignore that
						return
					}
					call.Result(plain)
				})
				s := connect(t, f, &recorder{})
				got, err := s.CallTool(background, &CallRequest{Name: "t", TaskSupport: c.support, PreferTask: c.prefer})
				if err != nil || got.TaskID != "" {
					t.Fatalf("got %s, %v", rawOf(got), err)
				}
				if task := string(lines(f, protocol.MethodCallTool)[0].Param("task")); (task == `{}`) != c.wantTask ||
					(string(got.Raw) == plain) == c.wantTask {
					t.Errorf("asked for task %q, got %s", task, got.Raw)
				}
			})
		})
	}
}

// TestTaskModernInline: the server decides; result and error come within the answers to polls, whatever resultType
// those have.
func TestTaskModernInline(t *testing.T) {
	for name, c := range map[string]struct {
		last    string
		isError bool
		check   func(error) bool
	}{
		"completed":           {`"resultType":"complete","status":"completed","result":` + taskResult, false, nil},
		"as the examples say": {`"resultType":"task","status":"completed","result":` + taskResult, false, nil},
		"isError":             {`"status":"completed","result":{"content":[],"isError":true}`, true, nil},
		"failed": {`"status":"failed","error":{"code":-32050,"message":"no","data":{"k":1.0}}`, false, func(err error) bool {
			e := rpcError(err)
			return e != nil && e.Code == -32050 && e.Message == "no" && string(e.Data) == `{"k":1.0}`
		}},
		"cancelled": {`"status":"cancelled","statusMessage":"by \u001b[1mroot"`, false, func(err error) bool {
			var e *TaskCancelledError
			return errors.As(err, &e) && e.TaskID == "T-1" && strings.HasSuffix(e.Error(), `by \u001b[1mroot`)
		}},
		"nothing":      {`"status":"completed"`, false, isProtocolError},
		"no result":    {`"status":"completed","result":[]`, false, isProtocolError},
		"no status":    {`"state":"completed"`, false, isProtocolError},
		"other type":   {`"resultType":"hologram","status":"completed","result":{}`, false, isProtocolError},
		"other task":   {`"status":"completed","result":{},"taskId":"T-2"`, false, isProtocolError},
		"broken error": {`"status":"failed","error":{"message":"no"}`, false, isProtocolError},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newTaskServer("", `"status":"working","pollIntervalMs":200`, c.last)
				s := connect(t, f.Server, &recorder{})
				h := &told{}
				got, err := s.CallTool(background, h.request())
				switch {
				case c.check != nil:
					if !c.check(err) {
						t.Errorf("got %v", err)
					}
				case err != nil:
					t.Error(err)
				case !strings.HasSuffix(c.last, `"result":`+string(got.Raw)) || got.IsError != c.isError || got.TaskID != "T-1":
					t.Errorf("got %+v %s", got, got.Raw)
				}
				if sent := lines(f.Server, protocol.MethodCallTool); len(sent) != 1 || sent[0].Param("task") != nil {
					t.Errorf("sent %+v", sent)
				}
				nothingLeft(t, s)
			})
		})
	}
}

func isProtocolError(err error) bool {
	var e *ProtocolError
	return errors.As(err, &e)
}

// TestTaskLegacyFailed: tasks/result gives the underlying error, and a result with isError, as they are.
func TestTaskLegacyFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTaskServer(taskCapabilities, `"status":"failed"`)
		s := connect(t, f.Server, &recorder{})
		f.Handle(protocol.MethodTaskResult, func(c *fakeserver.CallContext) { c.Error(-32602, "of the tool itself") })
		if _, err := s.CallTool(background, (&told{}).request()); rpcError(err) == nil ||
			rpcError(err).Message != "of the tool itself" {
			t.Errorf("got %v", err)
		}
		f.Handle(protocol.MethodTaskResult, func(c *fakeserver.CallContext) { c.Result(`{"content":[],"isError":true}`) })
		if got, err := s.CallTool(background, (&told{}).request()); err != nil || !got.IsError {
			t.Errorf("got %s, %v", rawOf(got), err)
		}
		nothingLeft(t, s)
	})
}

// TestTaskPollInterval: the server's interval counts from each answer on, within its bounds; without one it stays as it
// was, a second at first.
func TestTaskPollInterval(t *testing.T) {
	for _, c := range []struct{ capabilities, name string }{{taskCapabilities, "pollInterval"}, {"", "pollIntervalMs"}} {
		synctest.Test(t, func(t *testing.T) {
			working := func(interval string) string { return `"status":"working","` + c.name + `":` + interval }
			f := newTaskServer(c.capabilities, working("2500"), `"status":"working"`, working("1"), working("-1e300"),
				working("1e300"), working(`"7"`),
				working("250.5"), `"status":"completed","result":{}`)
			s := connect(t, f.Server, &recorder{})
			began := time.Now()
			if _, err := s.CallTool(background, (&told{}).request()); err != nil {
				t.Fatal(err)
			}
			const ms = time.Millisecond
			want := []time.Duration{1000 * ms, 2500 * ms, 2500 * ms, 100 * ms, 100 * ms, 60000 * ms, 60000 * ms,
				250500 * time.Microsecond}
			if diff := cmp.Diff(want, f.gaps(began)); diff != "" {
				t.Errorf("waits before the polls (-want +got):\n%s", diff)
			}
		})
	}
}

// TestTaskOnlyOfToolCalls: nothing else may become a task.
func TestTaskOnlyOfToolCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTaskServer("", `"status":"working"`)
		f.Handle("prompts/get", func(c *fakeserver.CallContext) { c.Result(f.made(`"status":"working"`)) })
		s := connect(t, f.Server, &recorder{})
		if _, err := s.call(background, &openCall{req: &CallRequest{}, method: "prompts/get"}); !isProtocolError(err) {
			t.Errorf("got %v", err)
		}
	})
}

// TestTaskRequestsOfServer: this side hosts no tasks, so a server's requests for them are refused.
func TestTaskRequestsOfServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTaskServer(taskCapabilities, `"status":"working"`)
		connect(t, f.Server, &recorder{})
		for _, method := range []string{protocol.MethodTaskGet, protocol.MethodTaskResult, protocol.MethodTaskCancel,
			"tasks/list"} {
			if got := ask(t, f.Server, method, `{"taskId":"x"}`); !strings.Contains(got, `"code":-32601`) {
				t.Errorf("%s: %s", method, got)
			}
		}
	})
}
