package matrix

import (
	"fmt"
	"strings"

	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// questions are what a server asks, by their kind.
var questions = map[string][2]string{
	"form": {"elicitation/create",
		`{"message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}`},
	"url":      {"elicitation/create", `{"mode":"url","message":"Sign in","url":"https://example.com/x","elicitationId":"e1"}`},
	"sampling": {"sampling/createMessage", `{"messages":[{"role":"user","content":{"type":"text","text":"Who?"}}],"maxTokens":9}`},
	"roots":    {"roots/list", `{}`},
}

// question returns the method and params of a question. Without a kind it is what servers of the revision can ask:
// forms exist from 2025-06-18 on, pages from 2025-11-25 on.
func (s *served) question(kind string) (method, params string) {
	if kind == "" {
		kind = "form"
		if s.c.binding.revision < rev2506 {
			kind = "sampling"
		}
	}
	q := questions[kind]
	if q[0] == "" {
		s.c.t.Errorf("there is no question %q", kind)
	}
	return q[0], q[1]
}

// ask asks a question of a legacy server: "", a kind, "of TASK", or both.
func (s *served) ask(request func(method, params string) *fakeserver.OutRequest, text string) {
	kind, task, related := strings.Cut(" "+text, " of ")
	method, params := s.question(strings.TrimSpace(kind))
	if related {
		params = strings.TrimSuffix(params, "}") +
			fmt.Sprintf(`,"_meta":{"io.modelcontextprotocol/related-task":{"taskId":%q}}}`, task)
	}
	request(method, params)
}

// inputs returns inputRequests with questions of some kinds. The key of each is its kind.
func (s *served) inputs(kinds string) string {
	var all []string
	for _, kind := range strings.Fields(kinds + " ") {
		method, params := s.question(kind)
		all = append(all, fmt.Sprintf(`%q:{"method":%q,"params":%s}`, kind, method, params))
	}
	if all == nil {
		method, params := s.question("")
		all = []string{fmt.Sprintf(`"q":{"method":%q,"params":%s}`, method, params)}
	}
	return "{" + strings.Join(all, ",") + "}"
}

// state returns the JSON members of task T-1 in some status.
func (s *served) state(status string) string {
	if s.c.binding.modern() {
		return fmt.Sprintf(`"taskId":"T-1","status":%q,"ttlMs":null`, status)
	}
	return fmt.Sprintf(`"taskId":"T-1","status":%q,"ttl":null,`, status) +
		`"createdAt":"2025-11-25T00:00:00Z","lastUpdatedAt":"2025-11-25T00:00:00Z"`
}

// made returns the result of a call that has become the task. It alone says that the task is polled once a minute.
func (s *served) made(status string) string {
	if s.c.binding.modern() {
		return `{"resultType":"task",` + s.state(status) + `,"pollIntervalMs":60000}`
	}
	return `{"task":{` + s.state(status) + `,"pollInterval":60000}}`
}

// reply answers a request about a task: "ok", an error ("-32602 gone"), or the status of the task, which may have a
// message, or asks, where servers of the revision do that in answers to polls.
func (s *served) reply(call *fakeserver.CallContext, text string) {
	word, rest, _ := strings.Cut(text, " ")
	members, modern := "", s.c.binding.modern()
	switch {
	case text == "ok", text == "cancelled" && modern && call.Method == "tasks/cancel":
		call.Result(`{"resultType":"complete"}`)
		return
	case word[0] == '-':
		var code int64
		_, _ = fmt.Sscan(word, &code)
		call.Error(code, rest)
		return
	case word == "completed" && modern:
		members = `,"result":{"resultType":"complete","content":[{"type":"text","text":"done"}]}`
	case word == "failed" && modern:
		members = `,"error":{"code":-32050,"message":"no paper"}`
	case word == "input_required" && modern:
		members = `,"inputRequests":` + s.inputs(rest)
	case rest != "":
		members = fmt.Sprintf(`,"statusMessage":%q`, rest)
	}
	if modern {
		members += `,"resultType":"complete"`
	}
	call.Result(`{` + s.state(word) + members + `}`)
}
