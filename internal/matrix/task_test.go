package matrix

import (
	"fmt"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

const (
	legacyTasks   = `{"tools":{},"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}}}`
	uncancellable = `{"tools":{},"tasks":{"requests":{"tools":{"call":{}}}}}`
	modernTasks   = `{"tools":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`
)

// withTasks returns the bindings of list with servers that support tasks. In 2025-11-25 the call asks for a task. In
// the extension of 2026-07-28 the server decides.
func withTasks(capabilities string, list []binding) []binding {
	var out []binding
	for _, b := range list {
		b.capabilities = capabilities
		if b.modern() {
			b.capabilities = modernTasks
		}
		out = append(out, b)
	}
	return out
}

var everyTask = withTasks(legacyTasks, where(func(b binding) bool { return b.revision == rev2511 || b.modern() }))

// state returns the JSON members of task T-1 in some status. The task is polled once a minute.
func (c *cell) state(status string) string {
	if c.binding.modern() {
		return fmt.Sprintf(`"taskId":"T-1","status":%q,"ttlMs":null,"pollIntervalMs":60000`, status)
	}
	return fmt.Sprintf(
		`"taskId":"T-1","status":%q,"ttl":null,"pollInterval":60000,"createdAt":"2025-11-25T00:00:00Z","lastUpdatedAt":"2025-11-25T00:00:00Z"`, status)
}

// made returns the result of a call that has become the task.
func (c *cell) made() string {
	if c.binding.modern() {
		return `{"resultType":"task",` + c.state("working") + `}`
	}
	return `{"task":{` + c.state("working") + `}}`
}

// polled returns the answer to tasks/get, with further members.
func (c *cell) polled(status, members string) string {
	if c.binding.modern() {
		members += `,"resultType":"complete"`
	}
	return `{` + c.state(status) + members + `}`
}

// tasks adds the tool job and the method tasks/cancel to the server. The call is answered when answered is closed, or
// at once if it is nil.
func (c *cell) tasks(answered <-chan struct{}, onCancel fakeserver.Handler) {
	c.fake.ToolWith(`{"name":"job","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}`,
		func(call *fakeserver.CallContext) {
			if answered != nil {
				c.said(answered) // waits also after the cancel
			}
			call.Result(c.made())
		})
	c.fake.Handle("tasks/cancel", onCancel)
}

// acknowledge answers tasks/cancel as a server does that cancels the task.
func (c *cell) acknowledge(call *fakeserver.CallContext) {
	if c.binding.modern() {
		call.Result(`{"resultType":"complete"}`)
		return
	}
	call.Result(c.polled("cancelled", ""))
}

var taskBeforeID = situation{
	name: "task-before-id", test: "TestTaskCancelledBeforeItsID", on: everyTask,
	about: "The user cancels before the answer names the task. 2025-11-25: nothing is sent until then, and tasks/cancel when it comes. 2026-07-28: the request is cancelled as any other, " +
		"and so is the task when it comes late; over Streamable HTTP it cannot, as the stream is closed.",
	play: func(c *cell) {
		answered := make(chan struct{})
		c.tasks(answered, c.acknowledge)
		c.start()
		var p *call
		c.step("a call", func() { p = c.call("job") })
		c.step("the user cancels", func() { c.cancel("r1", tooSlow, event.OutcomeCancelling); <-p.done })
		delivery := delivered
		if !c.binding.modern() { // tasks/cancel needs the id, which is not known yet
			delivery = event.DeliveryPending
		}
		c.cancelled(p, tooSlow, delivery)
		c.step("the server answers with a task", func() { close(answered) })
		c.pass("two minutes later", 2*time.Minute)
	},
}

func TestTaskCancelledBeforeItsID(t *testing.T) { run(t, taskBeforeID) }

var taskWithID = situation{
	name: "task-with-id", test: "TestTaskCancelledWithItsID", on: everyTask,
	about: "The user cancels a call that has become a task: tasks/cancel and never the notification. A task may go on all the same.",
	play: func(c *cell) {
		c.tasks(nil, c.acknowledge)
		c.start()
		var p *call
		c.step("a call becomes a task", func() { p = c.call("job") })
		c.step("the user cancels", func() { c.cancel("r1", tooSlow, event.OutcomeCancelling); <-p.done })
		c.cancelled(p, tooSlow, delivered)
		c.pass("two minutes later", 2*time.Minute)
	},
}

func TestTaskCancelledWithItsID(t *testing.T) { run(t, taskWithID) }

var taskCompletes = situation{
	name: "task-completes", test: "TestTaskCompletesAllTheSame", on: everyTask, longWaits: true,
	about: "The user cancels while a poll is on the wire and the task completes: 2025-11-25 refuses tasks/cancel for what is over (-32602), 2026-07-28 acknowledges it. The result that comes late is shown to nobody.",
	play: func(c *cell) {
		c.tasks(nil, func(call *fakeserver.CallContext) {
			if c.binding.modern() {
				c.acknowledge(call)
				return
			}
			call.Error(-32602, "the task is over")
		})
		completed := make(chan struct{})
		c.fake.Handle("tasks/get", func(call *fakeserver.CallContext) {
			c.said(completed)
			members := ""
			if c.binding.modern() {
				members = `,"result":{"resultType":"complete","content":[]}`
			}
			call.Result(c.polled("completed", members))
		})
		c.start()
		var p *call
		c.step("a call becomes a task", func() { p = c.call("job") })
		c.pass("a minute later it is polled", time.Minute)
		c.looseStep("the user cancels: the poll, and the task", func() {
			c.cancel("r1", tooSlow, event.OutcomeCancelling)
			<-p.done
		})
		delivery := delivered
		if !c.binding.modern() {
			delivery = event.DeliveryFailed
		}
		c.cancelled(p, tooSlow, delivery)
		c.step("the server answers the poll", func() { close(completed) })
		c.pass("two minutes later", 2*time.Minute)
	},
}

func TestTaskCompletesAllTheSame(t *testing.T) { run(t, taskCompletes) }

var taskUncancellable = situation{
	name: "task-uncancellable", test: "TestTaskWithoutCancel", on: withTasks(uncancellable, tasks),
	about: "The user cancels a task of a server without the capability tasks.cancel: it is sent nothing, and goes on.",
	play: func(c *cell) {
		c.tasks(nil, c.acknowledge)
		c.start()
		var p *call
		c.step("a call becomes a task", func() { p = c.call("job") })
		c.step("the user cancels", func() { c.cancel("r1", tooSlow, event.OutcomeCancelling); <-p.done })
		c.cancelled(p, tooSlow, event.DeliveryFailed)
		c.pass("two minutes later", 2*time.Minute)
	},
}

func TestTaskWithoutCancel(t *testing.T) { run(t, taskUncancellable) }

var taskServerCancels = situation{
	name: "task-server-cancels", test: "TestServerCancelsTask", on: everyTask, longWaits: true,
	about: "The server cancels the task itself, and says so when it is polled.",
	play: func(c *cell) {
		c.tasks(nil, c.acknowledge)
		c.fake.Handle("tasks/get", func(call *fakeserver.CallContext) {
			call.Result(c.polled("cancelled", `,"statusMessage":"out of paper"`))
		})
		c.start()
		var p *call
		c.step("a call becomes a task", func() { p = c.call("job") })
		c.pass("a minute later it is polled", time.Minute)
		c.failed(p, event.CodeCancelled, event.ReasonCancelled)
		c.ended("r1", event.OriginServer, "out of paper", event.DeliveryNotNeeded)
	},
}

func TestServerCancelsTask(t *testing.T) { run(t, taskServerCancels) }
