package peers

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// begin starts a task and returns its id.
func (r *raw) begin(tool, arguments string) string {
	r.t.Helper()
	m := r.post(
		fmt.Sprintf(
			`{"jsonrpc":"2.0","id":"b","method":"tools/call","params":{"name":%q,"arguments":%s,"task":{"ttl":60000}}}`, tool,
			arguments)).until(isAnswerTo(`"b"`))
	var created struct{ Task struct{ TaskID string } }
	if err := json.Unmarshal(m.Result, &created); err != nil || created.Task.TaskID == "" {
		r.t.Fatalf("%s, %+v, %v", m.Result, m.Error, err)
	}
	return created.Task.TaskID
}

func (r *raw) task(method, id string) *exchange {
	r.t.Helper()
	return r.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":"t","method":%q,"params":{"taskId":%q}}`, method, id))
}

// TestTaskCancel_nightly: tasks/cancel cancels the work of a task of 2025-11-25, and its answer has the status
// cancelled.
func TestTaskCancel_nightly(t *testing.T) {
	s := TypeScript1.HTTP(t)
	r := legacy(t, s.URL)
	id := r.begin("task", `{"ms":60000,"steps":2000}`)
	if got := string(r.task("tasks/cancel", id).until(isAnswerTo(`"t"`)).Result); !strings.Contains(got, `"cancelled"`) {
		t.Errorf("tasks/cancel: %s", got)
	}
	s.Wait("the cancelled work", func(e Event) bool { return e.Is(EventCancelled, "task") && e.Task == id })
}

// TestTaskResult_nightly: tasks/result waits for the end of the task.
func TestTaskResult_nightly(t *testing.T) {
	r := legacy(t, TypeScript1.HTTP(t).URL)
	id := r.begin("task", `{"ms":100,"steps":2}`)
	if got := string(r.task("tasks/result", id).until(isAnswerTo(`"t"`)).Result); !strings.Contains(got, "task done") {
		t.Errorf("tasks/result: %s", got)
	}
}

// TestTaskAsks_nightly: a task that needs input sends its question on the stream of tasks/result, and goes on with the
// answer.
func TestTaskAsks_nightly(t *testing.T) {
	s := TypeScript1.HTTP(t)
	r := legacy(t, s.URL)
	id := r.begin("task_ask", `{}`)
	s.Wait("the question", func(e Event) bool { return e.Is(EventAsked, "task_ask") })
	if got := string(r.task("tasks/get", id).until(isAnswerTo(`"t"`)).Result); !strings.Contains(got, `"input_required"`) {
		t.Errorf("tasks/get: %s", got)
	}
	x := r.task("tasks/result", id)
	question := x.until(isMethod("elicitation/create"))
	if !strings.Contains(string(question.Params), id) {
		t.Errorf("the question does not name its task: %s", question.Params)
	}
	r.post(`{"jsonrpc":"2.0","id":` + string(question.ID) + `,"result":{"action":"accept","content":{"name":"Ada"}}}`)
	if got := string(x.until(isAnswerTo(`"t"`)).Result); !strings.Contains(got, "Ada") {
		t.Errorf("tasks/result: %s", got)
	}
}

// TestTaskOutlivesItsSession_nightly: if a session ends while one of its tasks asks, the task fails and the server
// keeps running.
func TestTaskOutlivesItsSession_nightly(t *testing.T) {
	s := TypeScript1.HTTP(t)
	r := legacy(t, s.URL)
	id := r.begin("task_ask", `{}`)
	asking := r.task("tasks/result", id)
	asking.until(isMethod("elicitation/create"))
	r.send(http.MethodDelete, s.URL, "")
	s.Wait("the end of the task", func(e Event) bool { return e.Is(EventFailed, "task_ask") && e.Task == id })
	legacy(t, s.URL) // fails if the server does not answer
}

// TestTaskIsRequired_nightly: a tool that can only run as a task refuses a plain call.
func TestTaskIsRequired_nightly(t *testing.T) {
	r := legacy(t, TypeScript1.HTTP(t).URL)
	m := r.post(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"task_ask","arguments":{}}}`).until(
		isAnswerTo("5"))
	if m.Error == nil && !strings.Contains(string(m.Result), `"isError":true`) {
		t.Errorf("%s", m.Result)
	}
}
