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

// TestTaskLegacyHappyPath: the call asks for a task, it is polled, and tasks/result brings exactly the result. Progress
// by the call's own token goes on.
func TestTaskLegacyHappyPath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTaskServer(taskCapabilities, `"status":"working","statusMessage":" half"`, `"status":"hologram"`,
			`"status":"completed"`)
		var call *fakeserver.CallContext
		f.Tool("t", func(c *fakeserver.CallContext) {
			call = c
			c.Result(f.made(`"status":"working","ttl":60000,"pollInterval":500`))
		})
		s := connect(t, f.Server, &recorder{})
		h := &told{}
		out := begin(background, s, h.request())
		synctest.Wait()
		call.Progress(1, 2, "")
		pass(500 * time.Millisecond)
		synctest.Wait()
		call.Progress(2, 2, "")
		pass(time.Second)
		o := finished(t, out)
		if o.err != nil || string(o.result.Raw) != taskResult || o.result.TaskID != "T-1" || o.result.Rounds != 1 ||
			o.result.IsError {
			t.Fatalf("got %s, %v", rawOf(o.result), o.err)
		}
		call.Progress(3, 2, "")
		sent := lines(f.Server, protocol.MethodCallTool)
		if len(sent) != 1 || string(sent[0].Param("task")) != `{}` {
			t.Errorf("sent %+v", sent)
		}
		if diff := cmp.Diff([]string{"working", "working half", "hologram", "completed"}, h.statuses()); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
		nothingLeft(t, s)
		if diff := cmp.Diff([]float64{1, 2}, h.numbers); diff != "" {
			t.Errorf("progress (-want +got):\n%s", diff)
		}
		if ids := taskIDs(f, protocol.MethodTaskResult); len(ids) != 1 || ids[0] != "T-1" ||
			len(taskIDs(f, protocol.MethodTaskCancel)) != 0 {
			t.Errorf("tasks/result %q", ids)
		}
	})
}

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

// TestTaskMadeOver: a task that is over when it is made is polled without any wait.
func TestTaskMadeOver(t *testing.T) {
	for _, capabilities := range []string{taskCapabilities, ""} {
		synctest.Test(t, func(t *testing.T) {
			f := newTaskServer(capabilities, `"status":"completed","result":`+taskResult)
			f.Tool("t", func(c *fakeserver.CallContext) { c.Result(f.made(`"status":"completed"`)) })
			s := connect(t, f.Server, &recorder{})
			began := time.Now()
			got, err := s.CallTool(background, (&told{}).request())
			if err != nil || string(got.Raw) != taskResult || !time.Now().Equal(began) {
				t.Errorf("got %s, %v after %v", rawOf(got), err, time.Since(began))
			}
		})
	}
}

// TestTaskMadeAsking: a task that requires input when it is made is asked for its questions without any wait.
func TestTaskMadeAsking(t *testing.T) {
	eachDesign(t, func(t *testing.T, capabilities string) {
		f := newTaskServer(capabilities, askingTaskInput(`"a":`+formInput))
		f.Tool("t", func(c *fakeserver.CallContext) { c.Result(f.made(`"status":"input_required"`)) })
		f.Handle(protocol.MethodTaskResult, func(c *fakeserver.CallContext) {
			<-c.Request(protocol.MethodElicitation, formParams).Response()
			c.Hang()
		})
		h := &recorder{ask: accepting(`{}`)}
		s := connect(t, f.Server, h)
		began := time.Now()
		out, cancel := runningTask(t, f, s, &told{})
		synctest.Wait()
		if n := len(h.questions()); n != 1 || !time.Now().Equal(began) {
			t.Errorf("%d questions after %v", n, time.Since(began))
		}
		cancel(&stopped{"enough"})
		finished(t, out)
		nothingLeft(t, s)
	})
}

// TestTaskLegacyCancelledByServer: a poll says so, while tasks/result still blocks; that request is ended, too.
func TestTaskLegacyCancelledByServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTaskServer(taskCapabilities, `"status":"input_required"`, `"status":"cancelled","statusMessage":"no more"`)
		f.Handle(protocol.MethodTaskResult, func(c *fakeserver.CallContext) { c.Hang() })
		s := connect(t, f.Server, &recorder{})
		_, err := s.CallTool(background, (&told{}).request())
		var cancelled *TaskCancelledError
		if !errors.As(err, &cancelled) || cancelled.Message != "no more" {
			t.Errorf("got %v", err)
		}
		nothingLeft(t, s)
		if ids := taskIDs(f, protocol.MethodTaskCancel); len(ids) != 0 {
			t.Errorf("tasks/cancel %q", ids)
		}
	})
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

