package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/protocol"
)

// taskQuestions holds the input requests of one task of the extension. Only the follower's goroutine uses it, but each
// question, and after it its update, has a goroutine that reports its end by an event.
type taskQuestions struct {
	ctx     context.Context // the context of all questions and updates
	stop    context.CancelCauseFunc
	events  chan questionEvent
	running sync.WaitGroup

	asked    map[string]*taskQuestion // by key; each key is used for one question in the task's life
	answered []string                 // keys whose answers the server has received
}

type taskQuestion struct {
	open bool // being asked
	end  context.CancelCauseFunc
}

// questionEvent reports the end of a question, or of the update that carried its answer.
type questionEvent struct {
	key     string
	updated bool
	answer  json.RawMessage
	err     error
}

func (q *taskQuestions) open(ctx context.Context, answered []string) {
	q.ctx, q.stop = context.WithCancelCause(ctx)
	q.events = make(chan questionEvent)
	q.asked = make(map[string]*taskQuestion)
	q.answered = answered
	for _, key := range answered {
		q.asked[key] = &taskQuestion{}
	}
}

// keys returns the keys of the answered questions, for another session.
func (q *taskQuestions) keys() []string { return slices.Clone(q.answered) }

// start runs f on a goroutine and sends the event that f returns.
func (q *taskQuestions) start(f func() questionEvent) {
	q.running.Go(func() {
		e := f()
		select {
		case q.events <- e:
		case <-q.ctx.Done(): // nobody receives any more
		}
	})
}

func (q *taskQuestions) end(cause error) {
	q.stop(cause)
	for _, one := range q.asked {
		if one.end != nil {
			one.end(cause)
		}
	}
	q.running.Wait()
}

// ask asks the questions that were not asked yet, and withdraws those that the server does not list any more.
// inputRequests holds all open questions, and for a while also answered ones: keys are unique for the task's life, so
// no user is asked twice.
func (f *follower) ask(requests json.RawMessage) {
	asked, err := readInputRequests(requests, f.task.Declared)
	if err != nil {
		f.fail(err)
		return
	}
	outstanding := make(map[string]bool, len(asked))
	var fresh []inputRequest
	for _, r := range asked {
		outstanding[r.key] = true
		if f.asking.asked[r.key] != nil {
			continue
		}
		if len(f.asking.asked) >= bounds.TaskQuestions {
			f.fail(&ProtocolError{Text: fmt.Sprintf("the task has asked more than %d questions", bounds.TaskQuestions)})
			return
		}
		f.asking.asked[r.key] = &taskQuestion{open: true}
		fresh = append(fresh, r)
	}
	f.withdraw(outstanding)
	for _, r := range fresh {
		ctx, end := context.WithCancelCause(f.asking.ctx)
		f.asking.asked[r.key].end = end
		f.asking.start(func() questionEvent {
			answer, err := f.s.answerInput(ctx, f.call, r)
			if ctx.Err() != nil {
				err = context.Cause(ctx) // the answer is not used any more
			}
			return questionEvent{key: r.key, answer: answer, err: err}
		})
	}
}

// withdraw closes the open questions that are not in outstanding.
func (f *follower) withdraw(outstanding map[string]bool) {
	for key, one := range f.asking.asked {
		if one.open && !outstanding[key] {
			one.close(&jsonrpc.WithdrawnError{Reason: "the task no longer asks this"})
		}
	}
}

// close marks a question as over. cause ends its context.
func (q *taskQuestion) close(cause error) {
	q.open = false
	q.end(cause)
}

func (f *follower) questionEvent(e questionEvent) {
	one := f.asking.asked[e.key]
	switch {
	case e.err != nil && f.s.peer.Err() != nil: // the channel of the session's end reports it
	case e.updated && e.err == nil:
		f.asking.answered = append(f.asking.answered, e.key)
	case e.updated:
		f.updateFailed(e.key, e.err)
	case !one.open: // withdrawn in the meantime
	case e.err != nil:
		f.fail(e.err) // as in inputResponses there is no form for errors (SEP-2322): the task is cancelled
	default:
		one.close(errQuestionOver)
		f.update(e.key, e.answer)
	}
}

// update sends one answer. Each is sent as soon as it is there: a part of the answers is allowed, and one user should
// not wait for the other.
func (f *follower) update(key string, answer json.RawMessage) {
	responses := newObject(len(key) + len(answer) + 8)
	responses.raw(key, answer)
	s, ctx := f.s, f.asking.ctx
	params := s.paramsWith(traceContextOf(f.call.req), "taskId", string(jsontext.AppendString(nil, f.task.ID)),
		"inputResponses", string(responses.end()))
	f.asking.start(func() questionEvent {
		_, err := s.peer.CallAs(ctx, protocol.MethodTaskUpdate, params, f.how())
		if transient(err) {
			err = s.tryAgain(ctx, protocol.MethodTaskUpdate, params, f.how(), err)
		}
		return questionEvent{key: key, updated: true, err: err}
	})
}

// updateFailed ends the call, because its task would wait for an answer that cannot be delivered. If the server has
// rejected the params, the call continues: the task is gone or over, which the next poll will show, or it still asks,
// and then the question is asked again.
func (f *follower) updateFailed(key string, err error) {
	if refusal := rpcError(err); refusal != nil && refusal.Code == jsonrpc.CodeInvalidParams {
		f.s.log.Info("an answer for a task was not taken", "error", inWords(err))
		delete(f.asking.asked, key)
		return
	}
	f.fail(fmt.Errorf("an answer for task %s was not taken: %w", quoted(f.task.ID), err))
}