// TestTaskStatusWakes: a status notification brings the next poll of its task forward. What it says is not used, and it
// cannot force more than ten polls a second.
func TestTaskStatusWakes(t *testing.T) {
	for _, c := range []struct{ capabilities, method string }{{taskCapabilities, protocol.MethodTaskStatus},
		{"", protocol.MethodTasks}} {
		synctest.Test(t, func(t *testing.T) {
			f := newTaskServer(c.capabilities, `"status":"working","pollInterval":60000,"pollIntervalMs":60000`,
				`"status":"working"`, `"status":"completed","result":`+taskResult)
			s := connect(t, f.Server, &recorder{})
			began := time.Now()
			out, _ := runningTask(t, f, s, &told{})
			pass(3 * time.Second) // one poll after a second; now the interval is a minute
			tell := func(id string) {
				if err := f.Notify(c.method, `{"taskId":"`+id+`","status":"completed","result":{"forged":true}}`); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
			}
			tell("T-2")
			tell("T-1") // at once
			for range 5 {
				tell("T-1") // these together, after the shortest interval
			}
			pass(time.Second)
			o := finished(t, out)
			if o.err != nil || string(o.result.Raw) != taskResult {
				t.Errorf("got %s, %v", rawOf(o.result), o.err)
			}
			want := []time.Duration{time.Second, 2 * time.Second, 100 * time.Millisecond}
			if diff := cmp.Diff(want, f.gaps(began)); diff != "" {
				t.Errorf("waits before the polls (-want +got):\n%s", diff)
			}
			tell("T-1") // the call is over
			nothingLeft(t, s)
		})
	}
}

// TestTaskGone: the server has forgotten the task, so the call fails with a TaskLostError, and nothing is cancelled.
func TestTaskGone(t *testing.T) {
	for _, capabilities := range []string{taskCapabilities, ""} {
		synctest.Test(t, func(t *testing.T) {
			f := newTaskServer(capabilities, `"status":"working"`)
			f.Handle(protocol.MethodTaskGet, func(c *fakeserver.CallContext) { c.Error(-32602, "purged") })
			s := connect(t, f.Server, &recorder{})
			_, err := s.CallTool(background, (&told{}).request())
			var lost *TaskLostError
			if !errors.As(err, &lost) || lost.TaskID != "T-1" || !strings.Contains(err.Error(), "purged") ||
				rpcError(err) != nil {
				t.Errorf("got %v", err)
			}
			nothingLeft(t, s)
			if ids := taskIDs(f, protocol.MethodTaskCancel); len(ids) != 0 {
				t.Errorf("cancelled %q", ids)
			}
		})
	}
}

// TestTaskPollRefused: an error in answer to a poll that does not mean that the task is over ends the call, and the
// task is cancelled.
func TestTaskPollRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTaskServer(taskCapabilities, `"status":"working"`)
		f.Handle(protocol.MethodTaskGet, func(c *fakeserver.CallContext) { c.Error(-32601, "no such method") })
		s := connect(t, f.Server, &recorder{})
		if _, err := s.CallTool(background, (&told{}).request()); rpcError(err) == nil || rpcError(err).Code != -32601 {
			t.Errorf("got %v", err)
		}
		nothingLeft(t, s)
		if diff := cmp.Diff([]string{"T-1"}, taskIDs(f, protocol.MethodTaskCancel)); diff != "" {
			t.Errorf("tasks/cancel (-want +got):\n%s", diff)
		}
	})
}

// TestTaskPollUnanswered: a poll without an answer is given up after a minute, and polling goes on. A notification that
// comes meanwhile causes no poll beside it.
func TestTaskPollUnanswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTaskServer(taskCapabilities, `"status":"completed"`)
		silent := true
		f.Handle(protocol.MethodTaskGet, func(c *fakeserver.CallContext) {
			if silent {
				silent = false
				pass(time.Second) // a second poll would not be too early
				c.Notify(protocol.MethodTaskStatus, `{"taskId":"T-1","status":"completed"}`)
				c.Hang()
				c.Result(`{"taskId":"T-1","status":"cancelled"}`) // too late
				return
			}
			c.Result(f.polled())
		})
		s := connect(t, f.Server, &recorder{})
		began := time.Now()
		got, err := s.CallTool(background, (&told{}).request())
		if err != nil || string(got.Raw) != taskResult {
			t.Errorf("got %s, %v", rawOf(got), err)
		}
		if diff := cmp.Diff([]time.Duration{defaultPollInterval + pollPatience + retryDelay}, f.gaps(began)); diff != "" {
			t.Errorf("the answered poll (-want +got):\n%s", diff)
		}
		nothingLeft(t, s)
		if _, ofCall := notedCancels(f); ofCall || len(taskIDs(f, protocol.MethodTaskCancel)) != 0 {
			t.Error("the task was cancelled")
		}
	})
}

// TestTaskMRTRFirst: a modern call can have its rounds first and then become a task. The keys of the two phases are
// independent.
func TestTaskMRTRFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTaskServer("", `"status":"input_required","inputRequests":{"k":`+formInput+
			`}`, `"status":"completed","result":`+taskResult)
		f.Tool("t", func(c *fakeserver.CallContext) {
			if c.Param("inputResponses") == nil {
				c.InputRequired(`{"k":`+formInput+`}`, "s")
				return
			}
			c.Result(f.made(`"status":"working"`))
		})
		h, heard := &recorder{ask: accepting(`{"a":1}`)}, &told{}
		s := connect(t, f.Server, h)
		got, err := s.CallTool(background, heard.request())
		if err != nil || string(got.Raw) != taskResult || got.Rounds != 2 || got.TaskID != "T-1" {
			t.Fatalf("got %s, %v", rawOf(got), err)
		}
		if len(h.questions()) != 2 || len(lines(f.Server, protocol.MethodTaskUpdate)) != 1 {
			t.Errorf("%d questions, %d updates", len(h.questions()), len(lines(f.Server, protocol.MethodTaskUpdate)))
		}
		nothingLeft(t, s)
	})
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
